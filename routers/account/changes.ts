// Changes of the journal as callers are shown them, and where in the journal one may begin to read.
import { sql } from 'kysely';
import { z } from 'zod';
import { COLLECTIONS } from '../../account-file/format.ts';
import type { Db } from '../../platform/database.ts';
import { ApiError, badField } from '../../platform/errors.ts';
import { markedId } from '../../platform/ids.ts';
import { type Action, tableOf } from '../../platform/journal.ts';
import { JsonText, jsonObject } from '../../platform/json-text.ts';
import { momentIn, type OriginRow, origin, originJoins, originNames, originOf } from '../shared/origin.ts';
import { COLLECTION_NAMES, kindOf } from './records.ts';

/** The collections of the account file, those whose records have no ids on the wire too. */
const NAMES = ['cuenta', ...COLLECTION_NAMES, 'tipos_dia', 'subtipos_gasto', 'liquidaciones'] as const;

const TABLES = new Map([
  ...COLLECTIONS.map(({ name, table }) => [name, table] as const),
  ['cuenta', tableOf('account')],
]);
/** What a change is of, by its table: the collection, and the kind of its ids. */
const TYPES = new Map([...TABLES].map(([name, table]) => [table, { name, kind: kindOf(name) }]));

const ACTIONS: Record<Action, 'crear' | 'modificar' | 'anular' | 'eliminar'> = {
  create: 'crear',
  modify: 'modificar',
  annul: 'anular',
  delete: 'eliminar',
};

/** Some of these collections. */
export const types = () => z.array(z.enum(NAMES)).max(50);

export const change = z.object({
  n: z.int().describe('Número del cambio: 1, 2, 3, ... sin huecos'),
  momento: z.string().meta({ example: '2026-03-02T11:00:00.000+01:00' }),
  tipo: z.string().describe('Colección del registro, como clientes; cuenta es la empresa'),
  id: z.string().nullable().describe('Como lo toman sus lecturas; null si no tienen'),
  accion: z.enum(['crear', 'modificar', 'anular', 'eliminar']),
  operacion: z.string().describe('Alias de la operación, o la orden'),
  origen: origin,
  peticion: z.string().describe('Identificador de la petición'),
});

export type Change = z.input<typeof change>;

/** How far a company's journal is. */
export interface Head {
  epoch: string;
  /** The newest change. */
  last: number;
  /** The oldest that is kept. */
  oldest: number;
}

export async function journalHead(db: Db, accountId: number): Promise<Head> {
  const { rows } = await sql<{ epoch: string; n: number; first: number | null }>`
    select j.epoch, j.n, (select min(e.n) from journal_entries e where e.account_id = ${accountId}) as first
    from journals j where j.account_id = ${accountId}`.execute(db);
  const { epoch, n: last, first } = rows[0] ?? { epoch: '', n: 0, first: null };
  return { epoch, last, oldest: first ?? last + 1 };
}

/** Throws unless the changes after number `after` are there: 400 for one that there is not yet, 410 for one too old. JRN-03 */
export function refuseUnknownPlace(after: number, { last, oldest }: Head, campo = 'desde'): void {
  if (after > last) throw badField(campo, `el último cambio es ${last}`);
  if (after === 0 || after >= oldest - 1) return;
  throw new ApiError(
    'gone',
    `Los cambios se conservan desde el ${oldest}: lee las listas de nuevo y sigue desde ${last}`,
  );
}

export interface Entry extends OriginRow {
  n: number;
  created_at: string;
  record_table: string;
  record_id: number;
  action: Action;
  request_id: string;
}

/** Changes after a number, the oldest first. */
export const entries = (
  db: Db,
  accountId: number,
  after: number,
  types: readonly string[] | undefined,
  limit: number,
  last = Number.MAX_SAFE_INTEGER,
) =>
  sql<Entry>`
    select e.n, e.created_at, e.record_table, e.record_id, e.action, e.operation, e.actor, e.door, e.request_id,
      ${originNames}
    from journal_entries e ${originJoins(accountId, 'e')}
    where e.account_id = ${accountId} and e.n > ${after} and e.n <= ${last}
      and (${types === undefined} or e.record_table = any(${types?.flatMap((type) => TABLES.get(type) ?? []) ?? []}::text[]))
    order by e.n limit ${limit}`.execute(db);

export function shownChange(entry: Entry, timeZone: string): JsonText<Change> {
  const { name, kind } = TYPES.get(entry.record_table) ?? { name: entry.record_table, kind: undefined };
  return jsonObject({
    n: entry.n,
    momento: momentIn(timeZone, entry.created_at),
    tipo: name,
    id: kind ? new JsonText<string>(markedId(kind, entry.record_id).text) : null,
    accion: ACTIONS[entry.action],
    operacion: entry.operation,
    origen: originOf(entry),
    peticion: entry.request_id,
  });
}
