// Removes expired rows that nothing reads any more: once a day, in statements of a few thousand rows, so that calls do not wait
// for locks.
import { type RawBuilder, sql } from 'kysely';
import type { Database, Db } from '../platform/database.ts';
import { UNUSED_CLIENT_HOURS } from '../platform/identity/grants.ts';
import { ATTEMPT_MINUTES, IDLE_HOURS } from '../platform/identity/users.ts';

/** An answer under an idempotency key is replayed for this long. IDEM-01 */
const ANSWER_HOURS = 24;
/** Ended authorizations are kept this long for investigation; their tokens are removed at once. */
const ENDED_GRANT_DAYS = 30;
const ENDED_KEY_DAYS = 90;
const SIGN_IN_DAYS = 90;
const QUOTA_DAYS = 31;
/** How long one can look up how often a link to a document was opened, once it has ended. */
const ENDED_LINK_DAYS = 365;
/** How long one can look up what was sent to webhooks, and so a webhook that was deleted. */
const DELIVERY_DAYS = 30;
/** How long changes can be read. JRN-03 */
export const JOURNAL_DAYS = 400;
const JOURNAL_STEP = 20_000;
/** How long what assistants read, and what each key and connection called, can be looked up. */
const CALL_DAYS = 400;
/** Access is looked into later than data: who gave a key away, or let an assistant in. */
const ACCESS_DAYS = 1100;
const FAILURE_MINUTES = 1;

const ROWS_A_STATEMENT = 5000;

export interface PurgeRun {
  database: Database;
  now: Temporal.Instant;
  /** Stops the run between two statements. */
  stop: AbortSignal;
  rowsAStatement?: number;
}

/** Removed rows by table. */
export type Removed = Record<string, number>;

interface Rule {
  table: string;
  key: readonly string[];
  /** Rows that are never changed need no lock. */
  fixed?: boolean;
  /** The condition on a row `t` that has expired by `now`. */
  ended(now: RawBuilder<string>, company: RawBuilder<unknown>): RawBuilder<boolean>;
}

// Not later than the database's clock, so that a process whose clock is ahead removes nothing too early.
const moment = (now: Temporal.Instant) => sql<string>`least(${now.toString()}::timestamptz, now())`;

const endedGrant = (now: RawBuilder<string>, days: number) =>
  sql<boolean>`least(g.revoked_at, g.expires_at) <= ${now} - make_interval(days => ${days})`;

/** In this order: tokens before their authorizations, deliveries before their webhooks. */
const OF_COMPANIES: readonly Rule[] = [
  {
    table: 'idempotency_records',
    key: ['key'],
    ended: (now) => sql`t.created_at <= ${now} - make_interval(hours => ${ANSWER_HOURS})`,
  },
  {
    // Used refresh tokens stay until they expire, and used codes as long as their authorization, to detect a second use. OAU-04
    table: 'oauth_tokens',
    key: ['hash'],
    ended: (now, company) => sql`(t.expires_at <= ${now} and (t.kind <> 'code' or t.used_at is null)
      or exists (select from grants g where g.account_id = ${company} and g.id = t.grant_id and ${endedGrant(now, 0)}))`,
  },
  {
    table: 'grants',
    key: ['id'],
    ended: (
      now,
      company,
    ) => sql`(least(t.revoked_at, t.expires_at) <= ${now} - make_interval(days => ${ENDED_GRANT_DAYS})
      and not exists (select from oauth_tokens o where o.account_id = ${company} and o.grant_id = t.id))`,
  },
  {
    table: 'api_keys',
    key: ['id'],
    ended: (now) => sql`least(t.revoked_at, t.expires_at) <= ${now} - make_interval(days => ${ENDED_KEY_DAYS})`,
  },
  {
    table: 'journal_entries',
    key: ['n'],
    fixed: true,
    // The oldest first: what is behind them is younger. JRN-03
    ended: (
      now,
      company,
    ) => sql`(t.n < (select min(e.n) from journal_entries e where e.account_id = ${company}) + ${JOURNAL_STEP}::int
      and t.created_at <= ${now} - make_interval(days => ${JOURNAL_DAYS}))`,
  },
  {
    table: 'audit_records',
    key: ['id'],
    fixed: true,
    ended: (now) => sql`t.created_at <= ${now} - make_interval(days => ${ACCESS_DAYS})`,
  },
  {
    table: 'assistant_calls',
    key: ['id'],
    fixed: true,
    ended: (now) => sql`t.created_at <= ${now} - make_interval(days => ${CALL_DAYS})`,
  },
  {
    table: 'call_counts',
    key: ['actor', 'day', 'operation', 'status'],
    ended: (now) => sql`t.day < (${now} at time zone 'UTC')::date - ${CALL_DAYS}::int`,
  },
  {
    table: 'webhook_deliveries',
    key: ['id'],
    fixed: true,
    ended: (now) => sql`t.created_at <= ${now} - make_interval(days => ${DELIVERY_DAYS})`,
  },
  {
    table: 'webhooks',
    key: ['id'],
    ended: (now, company) => sql`(t.deleted_at <= ${now} - make_interval(days => ${DELIVERY_DAYS})
      and not exists (select from webhook_deliveries d where d.account_id = ${company} and d.webhook_id = t.id))`,
  },
  {
    table: 'document_links',
    key: ['id'],
    ended: (now) => sql`least(t.revoked_at, t.expires_at) <= ${now} - make_interval(days => ${ENDED_LINK_DAYS})`,
  },
  {
    table: 'quota_days',
    key: ['day'],
    ended: (now) => sql`t.day < (${now} at time zone 'UTC')::date - ${QUOTA_DAYS}::int`,
  },
];

