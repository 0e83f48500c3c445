import { listTimeEntries } from './list-time-entries.ts';

export const time = { timeEntries: { list: listTimeEntries } };
