import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { changedIn, instantsOf, momentText } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { ORIGINS, originColumns, originNames, originType } from '../shared/origin.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, limit, offset, optionalDates, PAGE, page, text } from '../shared/schemas.ts';
import { enumOf, plainOf, shape, textOf, wholeOf } from '../shared/shape.ts';

/** The doors, as `origen` calls them where it knows them too. */
const DOORS = {
  v1: 'v1',
  v0: 'v0',
  trpc: 'trpc',
  mcp: 'mcp',
  paginas: 'pages',
  comando: 'command',
  programa: 'schedule',
} as const;

const activity = listOf(
  'total_registros',
  'registros',
  shape({
    momento: plainOf('moment_text').as(z.string().meta({ example: '2026-03-02T11:00:00.000+01:00' })),
    origen: { tipo: plainOf('origin').as(z.enum(ORIGINS)), nombre: textOf('origin_name').orNull() },
    puerta: enumOf('door', DOORS).describe('Por dónde llegó'),
    operacion: textOf('operation').describe('Alias de la operación, o la orden'),
    peticion: textOf('request_id').describe('Identificador de la petición'),
    cambios: wholeOf('changes').describe('Registros que cambió; null en una lectura').orNull(),
    filas: wholeOf('answered_rows').describe('Filas que leyó; null en una escritura').orNull(),
  }),
  // The sources are numbered apart.
  orderOf('e', 'moment desc', 'source desc', 'id desc'),
);

/** Where calls are recorded, a row a call. */
const sources = (accountId: number) => [
  // A call's first change says how many there are. JRN-01
  sql`select j.created_at as moment, 1 as source, j.n as id, j.actor, j.door, j.operation, j.request_id, j.changes,
      null::int as answered_rows
    from journal_entries j where j.account_id = ${accountId} and j.changes is not null`,
  sql`select a.created_at as moment, 2 as source, a.id, a.actor, a.door, a.operation, a.request_id, 1 as changes,
      null::int as answered_rows
    from audit_records a where a.account_id = ${accountId}`,
  // Reads: writes of assistants are among the changes.
  sql`select c.created_at as moment, 3 as source, c.id, c.actor, 'mcp' as door, c.operation, c.request_id, null::int as changes,
      c.answered_rows
    from assistant_calls c where c.account_id = ${accountId} and c.answered_rows is not null`,
];

/**
 * Who did what by which door, the newest first: calls that changed records, keys, connections, people and webhooks, and what
 * assistants read. A call that changed nothing is not among them. What this process has not written yet is written first. JRN-01
 */
export const listActivity = operation({
  title: 'Consultar el registro de actividad',
  description: 'Quién hizo qué y por dónde, lo último primero: los cambios, los accesos y lo que leen los asistentes.',
  rest: ['GET /audit'],
  alias: 'consultarRegistroActividad',
  scope: 'svc.read',
  lasts: false,
  plan: 'custom',
  // To count what is selected, all of it is read.
  report: true,
  input: {
    ...optionalDates(),
    origen: z.enum(ORIGINS).optional().describe('Solo lo de estos'),
    operacion: text(100).optional().describe('Solo esta operación (su alias, o la orden)'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: activity.schema,
  async ready({ accountId, service }) {
    await service.activity.flush(accountId);
  },
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { fecha_inicio, fecha_fin, origen, operacion, modificado_desde } = input;
    const { since, until } = instantsOf(fecha_inicio, fecha_fin, timeZone);
    const later = changedIn('e', modificado_desde, timeZone, 'moment');
    const wanted = sql.join(
      [
        sql`e.moment >= ${since} and e.moment < ${until}`,
        ...(later ? [later] : []),
        ...(origen ? [sql`${originType} = ${origen}`] : []),
        ...(operacion ? [sql`e.operation = ${operacion}`] : []),
      ],
      sql` and `,
    );
    const { order } = activity;
    const found = sources(accountId);
    const numbers = found.map((source) => sql`(select count(*) from (${source}) e where ${wanted})`);
    // Each in its own order, by its index, as far as the page needs.
    const ends = found.map(
      (source) => sql`(select * from (${source}) e where ${wanted} ${order.andAfter(input)}
        order by ${order.by} limit ${limit(input)} + ${offset(input)}::bigint)`,
    );
    return activity.page(db, input, {
      total: sql`select ${sql.join(numbers, sql` + `)}`,
      rows: sql<typeof activity.row.needs>`
        select ${sql.join(order.keys)}, ${momentText(sql`e.moment`, timeZone)} as moment_text, ${originColumns},
          e.door, e.operation, e.request_id, e.changes, e.answered_rows
        from (select * from (${sql.join(ends, sql` union all `)}) e
          order by ${order.by} limit ${limit(input)} offset ${offset(input)}) e ${originNames(accountId)}
        order by ${order.by}`,
    });
  },
});
