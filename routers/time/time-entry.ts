// How time entries are read and shown.
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { sealedId } from '../shared/id.ts';
import { instantsOf } from '../shared/local-days.ts';
import { rowsOf } from '../shared/rows.ts';
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

/** One page of them as `timeEntry`, by entry, then id. FIC-02..04 */
export async function readTimeEntries(
  db: Db,
  selected: ReturnType<typeof timeEntriesWithin>,
  page: { pagina: number; por_pagina: number },
  timeZone: string,
) {
  const local = (column: 'entry_at' | 'exit_at') =>
    sql<string>`to_char(t.${sql.ref(column)} at time zone ${timeZone}, 'YYYY-MM-DDHH24:MI')`;
  const rows = await rowsOf(
    db,
    selected
      .innerJoin('employees as e', (join) =>
        join.onRef('e.account_id', '=', 't.account_id').onRef('e.id', '=', 't.employee_id'),
      )
      .select(['t.id', 't.employee_id', 'e.first_name', 'e.last_name', 't.entry_method', 't.exit_method'])
      .select(['t.hours', 't.project_id', 't.task_id', 't.notes'])
      .select([local('entry_at').as('entry'), local('exit_at').as('exit')])
      .orderBy('t.entry_at')
      .orderBy('t.id')
      .limit(limit(page))
      .offset(offset(page)),
  );
  return rows.map((row) => ({
    fichajeId: row.id,
    empleado: { empleadoId: row.employee_id, nombre: row.first_name, apellidos: row.last_name },
    entrada: localMoment(row.entry, row.entry_method),
    salida: row.exit ? localMoment(row.exit, row.exit_method ?? '') : { fecha: null, hora: null, metodo: null },
    abierto: !row.exit,
    horas: row.hours ?? 0,
    proyectoId: row.project_id,
    tareaId: row.task_id,
    observaciones: row.notes,
  }));
}

const localMoment = (local: string, metodo: string) => ({ fecha: local.slice(0, 10), hora: local.slice(10), metodo });
