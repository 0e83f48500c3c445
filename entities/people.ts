// People, their contracts, days off and working time. The API only reads these (TIM-01).
import { defineEntity, p } from '@mikro-orm/postgresql';
import {
  alphabetical,
  bigint,
  date,
  decimal,
  indexOn,
  instant,
  isolated,
  record,
  stamped,
  uniqueRef,
} from './columns.ts';

export const Department = defineEntity({
  name: 'Department',
  tableName: 'departments',
  ...isolated,
  indexes: [uniqueRef('departments')],
  properties: { ...record('departments'), title: alphabetical() },
});

export const ContractType = defineEntity({
  name: 'ContractType',
  tableName: 'contract_types',
  ...isolated,
  indexes: [uniqueRef('contract_types')],
  properties: { ...record('contract_types'), title: alphabetical() },
});

export const Shift = defineEntity({
  name: 'Shift',
  tableName: 'shifts',
  ...isolated,
  indexes: [uniqueRef('shifts')],
  properties: { ...record('shifts'), title: alphabetical() },
});

export const Employee = defineEntity({
  name: 'Employee',
  tableName: 'employees',
  ...isolated,
  indexes: [uniqueRef('employees'), indexOn('employees', 'name', 'last_name, first_name, id')],
  properties: {
    ...record('employees'),
    firstName: alphabetical(),
    lastName: alphabetical().default(''),
    email: p.text().nullable(),
    active: p.boolean().default(true),
    departmentId: bigint().nullable(),
    search: p.text(),
  },
});

/** `hourlyCost`, `hourlyPension` and `hourlySocialSecurity` appear in answers only within a project's sums (CON-02, PRJ-01). */
export const Contract = defineEntity({
  name: 'Contract',
  tableName: 'contracts',
  ...isolated,
  indexes: [
    uniqueRef('contracts'),
    indexOn('contracts', 'employee', 'employee_id, start_date desc, id desc'),
    indexOn('contracts', 'start', 'start_date desc, id'),
  ],
  properties: {
    ...record('contracts'),
    employeeId: bigint(),
    contractTypeId: bigint(),
    departmentId: bigint().nullable(),
    startDate: date(),
    endDate: date().nullable(),
    probationEndDate: date().nullable(),
    minimumDailyHours: decimal().default(0),
    shiftMode: p.text().default('turno'),
    shiftId: bigint().nullable(),
    signed: p.boolean().default(false),
    hourlyCost: decimal().default(0),
    hourlyPension: decimal().default(0),
    hourlySocialSecurity: decimal().default(0),
  },
});

export const DayType = defineEntity({
  name: 'DayType',
  tableName: 'day_types',
  ...isolated,
  indexes: [uniqueRef('day_types')],
  uniques: [{ name: 'day_types_code', properties: ['accountId', 'code'] }],
  properties: { ...record('day_types'), code: p.text(), title: alphabetical() },
});

/** A non-working day of the whole company. */
export const CalendarEntry = defineEntity({
  name: 'CalendarEntry',
  tableName: 'calendar_entries',
  ...isolated,
  indexes: [uniqueRef('calendar_entries'), indexOn('calendar_entries', 'start', 'start_date, end_date, id')],
  properties: {
    ...record('calendar_entries'),
    title: alphabetical(),
    dayType: p.text(),
    startDate: date(),
    endDate: date(),
  },
});

export const Absence = defineEntity({
  name: 'Absence',
  tableName: 'absences',
  ...isolated,
  indexes: [
    uniqueRef('absences'),
    indexOn('absences', 'start', 'start_date, end_date, id'),
    indexOn('absences', 'employee', 'employee_id, start_date, id'),
  ],
  properties: {
    ...record('absences'),
    employeeId: bigint(),
    title: alphabetical(),
    dayType: p.text(),
    startDate: date(),
    endDate: date(),
    chargeablePercent: decimal().default(100),
    authorised: p.boolean().default(false),
    rejected: p.boolean().default(false),
  },
});

export const Machine = defineEntity({
  name: 'Machine',
  tableName: 'machines',
  ...isolated,
  indexes: [uniqueRef('machines')],
  properties: { ...record('machines'), title: alphabetical(), hourlyCost: decimal().default(0) },
});

/** `hours` is the elapsed time less breaks; 0 while the entry is open. FIC-02, FIC-03 */
export const TimeEntry = defineEntity({
  name: 'TimeEntry',
  tableName: 'time_entries',
  ...isolated,
  indexes: [
    uniqueRef('time_entries'),
    indexOn('time_entries', 'entry', 'entry_at, id'),
    indexOn('time_entries', 'employee', 'employee_id, entry_at, id'),
    indexOn('time_entries', 'project', 'project_id, entry_at, id', 'project_id is not null'),
    indexOn('time_entries', 'task', 'task_id, entry_at, id', 'task_id is not null'),
  ],
  properties: {
    ...record('time_entries'),
    employeeId: bigint(),
    entryAt: instant(),
    entryMethod: p.text(),
    exitAt: instant().nullable(),
    exitMethod: p.text().nullable(),
    projectId: bigint().nullable(),
    taskId: bigint().nullable(),
    machineId: bigint().nullable(),
    breakMinutes: decimal().default(0),
    notes: p.text().nullable(),
    hours: decimal().generated(
      '(coalesce(round(greatest(extract(epoch from (exit_at - entry_at)) - break_minutes * 60, 0) / 3600, 2), 0)) stored',
    ),
  },
});

/** How many time entries begin on a local day. Days without entries have no row. FIC-01 */
export const TimeEntryDay = defineEntity({
  name: 'TimeEntryDay',
  tableName: 'time_entry_days',
  ...isolated,
  properties: { accountId: bigint().primary(), day: date().primary(), entries: p.integer(), ...stamped() },
});
