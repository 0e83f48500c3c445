// PostgreSQL: the pool and the company transaction.
// A company transaction sends BEGIN, the role, the company and a check of the caller's credential ahead of the first statement,
// without waiting for their results, so that they cost no extra round trip (pg's `pipeline`, and `RoundTrip`).
import { SpanKind } from '@opentelemetry/api';
import {
  CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import pg from 'pg';
import type { Schema } from '../entities/index.ts';
import { connectionTo } from './connection.ts';
import { asApiError, unauthorized } from './errors.ts';
import { STATE } from './kept-answers.ts';
import { type Answer, RoundTrip, types } from './round-trip.ts';
import { checkSpread } from './spread.ts';
import { checkTenantRole, TENANT_ROLE } from './tenant-role.ts';
import { traced } from './tracing.ts';
import { companyTurns, type Turns } from './turns.ts';

/** Queries on one company's data, inside its transaction. Statements are sent immediately, so several can be awaited together. */
export type Db = Kysely<Schema>;

/** Settings of a pool. */
export interface DatabaseOptions {
  url: string;
  /** Maximum number of connections; default 10. */
  poolSize?: number;
  /** How many of them one company may use at a time; default a third, at least 2. FAIR-01 */
  companyConnections?: number | undefined;
  /** How many transactions of one company may wait; further ones are refused at once. Default: no limit. */
  companyQueue?: number | undefined;
  /** Prepared statements. False behind a proxy that does not support them (PgBouncer before 1.21 in transaction mode). */
  prepare?: boolean;
  /** Timeout of a statement. */
  statementTimeoutMs?: number;
  /** Timeout for getting a free connection and for opening a new one. */
  connectTimeoutMs?: number;
  onError?: (error: Error) => void;
}

/** A caller's credential: an API key's number, or an access token's SHA-256. */
export type Credential = { kind: 'key'; id: number } | { kind: 'token'; hash: Buffer };

/** A credential that the transaction itself verifies to be live (AUTH-03, OAU-06). */
export interface CredentialCheck {
  credential: Credential;
  now: Temporal.Instant;
}

// A generic plan assumes an average company: for a large one it would read and sort everything. These settings rule out plans that
// only suit few rows.
const PLANNER_HINTS = {
  /** For a page: scan the index that has its order and join row by row. */
  inOrder: ['set local enable_sort = off', 'set local enable_material = off', 'set local enable_indexonlyscan = off'],
  /** For rows looked up by their keys. */
  byKeys: [
    'set local enable_hashjoin = off',
    'set local enable_mergejoin = off',
    'set local enable_seqscan = off',
    'set local enable_material = off',
  ],
} as const;

const PLANS = {
  /** One plan for all values, for queries whose planning takes longer than running. */
  generic: 'set local plan_cache_mode = force_generic_plan',
  /** A new plan for each execution, for its company and values. */
  custom: 'set local plan_cache_mode = force_custom_plan',
} as const;

export interface TransactionOptions {
  write?: boolean;
  /** Whether the commit waits for the disk, as by default. Otherwise a crash of the database may undo the last second of them. */
  durable?: boolean;
  /** All statements of the read see the same snapshot. Otherwise each sees what was committed before it ran. */
  snapshot?: boolean;
  credential?: CredentialCheck | undefined;
  /** Whether the work is told the company's state (JRN-04), read ahead of its statements, together with the credential's check. */
  state?: boolean;
  /** The kind of plan of its prepared statements; by default PostgreSQL decides after five executions. */
  plan?: keyof typeof PLANS | undefined;
  /** Planner settings for its statements. */
  plannerHints?: keyof typeof PLANNER_HINTS | undefined;
  /** Timeout for waiting for another transaction's lock. */
  lockTimeoutMs?: number;
}

/** The work of a transaction. */
export type Work<T> = (db: Db, transaction: Transaction) => Promise<T>;

/** What the work of a transaction has besides its statements. */
export interface Transaction {
  /** Takes a statement that was sent without waiting for its result; the transaction commits only if it succeeds. */
  beforeCommit(statement: Promise<unknown>): void;
  late: Late;
  /** The company's state, where the transaction was asked for it. */
  state: Promise<string | undefined>;
}

/** Sends a statement that is made when it is sent: the work of this turn of the event loop may decide what it says. */
export type Late = (make: () => CompiledQuery) => Promise<QueryResult<unknown>>;

/** Only the first 2,000 distinct statements are prepared. */
const MAX_PREPARED = 2000;

/** Span attributes of a statement. Values are parameters, so the text holds no customer data. */
const statementOf = (sql: string) => ({
  kind: SpanKind.CLIENT,
  attributes: { 'db.system.name': 'postgresql', 'db.query.text': sql },
});

/** How a connection begins its transactions. */
interface Opening {
  /** In one message; where the database is spread, one a statement: a worker is told the whole text of the message of a SET LOCAL. */
  sql: readonly string[];
  /** Statements sent in the same turn of the event loop are one transaction, committed with them. */
  bursts: boolean;
  /** How long it may be silent while it owes an answer. */
  answersWithinMs: number;
}

/** What a statement fails with that is not answered; `asApiError` knows it. */
const SILENT = 'Query read timeout';

class PipelinedConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  readonly #names: Map<string, string> | undefined;
  readonly #opening: Opening;
  /** What is sent next, in order. */
  #queue: (() => void)[] = [];
  /** The statements that are sent together next. */
  #trip: RoundTrip | undefined;
  /** How many messages and trips are sent and not answered, and the end of patience with that. */
  #unanswered = 0;
  #silence: NodeJS.Timeout | undefined;
  #ended = false;
  #firstFailure: unknown;
  #begun: Promise<unknown> | undefined;
  /** With bursts: the COMMIT of the last one. */
  #committed: Promise<pg.QueryResult> | undefined;

  constructor(client: pg.PoolClient, names: Map<string, string> | undefined, opening: Opening) {
    this.#client = client;
    this.#names = names;
    this.#opening = opening;
  }

  /** Begins a transaction, unless one is open or about to be. */
  begin(): Promise<unknown> {
    if (!this.#begun || (this.#opening.bursts && this.#queue.length === 0)) {
      const begun = this.#enqueue(() => Promise.all(this.#opening.sql.map((sql) => this.#text(sql))));
      begun.catch(() => {});
      this.#begun = begun;
    }
    return this.#begun;
  }

  /**
   * Statements go out in one write once the work of this turn of the event loop is done, because a system call for each would cost
   * more than the statements. For the same reason the statements of a read that are sent together are a transaction of their own, and
   * its COMMIT goes out with them; under READ COMMITTED each statement has its own view anyway.
   */
  #enqueue<T>(send: () => Promise<T>): Promise<T> {
    if (this.#queue.length === 0) process.nextTick(() => this.#flush());
    const { promise, resolve } = Promise.withResolvers<T>();
    this.#queue.push(() => resolve(Promise.try(send)));
    return promise;
  }

  #flush(): void {
    const { stream } = this.#client.connection;
    const queue = this.#queue;
    this.#queue = [];
    stream.cork();
    for (const send of queue) send();
    if (this.#opening.bursts) {
      this.#committed = this.#text('commit');
      this.#committed.catch(() => {});
    }
    this.#sendTrip();
    stream.uncork();
  }

  /**
   * Ends the transaction, unless its COMMIT is already sent. Abandoned work may still be running. Its statements would run outside
   * the transaction, with the login's rights, so later statements are refused.
   */
  end(command: 'commit' | 'rollback'): Promise<pg.QueryResult> {
    this.#ended = true;
    if (!this.#opening.bursts) return this.#enqueue(() => this.#text(command));
    // What is queued takes its COMMIT along.
    if (this.#queue.length > 0) this.#flush();
    return this.#committed ?? this.#text(command);
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.execute(() => query);
  }

  /** The statements from here on are of this company. */
  enter(accountId: number): void {
    void this.begin();
    this.#enqueue(() => this.#text(companySetting(accountId))).catch(() => {}); // What follows fails for the same reason.
  }

  /** Sends a statement that is made when it is sent. */
  async execute<Row>(make: () => CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#ended) throw new Error('The transaction has ended');
    void this.begin();
    const { rows, rowCount } = await this.#enqueue(() => this.#send(make())).catch((error: unknown) => {
      this.#firstFailure ??= error;
      // Else it would lead to where answers are read, not to who asked.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    });
    return { rows: rows as Row[], numAffectedRows: BigInt(rowCount) };
  }

  #send({ sql, parameters }: CompiledQuery): Promise<Answer> {
    this.#trip ??= new RoundTrip(() => this.#answered());
    const trip = this.#trip;
    return traced('statement', statementOf(sql), () =>
      trip.add({ text: sql, values: parameters, name: this.#nameOf(sql) }),
    );
  }

  #sendTrip(): void {
    if (!this.#trip) return;
    this.#waiting();
    this.#client.query(this.#trip);
    this.#trip = undefined;
  }

  /** Sends SQL without values, of one or more statements, after what is to be sent before it. */
  #text(sql: string): Promise<pg.QueryResult> {
    this.#sendTrip();
    this.#waiting();
    const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
    // A callback, since pg's promise would outlive the young generation of the heap, and what it refers to with it.
    this.#client.query(sql, (error: Error | undefined, result: pg.QueryResult) => {
      this.#answered();
      if (error) reject(error);
      else resolve(result);
    });
    return promise;
  }

  /** A connection that is silent for too long is closed, and what was sent on it fails. */
  #waiting(): void {
    if (this.#unanswered === 0) this.#silence = setTimeout(() => this.#close(), this.#opening.answersWithinMs);
    this.#unanswered++;
  }

  #answered(): void {
    this.#unanswered--;
    if (this.#unanswered === 0) clearTimeout(this.#silence);
    else this.#silence?.refresh();
  }

  #close(): void {
    this.#client.connection.stream.destroy(new Error(SILENT));
  }

  /** The first failure of the transaction, if `error` is only its consequence. */
  causeOf(error: unknown): unknown {
    return isDatabaseError(error) && error.code === IN_FAILED_TRANSACTION ? (this.#firstFailure ?? error) : error;
  }

  #nameOf(sql: string): string | undefined {
    if (!this.#names) return undefined;
    let name = this.#names.get(sql);
    if (!name && this.#names.size < MAX_PREPARED) {
      name = `s${this.#names.size}`;
      this.#names.set(sql, name);
    }
    return name;
  }

  streamQuery(): never {
    return notStreamed();
  }
}

