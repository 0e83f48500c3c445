// PostgreSQL: the pool, and the transaction that every company's work runs in.
// A tenant transaction sends BEGIN, the role, the company and a check of the caller's credential ahead of the first
// statement without waiting for their answers: they cost no round trip of their own (`pipeline` of pg).
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
import { unauthorized } from './errors.ts';
import { traced } from './tracing.ts';

/** Queries on one company's data, inside its transaction. Statements are sent at once; await several together. */
export type Db = Kysely<Schema>;

export interface DatabaseOptions {
  url: string;
  /** Connections at most; default 10. */
  poolSize?: number;
  /** False behind a proxy that knows no prepared statements (PgBouncer before 1.21 in transaction mode). */
  prepare?: boolean;
  /** How long one statement may take. */
  statementTimeoutMs?: number;
  /** How long to wait for a free connection, and for a new one. */
  connectTimeoutMs?: number;
  onError?: (error: Error) => void;
}

/** What a caller came with: an API key by its number, or an access token by its SHA-256. */
export type Credential = { kind: 'key'; id: number } | { kind: 'token'; hash: Buffer };

/** The credential a transaction stands on: its liveness is checked inside the transaction itself (AUTH-03, OAU-06). */
export interface CredentialCheck {
  credential: Credential;
  now: Temporal.Instant;
}

// A plan that is to serve every company is made for one of middling size, and would read and sort all that a large one has.
// These leave out the ways of going about it that are right for few rows alone.
const WAYS = {
  /** A page, by the index that has its order, and what is shown with each row by its key. */
  inOrder: 'set local enable_sort = off; set local enable_material = off; set local enable_indexonlyscan = off',
  /** Rows by their keys, one by one. */
  byKeys:
    'set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_seqscan = off; ' +
    'set local enable_material = off',
} as const;

const PLANNED = {
  /** Once for all values that they may get: planning them would take longer than they do. */
  once: 'set local plan_cache_mode = force_generic_plan',
  /** Each time, for the company and the values it is. */
  anew: 'set local plan_cache_mode = force_custom_plan',
} as const;

export interface TransactionOptions {
  write?: boolean;
  /** A read whose statements all see the same moment. Without it each sees what was committed when it came. */
  snapshot?: boolean;
  credential?: CredentialCheck | undefined;
  /** When its statements are planned; without it PostgreSQL sees after a few times. */
  planned?: keyof typeof PLANNED | undefined;
  /** How its statements find their rows. */
  ways?: keyof typeof WAYS | undefined;
  /** Give up waiting for another transaction's lock after this long. */
  lockTimeoutMs?: number;
}

/**
 * What runs in a transaction. `later` takes statements whose answers nobody needs before the commit: they travel with it,
 * and their failure fails the transaction.
 */
export type Work<T> = (db: Db, later: (statement: Promise<unknown>) => void) => Promise<T>;

// Numbers of the database become numbers here, on the way out; sums are made before. Dates and instants stay text.
const PARSERS = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, Number],
  [pg.types.builtins.DATE, (text) => text],
  [pg.types.builtins.TIMESTAMPTZ, (text) => text],
]);
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format),
};

/** Statements are prepared under a name of their own; past this many different ones the rest go unprepared. */
const MAX_PREPARED = 2000;

/** Values are parameters: the text of a statement holds nobody's data. */
const statementOf = (sql: string) => ({
  kind: SpanKind.CLIENT,
  attributes: { 'db.system.name': 'postgresql', 'db.query.text': sql },
});

/** How a transaction begins, and whether what is sent at one moment is one of its own. */
interface Opening {
  sql: string;
  bursts: boolean;
}

class PipelinedConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  readonly #names: Map<string, string> | undefined;
  readonly #opening: Opening;
  /** Whether what is sent now is inside a transaction. */
  #open = false;
  #ended = false;
  #firstFailure: unknown;
  /** Of bursts: the end of the last one. */
  #committed: Promise<pg.QueryResult> | undefined;

  constructor(client: pg.PoolClient, names: Map<string, string> | undefined, opening: Opening) {
    this.#client = client;
    this.#names = names;
    this.#opening = opening;
  }

  /**
   * Begins what is not begun. What is sent before the event loop turns goes out in one write: a system call each would cost
   * more than the statements. For the same reason statements of a read that are sent together are a transaction of their
   * own, whose COMMIT goes with them; READ COMMITTED gives each statement its own view in any case.
   */
  begin(): Promise<unknown> {
    const { stream } = this.#client.connection;
    stream.cork();
    if (this.#open) {
      process.nextTick(() => stream.uncork());
      return Promise.resolve();
    }
    this.#open = true;
    const begun = this.#client.query(this.#opening.sql);
    begun.catch(() => {});
    const { promise, resolve } = Promise.withResolvers<pg.QueryResult>();
    if (this.#opening.bursts) {
      this.#committed = promise;
      promise.catch(() => {});
    }
    process.nextTick(() => {
      if (this.#opening.bursts) {
        this.#open = false;
        resolve(this.#client.query('commit'));
      }
      stream.uncork();
    });
    return begun;
  }

  /**
   * Sends what ends the transaction, where that is not under way. Work that was given up may still be running: whatever it
   * sends from now on would run outside the transaction, with the login's own rights, so it is refused.
   */
  end(command: 'commit' | 'rollback'): Promise<pg.QueryResult> {
    this.#ended = true;
    return this.#committed ?? this.#client.query(command);
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#ended) throw new Error('The transaction has ended');
    const query: pg.QueryConfig = { text: sql, values: [...parameters] };
    const name = this.#nameOf(sql);
    if (name) query.name = name;
    void this.begin();
    const { rows, rowCount } = await traced('statement', statementOf(sql), () => this.#client.query(query)).catch(
      (error: unknown) => {
        this.#firstFailure ??= error;
        throw error;
      },
    );
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  }

  /** What went wrong: of statements sent together, those after the first that failed fail only because it did. */
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

  // biome-ignore lint/correctness/useYield: the interface asks for it; results are read whole
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Statements are not streamed');
  }
}

const dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};
const builder = new Kysely<Schema>({ dialect });

/** Kysely whose statements all go to one connection, at once and in order. */
function kyselyOn(connection: DatabaseConnection): Db {
  const provider: ConnectionProvider = { provideConnection: (consumer) => consumer(connection) };
  return new Kysely<Schema>({
    config: { dialect },
    driver: new DummyDriver(),
    dialect,
    executor: builder.getExecutor().withConnectionProvider(provider),
  });
}

// Division by zero is the shortest statement that fails when the credential is gone, and so fails all that was sent after it.
const KEY_CHECK = `select 1 / count(*) from api_keys
  where account_id = $1 and id = $2 and revoked_at is null and (expires_at is null or expires_at > $3)`;
const TOKEN_CHECK = `select 1 / count(*) from oauth_tokens t join grants g on g.account_id = t.account_id and g.id = t.grant_id
  where t.account_id = $1 and t.hash = $2 and t.kind = 'access' and t.expires_at > $3 and g.revoked_at is null`;

const checkOf = (accountId: number, { credential, now }: CredentialCheck) =>
  credential.kind === 'key'
    ? CompiledQuery.raw(KEY_CHECK, [accountId, credential.id, now.toString()])
    : CompiledQuery.raw(TOKEN_CHECK, [accountId, credential.hash, now.toString()]);

const DIVISION_BY_ZERO = '22012';
const IN_FAILED_TRANSACTION = '25P02';

export class Database {
  readonly pool: pg.Pool;
  readonly #names: Map<string, string> | undefined;
  readonly #statementTimeoutMs: number;
  #becomeTenant = '';

  constructor(options: DatabaseOptions) {
    this.#names = options.prepare === false ? undefined : new Map();
    this.#statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
    this.pool = new pg.Pool({
      connectionString: options.url,
      max: options.poolSize ?? 10,
      types,
      pipeline: true,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
      query_timeout: this.#statementTimeoutMs + 5_000,
      keepAlive: true,
    });
    // A pool that was ended says goodbye to its connections without waiting for them: how they end is no news.
    const onError = (error: Error) => {
      if (!this.pool.ending) options.onError?.(error);
    };
    this.pool.on('error', onError);
    this.pool.on('connect', (client) => client.on('error', onError));
  }

