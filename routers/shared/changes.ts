// Partial updates: what is sent changes, what is left out stays. W-01
import { type RawBuilder, sql, type Updateable } from 'kysely';
import type { Schema } from '../../entities/index.ts';
import type { Db } from '../../platform/database.ts';
import { badField } from '../../platform/errors.ts';

type Columns<Table extends keyof Schema> = {
  [Name in keyof Updateable<Schema[Table]>]:
    | Updateable<Schema[Table]>[Name]
    | RawBuilder<Updateable<Schema[Table]>[Name]>
    | undefined;
};

/** 400 for `datos` without anything to change. W-01 */
export function refuseNothing(datos: Readonly<Record<string, unknown>>): void {
  if (Object.values(datos).every((value) => value === undefined)) throw badField('datos', 'no hay nada que cambiar');
}

/** What is stored for a value that `""` empties. */
export const orNull = <Value extends string>(value: Value | undefined) => (value === '' ? null : value);

/** A record with the columns that are sent; those that are undefined stay. */
export const changed = <Record extends object>(before: Record, columns: object): Record => ({
  ...before,
  ...Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)),
});

/** Marks locked records as changed where what is written of them stands elsewhere: `modificado_desde` finds them. */
export const touch = (
  db: Db,
  table: keyof Schema & string,
  { accountId, ids, now }: { accountId: number; ids: readonly number[]; now: Temporal.Instant },
) =>
  sql`update ${sql.table(table)} set version = version + 1, updated_at = ${now.toString()}
    where account_id = ${accountId} and id = any(${ids}::bigint[])`.execute(db);

/**
 * Sets these columns of a record, but for those that are undefined. A record that has the same values already stays as it is, its
 * version too. Answers whether it changed.
 */
export async function updateRecord<Table extends keyof Schema & string>(
  db: Db,
  table: Table,
  { accountId, id, now }: { accountId: number; id: number; now: Temporal.Instant },
  columns: Partial<Columns<Table>>,
): Promise<boolean> {
  const sent = Object.entries(columns).filter(([, value]) => value !== undefined);
  if (sent.length === 0) return false;
  const names = sent.map(([name]) => sql.ref(name));
  const values = sent.map(([, value]) => sql`${value}`);
  const { numAffectedRows } = await sql`
    update ${sql.table(table)}
    set ${sql.join(names.map((name, index) => sql`${name} = ${values[index]}`))}, version = version + 1,
      updated_at = ${now.toString()}
    where account_id = ${accountId} and id = ${id}
      and (${sql.join(names)}) is distinct from (${sql.join(values)})`.execute(db);
  return numAffectedRows === 1n;
}
