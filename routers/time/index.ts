import { getEmployee } from './get-employee.ts';
import { listTimeEntries } from './list-time-entries.ts';

export const time = { timeEntries: { list: listTimeEntries }, employees: { get: getEmployee } };
