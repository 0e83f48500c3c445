import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { LONG_PAGE, offset, page, paged, pageOf, person, requiredDates } from '../shared/schemas.ts';

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

/** Time entries whose entry falls in the range, open ones included. Hours are decimal hours, 2 decimals. FIC-01..04 */
export const listTimeEntries = operation({
  title: 'Fichajes',
  description:
    'Fichajes (entrada y salida) por fecha de entrada, abiertos incluidos. Para filtrar: empleadoId de consultar_empleados, proyectoId de consultar_proyectos.',
  rest: ['GET /employees/times', 'GET /employees/{empleadoId}/times'],
  alias: 'consultarFichajes',
  scope: 'svc.read',
  input: {
    ...requiredDates(),
    empleadoId: id('employee').optional().describe('Solo los de esta persona'),
    proyectoId: id('project').optional().describe('Solo los cargados a este proyecto'),
    ...page(LONG_PAGE),
  },
  output: paged('total_fichajes', 'fichajes', timeEntry),
  async handler({ input, db, accountId, principal }) {
    const { timeZone } = principal;
    // A local day is a range of instants: the index on the entry instant serves it.
    const from = sql<string>`${input.fecha_inicio}::date::timestamp at time zone ${timeZone}`;
    const until = sql<string>`(${input.fecha_fin}::date + 1)::timestamp at time zone ${timeZone}`;
    const local = (column: 'entry_at' | 'exit_at') =>
      sql<string>`to_char(t.${sql.ref(column)} at time zone ${timeZone}, 'YYYY-MM-DDHH24:MI')`;

    const selected = db
      .selectFrom('time_entries as t')
      .where('t.account_id', '=', accountId)
      .where('t.entry_at', '>=', from)
      .where('t.entry_at', '<', until)
      .$if(input.empleadoId !== undefined, (q) => q.where('t.employee_id', '=', input.empleadoId ?? 0))
      .$if(input.proyectoId !== undefined, (q) => q.where('t.project_id', '=', input.proyectoId ?? 0));

    const [{ total }, rows] = await Promise.all([
      selected.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
      selected
        .innerJoin('employees as e', (join) =>
          join.onRef('e.account_id', '=', 't.account_id').onRef('e.id', '=', 't.employee_id'),
        )
        .select(['t.id', 't.employee_id', 'e.first_name', 'e.last_name', 't.entry_method', 't.exit_method'])
        .select(['t.hours', 't.project_id', 't.task_id', 't.notes'])
        .select([local('entry_at').as('entry'), local('exit_at').as('exit')])
        .orderBy('t.entry_at')
        .orderBy('t.id')
        .limit(input.por_pagina)
        .offset(offset(input))
        .execute(),
    ]);
    return {
      total_fichajes: total,
      ...pageOf(total, input),
      fichajes: rows.map((row) => ({
        fichajeId: row.id,
        empleado: { empleadoId: row.employee_id, nombre: row.first_name, apellidos: row.last_name },
        entrada: localMoment(row.entry, row.entry_method),
        salida: row.exit ? localMoment(row.exit, row.exit_method ?? '') : { fecha: null, hora: null, metodo: null },
        abierto: !row.exit,
        horas: row.hours ?? 0,
        proyectoId: row.project_id,
        tareaId: row.task_id,
        observaciones: row.notes,
      })),
    };
  },
});

const localMoment = (local: string, metodo: string) => ({ fecha: local.slice(0, 10), hora: local.slice(10), metodo });
