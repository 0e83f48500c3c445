// How time entries are read and shown.
import { type Expression, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { sealedId } from '../shared/id.ts';
import { bare, decimal, flag, idOf, jsonOf, jsonPage, text } from '../shared/json-page.ts';
import { instantsOf } from '../shared/local-days.ts';
import { limit, offset, person } from '../shared/schemas.ts';

const clocking = z.object({ fecha: z.string(), hora: z.string(), metodo: z.string() });
const noClocking = z.object({ fecha: z.null(), hora: z.null(), metodo: z.null() });

export const timeEntry = z.object({
  fichajeId: sealedId('timeEntry'),
  empleado: person,
  entrada: clocking,
  salida: z.union([clocking, noClocking]),
  abierto: z.boolean(),
  horas: z.number(),
  proyectoId: sealedId('project').nullable(),
  tareaId: sealedId('task').nullable(),
  observaciones: z.string().nullable(),
});

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

/** A page of them as `timeEntry`, by entry, then id, and how many there are in all. FIC-02..04 */
export async function readTimeEntries(
  db: Db,
  { total, selected }: { total: Expression<unknown>; selected: ReturnType<typeof timeEntriesWithin> },
  page: { pagina: number; por_pagina: number },
  timeZone: string,
) {
  const local = (column: 'entry_at' | 'exit_at') => sql<string>`(t.${sql.ref(column)} at time zone ${timeZone})::text`;
  const rows = selected
    .innerJoin('employees as e', (join) =>
      join.onRef('e.account_id', '=', 't.account_id').onRef('e.id', '=', 't.employee_id'),
    )
    .select(['t.id', 't.employee_id', 'e.first_name', 'e.last_name', 't.entry_method', 't.exit_method'])
    .select(['t.hours', 't.project_id', 't.task_id', 't.notes'])
    .select([local('entry_at').as('entry'), local('exit_at').as('exit')])
    .orderBy('t.entry_at')
    .orderBy('t.id')
    .limit(limit(page))
    .offset(offset(page));
  return jsonPage<z.input<typeof timeEntry>>(db, { total, rows, row: ROW });
}

/** `local` reads `2026-01-31 08:05:00`. */
const moment = (local: string, method: string) =>
  jsonOf<z.input<typeof clocking>>({
    fecha: bare(`left(${local}, 10)`),
    hora: bare(`substr(${local}, 12, 5)`),
    metodo: text(method),
  });

const ROW = jsonOf<z.input<typeof timeEntry>>({
  fichajeId: idOf('timeEntry', 'id'),
  empleado: { empleadoId: idOf('employee', 'employee_id'), nombre: text('first_name'), apellidos: text('last_name') },
  entrada: moment('entry', 'entry_method'),
  salida: moment('exit', 'exit_method'),
  abierto: flag('exit is null'),
  horas: decimal('hours'),
  proyectoId: idOf('project', 'project_id', 'null'),
  tareaId: idOf('task', 'task_id', 'null'),
  observaciones: text('notes'),
});
