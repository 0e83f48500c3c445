// The journal: what changed in a company, one row a record, numbered 1, 2, 3, ... without gaps in the order of the commits. JRN-01
// The number is a counter of the company, taken by the last statement before the commit: its lock is held shortest, and always after
// those of numbers and stock.
import { randomUUID } from 'node:crypto';
import { CompiledQuery, sql } from 'kysely';
import type { Author } from './audit.ts';
import { type Db, isDatabaseError } from './database.ts';
import { keptAnswer } from './idempotency.ts';
import { KINDS, type Kind } from './ids.ts';

/** What happened to a record. */
export type Action = 'create' | 'modify' | 'annul' | 'delete';

/** A kind of record, or the company itself. */
export type ChangedKind = Kind | 'account';

/** A record that changed, by its table and number. */
export interface Change {
  table: string;
  id: number;
  action: Action;
}

/** Where rows that are no records of their own are shown: by their table, the tables of the records, and the columns that name them. */
export const OWNERS: Readonly<Record<string, readonly { table: string; column: string }[]>> = {
  funnel_stages: [{ table: 'funnels', column: 'funnel_id' }],
  product_variations: [{ table: 'products', column: 'product_id' }],
  product_formats: [{ table: 'products', column: 'product_id' }],
  product_stocks: [{ table: 'products', column: 'product_id' }],
  stock_movements: [{ table: 'products', column: 'product_id' }],
  estimate_lines: [{ table: 'estimates', column: 'estimate_id' }],
  recurring_lines: [{ table: 'recurrings', column: 'recurring_id' }],
  delivery_note_lines: [{ table: 'delivery_notes', column: 'delivery_note_id' }],
  invoice_lines: [{ table: 'invoices', column: 'invoice_id' }],
  invoice_due_dates: [{ table: 'invoices', column: 'invoice_id' }],
  purchase_delivery_note_lines: [{ table: 'purchase_delivery_notes', column: 'purchase_delivery_note_id' }],
  purchase_invoice_lines: [{ table: 'purchase_invoices', column: 'purchase_invoice_id' }],
  purchase_invoice_due_dates: [{ table: 'purchase_invoices', column: 'purchase_invoice_id' }],
  settlements: [
    { table: 'invoices', column: 'invoice_id' },
    { table: 'purchase_invoices', column: 'purchase_invoice_id' },
  ],
};

const RECORD_TABLES: ReadonlySet<string> = new Set([
  ...['accounts', 'day_types', 'expense_subtypes'],
  ...Object.values(KINDS).map(({ table }) => table),
]);

/** Whether a table's rows are records, by themselves. */
export const isRecordTable = (table: string): boolean => RECORD_TABLES.has(table) && !(table in OWNERS);

/** The records that show these rows. */
export async function ownersOf(
  db: Db,
  accountId: number,
  table: string,
  ids: readonly number[],
): Promise<{ table: string; ids: number[] }[]> {
  const owners = (OWNERS[table] ?? []).map(async ({ table: records, column }) => {
    const { rows } = await sql<{ id: number }>`
      select distinct ${sql.ref(column)} as id from ${sql.table(table)}
      where account_id = ${accountId} and id = any(${ids}::bigint[]) and ${sql.ref(column)} is not null`.execute(db);
    return { table: records, ids: rows.map(({ id }) => id) };
  });
  return Promise.all(owners);
}

/** The table whose records are of this kind. */
export const tableOf = (kind: ChangedKind): string => (kind === 'account' ? 'accounts' : KINDS[kind].table);

/** A change of a record of this kind. */
export const changeOf = (action: Action, kind: ChangedKind, id: number): Change => ({
  table: tableOf(kind),
  id,
  action,
});

/** The changes that a call says it made: one a record, whatever it says of it more than once. */
export class Changes {
  readonly #byRecord = new Map<string, Change>();
  /** New records that the database may not have written, by their numbers. */
  readonly #ifThere: Change[] = [];

  add(action: Action, kind: ChangedKind, ids: number | readonly number[]): void {
    this.addIn(tableOf(kind), action, typeof ids === 'number' ? [ids] : ids);
  }

