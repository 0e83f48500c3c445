import { breakDownProject } from './break-down-project.ts';
import { createProject } from './create-project.ts';
import { createTask } from './create-task.ts';
import { getProject } from './get-project.ts';
import { listProjectStates } from './list-project-states.ts';
import { listProjectTimes } from './list-project-times.ts';
import { listProjects } from './list-projects.ts';
import { listTaskStates } from './list-task-states.ts';
import { listTasks } from './list-tasks.ts';
import { reportResults } from './report-results.ts';
import { updateProject } from './update-project.ts';
import { updateTask } from './update-task.ts';

export const projects = {
  projects: {
    list: listProjects,
    get: getProject,
    create: createProject,
    update: updateProject,
    times: listProjectTimes,
    breakDown: breakDownProject,
  },
  projectStates: { list: listProjectStates },
  resultsReport: { get: reportResults },
  tasks: { list: listTasks, create: createTask, update: updateTask },
  taskStates: { list: listTaskStates },
};