const OF_THE_SERVICE: readonly Rule[] = [
  {
    table: 'user_sessions',
    key: ['token_hash'],
    ended: (now) => sql`(t.expires_at <= ${now} or t.last_seen_at <= ${now} - make_interval(hours => ${IDLE_HOURS}))`,
  },
  {
    table: 'sign_in_attempts',
    key: ['subject'],
    ended: (now) => sql`t.starts_at <= ${now} - make_interval(mins => ${ATTEMPT_MINUTES})`,
  },
  {
    table: 'sign_ins',
    key: ['id'],
    ended: (now) => sql`t.created_at <= ${now} - make_interval(days => ${SIGN_IN_DAYS})`,
  },
  {
    table: 'failed_attempts',
    key: ['address'],
    ended: (now) => sql`t.starts_at <= ${now} - make_interval(mins => ${FAILURE_MINUTES})`,
  },
  {
    table: 'oauth_registrations',
    key: ['network'],
    ended: (now) => sql`t.starts_at <= ${now} - interval '1 hour'`,
  },
  {
    table: 'oauth_clients',
    key: ['id'],
    ended: (now) =>
      sql`(t.authorized_at is null and t.registered_at <= ${now} - make_interval(hours => ${UNUSED_CLIENT_HOURS}))`,
  },
];

/**
 * Removes a company's expired rows. Throws when stopped, or when the database is unavailable. All tables in one transaction, sent at
 * once, which does not wait for the disk: there are many companies, most have little, and what a crash brings back goes tomorrow.
 */
export const purgeCompany = (run: PurgeRun, accountId: number): Promise<Removed> =>
  purge(run, (limit) =>
    run.database.transaction(accountId, { write: true, durable: false, plannerHints: 'byKeys' }, (db) =>
      Promise.all(OF_COMPANIES.map((rule) => removeSome(db, rule, moment(run.now), limit, accountId))),
    ),
  );

/** Removes expired rows that belong to no company: sessions, attempts, the log of sign-ins, and applications never authorised. */
export const purgeService = (run: PurgeRun): Promise<Removed> =>
  purge(run, (limit) =>
    // One connection.
    Array.fromAsync(OF_THE_SERVICE, (rule) => removeSome(run.database.service, rule, moment(run.now), limit)),
  );

/** Adds the counts up by table. */
export function sumOf(counts: readonly Removed[]): Removed {
  const sum: Removed = {};
  for (const [table, rows] of counts.flatMap(Object.entries)) sum[table] = (sum[table] ?? 0) + rows;
  return sum;
}

/** `some` removes up to so many rows of each table. It is repeated while one of them may have more. */
async function purge(
  { stop, rowsAStatement = ROWS_A_STATEMENT }: PurgeRun,
  some: (limit: number) => Promise<Removed[]>,
): Promise<Removed> {
  const removed: Removed[] = [];
  let last: Removed[];
  do {
    stop.throwIfAborted();
    last = await some(rowsAStatement);
    removed.push(...last);
  } while (last.some((counts) => Object.values(counts).some((rows) => rows >= rowsAStatement)));
  return sumOf(removed);
}

/** Skips locked rows: they are in use, or will be removed tomorrow. */
async function removeSome(
  db: Db,
  { table, key, fixed = false, ended }: Rule,
  now: RawBuilder<string>,
  limit: number,
  accountId?: number,
): Promise<Removed> {
  const ofCompany = accountId === undefined ? sql`` : sql`t.account_id = ${accountId} and`;
  const locked = fixed ? sql`` : sql`for update of t skip locked`;
  const columns = sql.join(key.map((column) => sql.ref(`t.${column}`)));
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} t where ${ofCompany} (${columns}) in (
    select ${columns} from ${sql.table(table)} t where ${ofCompany} ${ended(now, sql`${accountId}`)} limit ${limit} ${locked})`.execute(
    db,
  );
  return { [table]: Number(numAffectedRows ?? 0n) };
}