  /** Records by their table. */
  addIn(table: string, action: Action, ids: Iterable<number>): void {
    for (const id of ids) {
      const key = `${table} ${id}`;
      // Made and changed by one call, it was made.
      if (action !== 'modify' || !this.#byRecord.has(key)) this.#byRecord.set(key, { table, id, action });
    }
  }

  addAll(others: Changes): void {
    for (const { table, id, action } of others.certain) this.addIn(table, action, [id]);
  }

  /** A new record that is there only if the database found no other. */
  addIfThere(kind: Kind, id: number): void {
    this.#ifThere.push({ table: tableOf(kind), id, action: 'create' });
  }

  get certain(): Change[] {
    return [...this.#byRecord.values()];
  }

  get ifThere(): readonly Change[] {
    return this.#ifThere;
  }

  get isEmpty(): boolean {
    return this.#byRecord.size === 0 && this.#ifThere.length === 0;
  }
}

/** Who made the changes, and when. */
export interface Origin extends Author {
  /** An operation's alias, or a command. */
  operation: string;
  now: Temporal.Instant;
}

/**
 * The statement that numbers a transaction's changes and writes them, and stores the call's answer under its idempotency key where it is
 * `kept` with them. The first says how many there are: `total`, where these are not all of them; null where they are not the first.
 * Where the company has no journal yet, it fails: see `lacksJournal`.
 */
export function journalChanges(
  accountId: number,
  { actor, door, requestId, operation, now }: Origin,
  { certain, ifThere }: Pick<Changes, 'certain' | 'ifThere'>,
  kept?: { key: string; answer: string },
  total?: number | null,
): CompiledQuery {
  const values: unknown[] = [
    ...[accountId, now.toString(), operation, actor, door, requestId],
    certain.map(({ table }) => table),
    certain.map(({ id }) => id),
    certain.map(({ action }) => action),
  ];
  const maybe = ifThere.map(({ table, id, action }, index) => {
    const at = values.push(table, id, action);
    return ` union all select $${at - 2}, r.id, $${at}, ${index + 1} + cardinality($8::bigint[]) from ${table} r
      where r.account_id = $1 and r.id = $${at - 1}::bigint`;
  });
  const keptAt = values.length + 1;
  if (kept) values.push(kept.key, kept.answer);
  const totalAt = total === undefined ? undefined : `$${values.push(total)}`;
  const keeping = kept ? `${keptAnswer(keptAt)}, ` : '';
  const count = maybe.length > 0 ? '(select count(*) from changes)' : 'cardinality($8::bigint[])';
  const place = maybe.length > 0 ? 'row_number() over (order by c.place)' : 'c.place';
  return CompiledQuery.raw(
    `with ${keeping}changes (record_table, record_id, action, place) as (
      select * from unnest($7::text[], $8::bigint[], $9::text[]) with ordinality${maybe.join('')}),
    head as (update journals set n = n + ${count} where account_id = $1 returning n)
    insert into journal_entries (account_id, n, created_at, operation, actor, door, request_id, record_table, record_id, action,
      changes)
    select $1::bigint, head.n - ${count} + ${place}, $2::timestamptz, $3, $4, $5, $6, c.record_table, c.record_id, c.action,
      case when ${place} = 1 then ${totalAt ?? count}::int end
    from changes c left join head on true
    returning 1`,
    values,
  );
}

const NOT_NULL_VIOLATION = '23502';

/** Whether a transaction failed since its company has no journal yet. A Citus worker names the table only in the message. */
export const lacksJournal = (error: unknown): boolean =>
  isDatabaseError(error) &&
  error.code === NOT_NULL_VIOLATION &&
  /\bjournal_entries(_\d+)?\b/.test(error.table ?? error.message);

/** Begins the company's journal, unless it has one. */
export const beginJournal = (db: Db, accountId: number) =>
  sql`insert into journals (account_id, epoch) values (${accountId}, ${randomUUID()}) on conflict (account_id) do nothing`.execute(
    db,
  );

const ROWS_A_STATEMENT = 10_000;

/** Writes changes that were not made by a call, as the last of their transaction. */
export async function writeJournal(
  db: Db,
  accountId: number,
  origin: Origin,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return;
  const write = (from: number) => {
    const certain = changes.slice(from, from + ROWS_A_STATEMENT);
    return db.executeQuery(
      journalChanges(accountId, origin, { certain, ifThere: [] }, undefined, from === 0 ? changes.length : null),
    );
  };
  // Sent at once, so that the commit may be sent without waiting for them.
  await Promise.all([beginJournal(db, accountId), write(0)]);
  for (let from = ROWS_A_STATEMENT; from < changes.length; from += ROWS_A_STATEMENT) await write(from);
}
