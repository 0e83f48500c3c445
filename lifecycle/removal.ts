// Deletes a company: its rows in every table, and the people who belong to no other company. The tables and their order are read
// from the catalogue, so that tables added later are covered too.
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { accountInteger, isDatabaseError } from '../platform/database.ts';

const FOREIGN_KEY_VIOLATION = '23503';
const DEADLOCK = '40P01';
const ATTEMPTS = 3;
/** How long to wait for writes that were in progress when the company was deleted; their rows are then deleted too. */
const LATE_WRITES_MS = 30_000;
const LOOK_AGAIN_MS = 50;

export interface Removal {
  /** Rows removed, by table; tables without any are left out. */
  rows: Record<string, number>;
  /** People who belonged to no other company. */
  people: number;
}

/** The company has been written to since it was exported. */
export class WrittenMeanwhile extends Error {}

/** The company's number of writes. If two results are equal, nothing was written in between. */
export const writesOf = (client: pg.ClientBase, accountId: number): Promise<string> =>
  inCompany(client, accountId, () => countWrites(client, accountId));

/**
 * Deletes a company in one transaction, then deletes rows that calls in progress added afterwards. `client` must be connected as
 * the owner of the tables: only the owner may delete all. If the number of writes is no longer `writes` (from `writesOf`), it
 * throws WrittenMeanwhile and deletes nothing.
 */
export async function removeCompany(
  client: pg.ClientBase,
  accountId: number,
  { writes, lateWritesMs = LATE_WRITES_MS }: { writes?: string; lateWritesMs?: number } = {},
): Promise<Removal> {
  const tables = await tablesInOrder(client);
  const removal = await retried(() =>
    inCompany(client, accountId, async () => {
      if (writes !== undefined && (await countWrites(client, accountId)) !== writes) throw new WrittenMeanwhile();
      const members = await client.query<{ id: number }>(
        'select user_id as id from memberships where account_id = $1',
        [accountId],
      );
      const rows = await removeRows(client, accountId, tables);
      for (const queue of ['webhook_queue', 'register_queue']) {
        await client.query(`delete from ${queue} where company = $1`, [accountId]);
      }
      return { rows, people: await removePeople(client, members.rows) };
    }),
  );
  await settled(client, lateWritesMs);
  const late = await inCompany(client, accountId, () => removeRows(client, accountId, tables));
  for (const [table, rows] of Object.entries(late)) removal.rows[table] = (removal.rows[table] ?? 0) + rows;
  return removal;
}

async function countWrites(client: pg.ClientBase, accountId: number): Promise<string> {
  const { rows } = await client.query<{ writes: string }>(
    `select coalesce((select max(id) from audit_records where account_id = $1), 0) || ' '
       || coalesce((select n from journals where account_id = $1), 0) as writes`,
    [accountId],
  );
  return String(rows[0]?.writes);
}

/** Retries after a conflict with a call that was writing. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = ATTEMPTS - 1; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      const passing = isDatabaseError(error) && [FOREIGN_KEY_VIOLATION, DEADLOCK].includes(error.code ?? '');
      if (!passing || left === 0) throw error;
    }
  }
}

async function inCompany<T>(client: pg.ClientBase, accountId: number, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    // SET LOCAL, one a message: Citus does not send set_config to its workers.
    await client.query(`set local app.account_id = '${accountInteger(accountId)}'`);
    await client.query('set local statement_timeout = 0');
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

async function removeRows(client: pg.ClientBase, accountId: number, tables: readonly string[]) {
  await skipForeignKeyChecks(client);
  const removed: Record<string, number> = {};
  for (const table of tables) {
    const column = table === 'accounts' ? 'id' : 'account_id';
    const { rowCount } = await client.query(`delete from ${table} where ${column} = $1`, [accountId]);
    if (rowCount) removed[table] = rowCount;
  }
  return removed;
}

/**
 * Turns foreign-key checks off where the login may; elsewhere deleting takes longer. They are slow, row by row and often without an
 * index, and not needed: all rows of the company are deleted, and other companies never refer to them.
 */
async function skipForeignKeyChecks(client: pg.ClientBase): Promise<void> {
  const { rowCount } = await client.query(
    `select where has_parameter_privilege(current_user, 'session_replication_role', 'set')`,
  );
  if (rowCount) await client.query('set local session_replication_role = replica');
}

async function removePeople(client: pg.ClientBase, members: readonly { id: number }[]): Promise<number> {
  let people = 0;
  for (const { id } of members) {
    // Setting app.user_id makes the person's memberships of all companies visible.
    await client.query(`set local app.user_id = '${accountInteger(Number(id))}'`);
    const { rowCount } = await client.query('select from memberships where user_id = $1 limit 1', [id]);
    if (rowCount === 0 && (await removePerson(client, Number(id)))) people++;
  }
  return people;
}

/** Deletes a person with their sessions, sign-ins and counted attempts. Returns whether the person existed. */
export async function removePerson(client: pg.ClientBase, userId: number): Promise<boolean> {
  await client.query('delete from user_sessions where user_id = $1', [userId]);
  await client.query('delete from sign_ins where user_id = $1', [userId]);
  const { rows } = await client.query<{ email_key: string }>('delete from users where id = $1 returning email_key', [
    userId,
  ]);
  const [person] = rows;
  if (!person) return false;
  const hash = createHash('sha256').update(person.email_key).digest('hex');
  await client.query(
    `delete from sign_in_attempts where subject in ($1, $2) or starts_with(subject, $1 || ':') or starts_with(subject, $3)`,
    [`email:${hash}`, `email:user-${userId}`, `browser:${userId}:`],
  );
  return true;
}

/** `accounts` and every table with `account_id`; a table comes before the tables that it refers to. */
export async function tablesInOrder(client: pg.ClientBase): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and (c.relname = 'accounts'
       or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped))
     order by c.relname`,
  );
  const { rows: keys } = await client.query<{ source: string; target: string }>(
    `select distinct s.relname as source, t.relname as target from pg_constraint k
       join pg_class s on s.oid = k.conrelid join pg_class t on t.oid = k.confrelid
     where k.contype = 'f' and k.connamespace = 'public'::regnamespace and k.conrelid <> k.confrelid`,
  );
  const order: string[] = [];
  let waiting = tables.map(({ name }) => name);
  while (waiting.length > 0) {
    const free = waiting.filter(
      (name) => !keys.some(({ source, target }) => target === name && source !== name && waiting.includes(source)),
    );
    if (free.length === 0) throw new Error(`Tables refer to each other in a circle: ${waiting.join(', ')}`);
    order.push(...free);
    waiting = waiting.filter((name) => !free.includes(name));
  }
  return order;
}

/**
 * Waits until the transactions that other sessions have open now have ended. Scheduled jobs (`albaran ...`) are left out: they look
 * the company up first and find it deleted.
 */
async function settled(client: pg.ClientBase, withinMs: number): Promise<void> {
  const { rows } = await client.query<{ pid: number; begun: string }>(
    `select pid, xact_start::text as begun from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
       and backend_type = 'client backend' and not starts_with(application_name, 'albaran ')`,
  );
  const deadline = Date.now() + withinMs;
  for (const { pid, begun } of rows) {
    while (Date.now() < deadline) {
      const { rowCount } = await client.query('select from pg_stat_activity where pid = $1 and xact_start::text = $2', [
        pid,
        begun,
      ]);
      if (rowCount === 0) break;
      await delay(LOOK_AGAIN_MS);
    }
  }
}
