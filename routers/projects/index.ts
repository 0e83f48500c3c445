import { listProjectStates } from './list-project-states.ts';
import { listProjects } from './list-projects.ts';
import { listTaskStates } from './list-task-states.ts';
import { listTasks } from './list-tasks.ts';
import { reportResults } from './report-results.ts';

export const projects = {
  projects: { list: listProjects },
  projectStates: { list: listProjectStates },
  resultsReport: { get: reportResults },
  tasks: { list: listTasks },
  taskStates: { list: listTaskStates },
};
