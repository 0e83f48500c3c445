// Projects and their tasks.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { alphabetical, bigint, date, decimal, indexOn, isolated, record, stamped, uniqueRef } from './columns.ts';

export const ProjectState = defineEntity({
  name: 'ProjectState',
  tableName: 'project_states',
  ...isolated,
  indexes: [uniqueRef('project_states')],
  properties: { ...record('project_states'), title: alphabetical() },
});

export const Project = defineEntity({
  name: 'Project',
  tableName: 'projects',
  ...isolated,
  indexes: [
    uniqueRef('projects'),
    indexOn('projects', 'number', 'number desc, id desc'),
    indexOn('projects', 'client', 'client_id', 'client_id is not null'),
    indexOn('projects', 'state', 'state_id', 'state_id is not null'),
  ],
  properties: {
    ...record('projects'),
    number: p.text(),
    description: p.text(),
    clientId: bigint().nullable(),
    stateId: bigint().nullable(),
    budgetedCost: decimal().default(0),
    budgetedSales: decimal().default(0),
    search: p.text(),
  },
});

/** The economics of a project over all time, unrounded. `staff` and `machines` are 3,600 times the cost. PRJ-01 */
export const ProjectTotal = defineEntity({
  name: 'ProjectTotal',
  tableName: 'project_totals',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    projectId: bigint().primary(),
    sales: decimal().default(0),
    purchases: decimal().default(0),
    seconds: decimal().default(0),
    staff: decimal().default(0),
    machines: decimal().default(0),
    ...stamped(),
  },
});

export const TaskState = defineEntity({
  name: 'TaskState',
  tableName: 'task_states',
  ...isolated,
  indexes: [uniqueRef('task_states')],
  properties: { ...record('task_states'), title: alphabetical() },
});

export const Task = defineEntity({
  name: 'Task',
  tableName: 'tasks',
  ...isolated,
  indexes: [
    uniqueRef('tasks'),
    indexOn('tasks', 'planned_end', 'planned_end_date, id', 'not deleted'),
    indexOn('tasks', 'project', 'project_id, planned_end_date, id', 'project_id is not null'),
  ],
  properties: {
    ...record('tasks'),
    title: alphabetical(),
    projectId: bigint().nullable(),
    stateId: bigint().nullable(),
    ownerId: bigint().nullable(),
    startDate: date().nullable(),
    plannedEndDate: date().nullable(),
    progress: decimal().default(0),
    budgetedAmount: decimal().default(0),
    deleted: p.boolean().default(false),
  },
});