function notStreamed(): never {
  throw new Error('Statements are not streamed');
}

const dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};

/** Without a connection: for the part of a query that is the same in every call, and so is built once. */
export const queries: Db = new Kysely<Schema>({ dialect });

/** A Kysely that sends all statements to one connection, immediately and in order. */
function kyselyOn(connection: DatabaseConnection): Db {
  const provider: ConnectionProvider = { provideConnection: (consumer) => consumer(connection) };
  return new Kysely<Schema>({
    config: { dialect },
    driver: new DummyDriver(),
    dialect,
    executor: queries.getExecutor().withConnectionProvider(provider),
  });
}

// If the credential is no longer live, the division by zero fails the transaction and every statement sent after it.
const CHECKS = {
  key: `from api_keys
    where account_id = $1 and id = $2 and revoked_at is null and (expires_at is null or expires_at > to_timestamp($3))`,
  token: `from oauth_tokens t join grants g on g.account_id = $1 and g.id = t.grant_id
    where t.account_id = $1 and t.hash = $2 and t.kind = 'access' and t.expires_at > to_timestamp($3) and g.revoked_at is null`,
};

/** What is asked ahead of the work: whether the credential is live, and the company's state. Undefined for neither. */
function checkOf(accountId: number, check: CredentialCheck | undefined, state: boolean): CompiledQuery | undefined {
  if (!check) return state ? CompiledQuery.raw(`select ${STATE} as state`, [accountId]) : undefined;
  const { credential, now } = check;
  const about = credential.kind === 'key' ? credential.id : credential.hash;
  const asked = `select 1 / count(*) as live${state ? `, ${STATE} as state` : ''} ${CHECKS[credential.kind]}`;
  return CompiledQuery.raw(asked, [accountId, about, now.epochMilliseconds / 1000]);
}

