import { getEmployee } from './get-employee.ts';
import { getPlanning } from './get-planning.ts';
import { listAbsences } from './list-absences.ts';
import { listContracts } from './list-contracts.ts';
import { listEmployees } from './list-employees.ts';
import { listTimeEntries } from './list-time-entries.ts';
import { summariseAbsences } from './summarise-absences.ts';
import { getWorkCalendar } from './work-calendar.ts';

export const time = {
  timeEntries: { list: listTimeEntries },
  employees: { list: listEmployees, get: getEmployee },
  contracts: { list: listContracts },
  absences: { list: listAbsences, summarise: summariseAbsences },
  workCalendar: { get: getWorkCalendar },
  planning: { get: getPlanning },
};
