import { listProjects } from './list-projects.ts';
import { listTasks } from './list-tasks.ts';

export const projects = { projects: { list: listProjects }, tasks: { list: listTasks } };