/** Used before the company is known. */
const NO_COMPANY = 0;

const IN_FAILED_TRANSACTION = '25P02';

/** A pool of connections, with the transactions of companies on it. */
export class Database {
  readonly pool: pg.Pool;
  readonly #names: Map<string, string> | undefined;
  readonly #statementTimeoutMs: number;
  readonly #turns: Turns;
  readonly #answersWithinMs: number;
  /** Citus spreads companies' tables. */
  #spread = false;
  #written = new Set<number>();

  constructor(options: DatabaseOptions) {
    this.#names = options.prepare === false ? undefined : new Map();
    this.#statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
    this.#answersWithinMs = this.#statementTimeoutMs + 5_000;
    const { poolSize = 10 } = options;
    const { companyConnections = Math.max(2, Math.floor(poolSize / 3)), companyQueue } = options;
    this.#turns = companyTurns(companyConnections, companyQueue);
    this.pool = new pg.Pool({
      ...connectionTo(options.url),
      max: poolSize,
      types,
      pipeline: true,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
      keepAlive: true,
    });
    // Ignore errors after pool.end(), which does not wait for its connections to close.
    const onError = (error: Error) => {
      if (!this.pool.ending) options.onError?.(error);
    };
    this.pool.on('error', onError);
    this.pool.on('connect', (client) => client.on('error', onError));
  }

