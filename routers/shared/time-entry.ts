// How time entries are read and shown.
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { instantsOf } from './local-days.ts';
import { orderOf } from './order.ts';
import { personOf } from './person.ts';
import { decimalOf, flagOf, idOf, plainOf, shape, textOf } from './shape.ts';

/** One clocking of an entry, `at` the company's local time as `2026-01-31 08:05:00`. */
const clocking = <const At extends string, const Method extends string>(at: At, method: Method) => ({
  fecha: plainOf(at, (column) => `left(${column}, 10)`),
  hora: plainOf(at, (column) => `substr(${column}, 12, 5)`),
  metodo: textOf(method),
});

const entry = clocking('entry', 't.entry_method');
const exit = clocking('exit', 't.exit_method');
const none: Record<keyof typeof exit, z.ZodNull> = { fecha: z.null(), hora: z.null(), metodo: z.null() };

/** A time entry `t` of an employee `e`; an open one has no exit: all of `salida` is null. */
export const timeEntry = shape({
  fichajeId: idOf('timeEntry', 't.id'),
  empleado: personOf('t.employee_id'),
  entrada: entry,
  salida: shape({ fecha: exit.fecha.orNull(), hora: exit.hora.orNull(), metodo: exit.metodo.orNull() }).as(
    z.union([shape(exit).schema, z.object(none)]),
  ),
  abierto: flagOf('open'),
  horas: decimalOf('t.hours'),
  proyectoId: idOf('project', 't.project_id').orNull(),
  tareaId: idOf('task', 't.task_id').orNull(),
  observaciones: textOf('t.notes').orNull(),
});

/** By entry, then id. */
export const byEntry = orderOf('t', 'entry_at', 'id');

interface Range {
  accountId: number;
  timeZone: string;
  fecha_inicio?: string | undefined;
  fecha_fin?: string | undefined;
}

/** The company's time entries, as `t`, whose entry falls in the range; a side that is not given is open. FIC-01 */
export function timeEntriesWithin(db: Db, { accountId, timeZone, fecha_inicio, fecha_fin }: Range) {
  const { since, until } = instantsOf(fecha_inicio, fecha_fin, timeZone);
  return db
    .selectFrom('time_entries as t')
    .where('t.account_id', '=', accountId)
    .where('t.entry_at', '>=', since)
    .where('t.entry_at', '<', until);
}

/** These as `timeEntry` needs them. FIC-02..04 */
export function withPeople(selected: ReturnType<typeof timeEntriesWithin>, timeZone: string) {
  const local = (column: 'entry_at' | 'exit_at') => sql<string>`(t.${sql.ref(column)} at time zone ${timeZone})::text`;
  return selected
    .innerJoin('employees as e', (join) =>
      join.onRef('e.account_id', '=', 't.account_id').onRef('e.id', '=', 't.employee_id'),
    )
    .select(timeEntry.columns)
    .select([local('entry_at').as('entry'), local('exit_at').as('exit'), sql<boolean>`t.exit_at is null`.as('open')]);
}
