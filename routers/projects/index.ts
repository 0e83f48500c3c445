import { createProject } from './create-project.ts';
import { getProject } from './get-project.ts';
import { listProjectStates } from './list-project-states.ts';
import { listProjectTimes } from './list-project-times.ts';
import { listProjects } from './list-projects.ts';
import { listTaskStates } from './list-task-states.ts';
import { listTasks } from './list-tasks.ts';
import { reportResults } from './report-results.ts';
import { updateProject } from './update-project.ts';

export const projects = {
  projects: {
    list: listProjects,
    get: getProject,
    create: createProject,
    update: updateProject,
    times: listProjectTimes,
  },
  projectStates: { list: listProjectStates },
  resultsReport: { get: reportResults },
  tasks: { list: listTasks },
  taskStates: { list: listTaskStates },
};