  /** Throws if the login may not switch to the tenant role, or if a cluster would not keep companies apart (TEN-02). */
  async prepareRole(): Promise<void> {
    await checkTenantRole(this.pool);
    this.#spread = await checkSpread(this.pool);
  }

  /** Queries outside any company, on service tables only: row-level security hides the others. */
  get service(): Db {
    return kyselyOn({
      executeQuery: async <Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> => {
        const query = { text: sql, values: [...parameters], query_timeout: this.#answersWithinMs };
        const { rows, rowCount } = await this.pool.query(query);
        return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
      },
      streamQuery: notStreamed,
    });
  }

  /**
   * Runs `work` in one transaction that can read and write only this company's rows. A read resolves as soon as its rows have
   * arrived, a write once it is committed. On failure everything is rolled back. When the company has used its share of the
   * connections, further transactions wait: 503 after 10 s, or at once when too many are waiting (FAIR-01).
   */
  transaction<T>(accountId: number, options: TransactionOptions, work: Work<T>): Promise<T> {
    return this.#transaction(companySetting(accountId), accountId, options, work);
  }

  /** The companies that this process has written to since this was asked last. */
  takeWritten(): ReadonlySet<number> {
    const written = this.#written;
    this.#written = new Set();
    return written;
  }

  /**
   * A read before the company is known: the row with this API key or company slug, or a person's memberships.
   */
  lookup<T>(
    by: { api_key: string } | { account_slug: string } | { user_id: number },
    work: (db: Db) => Promise<T>,
  ): Promise<T> {
    const [[name, value] = ['', '']] = Object.entries(by);
    return this.#transaction(`set local app.${name} = ${pg.escapeLiteral(String(value))}`, NO_COMPANY, {}, work);
  }

  /**
   * The rows that a statement finds in each of these companies, read in one round trip on one connection. Each of its executions sees
   * its own company only.
   */
  async inEach<Row>(
    accountIds: readonly number[],
    statement: (accountId: number) => CompiledQuery<Row>,
  ): Promise<Row[]> {
    const { client, release } = await this.#connect(NO_COMPANY);
    const connection = new PipelinedConnection(client, this.#names, {
      sql: [
        'begin read only',
        `set local role ${TENANT_ROLE}`,
        `set local statement_timeout = ${this.#statementTimeoutMs}`,
      ],
      bursts: false,
      answersWithinMs: this.#answersWithinMs,
    });
    try {
      const found = await Promise.all(
        accountIds.map((accountId) => {
          connection.enter(accountId);
          return connection.executeQuery<Row>(statement(accountId));
        }),
      );
      return found.flatMap(({ rows }) => rows);
    } finally {
      connection.end('rollback').then(() => release(), release);
    }
  }