  /**
   * Finds out how to act under row-level security: as the tenant role, or as the login itself where it is bound anyway.
   * Throws when neither holds, since then companies would not be isolated (TEN-02).
   */
  async prepareRole(): Promise<void> {
    // Since PostgreSQL 16 a member of a role may not always become it.
    const { rows } = await this.pool.query<{ member: boolean; unbound: boolean }>(
      `select coalesce((
                select pg_has_role(current_user, oid, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)
                from pg_roles where rolname = 'albaran_app'), false) as member,
              rolsuper or rolbypassrls as unbound
       from pg_roles where rolname = current_user`,
    );
    const login = rows[0];
    if (login?.member) this.#becomeTenant = 'set local role albaran_app; ';
    else if (!login || login.unbound) {
      throw new Error(
        'The database login bypasses row-level security and the role albaran_app is missing: create it and grant it to the login',
      );
    }
  }

  /** Queries outside any company: service tables only, since row-level security hides the rest. */
  get service(): Db {
    const pool = this.pool;
    return kyselyOn({
      async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
        const { rows, rowCount } = await pool.query({ text: sql, values: [...parameters] });
        return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
      },
      streamQuery: () => {
        throw new Error('Statements are not streamed');
      },
    });
  }

  /**
   * Runs `work` in one transaction that sees and writes this company's rows alone. A read answers as soon as its rows
   * are here; a write when it is committed. Whatever fails inside leaves nothing behind.
   */
  transaction<T>(accountId: number, options: TransactionOptions, work: Work<T>): Promise<T> {
    return this.#transaction(`set local app.account_id = '${accountInteger(accountId)}'`, accountId, options, work);
  }

  /**
   * A read, before the company is known, of the one row that names itself by an API key or a company's slug, or of a
   * person's memberships.
   */
  lookup<T>(
    by: { api_key: string } | { account_slug: string } | { user_id: number },
    work: (db: Db) => Promise<T>,
  ): Promise<T> {
    const [[name, value] = ['', '']] = Object.entries(by);
    return this.#transaction(`set local app.${name} = ${pg.escapeLiteral(String(value))}`, 0, {}, work);
  }

  async #transaction<T>(
    setting: string,
    accountId: number,
    { write = false, snapshot = false, credential, lockTimeoutMs, planned, ways }: TransactionOptions,
    work: Work<T>,
  ): Promise<T> {
    const mode = write ? '' : snapshot ? ' isolation level repeatable read read only' : ' read only';
    const settings =
      `set local statement_timeout = ${this.#statementTimeoutMs}` +
      (lockTimeoutMs === undefined ? '' : `; set local lock_timeout = ${Math.round(lockTimeoutMs)}`) +
      (planned ? `; ${PLANNED[planned]}` : '') +
      (ways ? `; ${WAYS[ways]}` : '');
    const client = await this.pool.connect();
    const connection = new PipelinedConnection(client, this.#names, {
      sql: `begin${mode}; ${this.#becomeTenant}${setting}; ${settings}`,
      bursts: !write && !snapshot,
    });
    const begun = connection.begin();
    const checked = credential
      ? connection.executeQuery(checkOf(accountId, credential)).catch((error: unknown) => {
          throw isDatabaseError(error) && error.code === DIVISION_BY_ZERO ? unauthorized() : error;
        })
      : begun;
    checked.catch(() => {});
    let answered = false;
    const trailing: Promise<unknown>[] = [];
    const later = (statement: Promise<unknown>) => {
      statement.catch(() => {});
      trailing.push(statement);
    };
    try {
      const result = await work(kyselyOn(connection), later).catch(async (error: unknown) => {
        await begun;
        await checked;
        throw connection.causeOf(error);
      });
      await checked;
      answered = true;
      const committed = connection.end('commit');
      committed.then(
        () => client.release(),
        (error: Error) => client.release(error),
      );
      // PostgreSQL answers ROLLBACK to the COMMIT of a transaction in which a statement failed.
      await Promise.all(trailing).catch((error: unknown) => {
        throw connection.causeOf(error);
      });
      if (write && (await committed).command !== 'COMMIT') throw new Error('The transaction was not committed');
      return result;
    } catch (error) {
      if (answered) throw error;
      connection.end('rollback').then(
        () => client.release(),
        (failure: Error) => client.release(failure),
      );
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

/** A failure that PostgreSQL reported, with its SQLSTATE. */
export const isDatabaseError = (error: unknown): error is pg.DatabaseError => error instanceof pg.DatabaseError;

/** The company's number as SQL text: it is the one value that is not sent as a parameter (SET takes none). */
function accountInteger(accountId: number): string {
  if (!Number.isSafeInteger(accountId) || accountId <= 0) throw new Error(`Not a company: ${accountId}`);
  return String(accountId);
}
