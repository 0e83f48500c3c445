// The cost of reading and decoding the rows of a page in this process: the operation's statements, recorded once, are sent again
// and again in the same kind of transaction. The rest of a request's cost is that of interfaces and operations.
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import pino from 'pino';
import type { Database } from '../../platform/database.ts';
import { RoundTrip } from '../../platform/round-trip.ts';
import { openService } from '../../platform/service.ts';
import { makeHttp } from '../../server/http.ts';

interface Question {
  databaseUrl: string;
  headers: Record<string, string>;
  path: string;
  seconds: number;
}

interface Statement {
  text: string;
  values: unknown[];
}

const AT_ONCE = 10;

process.on('message', async ({ databaseUrl, headers, path, seconds }: Question) => {
  const service = await openService({
    database: { url: databaseUrl },
    log: pino({ level: 'silent' }),
    checkOutputs: false,
    // The load before this one has used up more than usual.
    quotaPerMinute: 10_000_000,
  });
  const http = await makeHttp(service, { corsOrigins: [], trustProxy: false });
  const ask = async () => {
    const { statusCode, body } = await http.inject({ method: 'GET', url: path, headers });
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${body}`);
  };
  await ask();
  const { statements, accountId } = await recorded(ask);
  const read = () => replay(service.database, accountId, statements);
  await during(seconds / 4, read);
  const before = process.cpuUsage();
  const times = await during(seconds, read);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ cpuMs: (user + system) / 1000 / times, statements: statements.length });
  await http.close();
  await service.close();
});

/** The company, and the prepared statements of a call. */
async function recorded(call: () => Promise<unknown>): Promise<{ statements: Statement[]; accountId: number }> {
  const { query } = pg.Client.prototype;
  const statements: Statement[] = [];
  let accountId = 0;
  const listen = function (this: pg.Client, ...sent: unknown[]) {
    const [statement] = sent;
    if (typeof statement === 'string')
      accountId = Number(/app\.account_id = '(\d+)'/.exec(statement)?.[1] ?? accountId);
    else if (statement instanceof RoundTrip) statements.push(...statement.statements);
    return Reflect.apply(query, this, sent);
  };
  Object.assign(pg.Client.prototype, { query: listen });
  await call();
  Object.assign(pg.Client.prototype, { query });
  return { statements, accountId };
}

const replay = (database: Database, accountId: number, statements: readonly Statement[]) =>
  database.transaction(accountId, {}, (db) =>
    Promise.all(statements.map(({ text, values }) => db.executeQuery(CompiledQuery.raw(text, values)))),
  );

/** Repeats the work with the concurrency of a load; returns how often it ran. */
async function during(seconds: number, work: () => Promise<unknown>): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let times = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < until) {
        await work();
        times++;
      }
    }),
  );
  return times;
}