  async #transaction<T>(
    setting: string,
    accountId: number,
    { write = false, durable = true, snapshot = false, credential, state = false, ...more }: TransactionOptions,
    work: Work<T>,
  ): Promise<T> {
    const { lockTimeoutMs, plan, plannerHints } = more;
    const mode = write ? '' : snapshot ? ' isolation level repeatable read read only' : ' read only';
    const statements = [
      `begin${mode}`,
      `set local role ${TENANT_ROLE}`,
      setting,
      `set local statement_timeout = ${this.#statementTimeoutMs}`,
      ...(lockTimeoutMs === undefined ? [] : [`set local lock_timeout = ${Math.round(lockTimeoutMs)}`]),
      ...(durable ? [] : ['set local synchronous_commit = off']),
      // A plan for all companies can't be sent to the one node of a company.
      ...(plan && !(this.#spread && plan === 'generic') ? [PLANS[plan]] : []),
      ...(plannerHints ? PLANNER_HINTS[plannerHints] : []),
    ];
    const { client, release } = await this.#connect(accountId);
    const connection = new PipelinedConnection(client, this.#names, {
      sql: this.#spread ? statements : [statements.join('; ')],
      bursts: !write && !snapshot,
      answersWithinMs: this.#answersWithinMs,
    });
    const begun = connection.begin();
    const check = checkOf(accountId, credential, state);
    const checked = check
      ? connection.executeQuery<{ state?: string | null }>(check).catch((error: unknown) => {
          throw isDivisionByZero(error) ? unauthorized() : error;
        })
      : begun.then(() => undefined);
    checked.catch(() => {});
    const found = checked.then((result) => result?.rows[0]?.state ?? undefined);
    found.catch(() => {});
    let answered = false;
    const trailing: Promise<unknown>[] = [];
    const beforeCommit = (statement: Promise<unknown>) => {
      statement.catch(() => {});
      trailing.push(statement);
    };
    try {
      const late: Late = (make) => connection.execute(make);
      const result = await work(kyselyOn(connection), { beforeCommit, late, state: found }).catch(
        async (error: unknown) => {
          await begun;
          await checked;
          throw connection.causeOf(error);
        },
      );
      answered = true;
      // PostgreSQL answers ROLLBACK to the COMMIT of a transaction in which a statement failed.
      const committed = connection.end('commit');
      committed.then(() => release(), release);
      await inOrder([checked, ...trailing]).catch((error: unknown) => {
        throw connection.causeOf(error);
      });
      if (write && (await committed).command !== 'COMMIT') throw new Error('The transaction was not committed');
      if (write) this.#written.add(accountId);
      return result;
    } catch (error) {
      if (answered) throw error;
      connection.end('rollback').then(() => release(), release);
      throw error;
    }
  }

  /** Takes a connection; for a company, within its share. */
  async #connect(accountId: number) {
    const leave = accountId === NO_COMPANY ? () => {} : await this.#turns.take(accountId);
    const client = await this.pool.connect().catch((error: unknown) => {
      leave();
      throw error;
    });
    const release = (failure?: Error) => {
      client.release(failure);
      leave();
    };
    return { client, release };
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

/** An error reported by PostgreSQL, with its SQLSTATE. */
export const isDatabaseError = (error: unknown): error is pg.DatabaseError => error instanceof pg.DatabaseError;

/** How a statement says that it found nothing, where no later one is to run: `1 / count(*)`. */
export const isDivisionByZero = (error: unknown) => isDatabaseError(error) && error.code === '22012';

/** The constraint that an error is about; empty if none. A Citus worker names it only in the message, with the shard's number. */
export const constraintOf = ({ constraint, message }: pg.DatabaseError): string =>
  constraint ?? /constraint "([^"]+?)(?:_\d{6,})?"/.exec(message)?.[1] ?? '';

/** Whether the database is unreachable. An error reported by PostgreSQL is about one statement only. */
export const isDatabaseAway = (error: unknown) => !isDatabaseError(error) && asApiError(error).kind === 'unavailable';

/** Waits for statements in their order, so that the first failure is the one reported: later ones fail because of it. */
async function inOrder(statements: readonly Promise<unknown>[]): Promise<void> {
  for (const statement of statements) await statement;
}

const companySetting = (accountId: number) => `set local app.account_id = '${accountInteger(accountId)}'`;

/** The company's number as SQL text. It is the only value that is not a parameter, since SET takes none. */
export function accountInteger(accountId: number): string {
  if (!Number.isSafeInteger(accountId) || accountId <= 0) throw new Error(`Not a company: ${accountId}`);
  return String(accountId);
}
