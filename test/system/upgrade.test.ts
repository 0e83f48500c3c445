// The last release and this version on one database under calls, while this one starts and migrates, and afterwards. Before the
// migration, read-only commands report the pending state and change nothing.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { run, serve } from '../server/processes.ts';

vi.setConfig({ testTimeout: 240_000 }); // Another version is unpacked, and its packages are installed if they differ.

const ROOT = resolve(import.meta.dirname, '../..');
const execute = promisify(execFile);

interface Release extends AsyncDisposable {
  root: string;
}

/** The last release: the commit that gave package.json its version. */
async function lastRelease(): Promise<Release> {
  const git = async (...args: string[]) =>
    (await execute('git', args, { cwd: ROOT, maxBuffer: 2 ** 28 })).stdout.trim();
  if ((await git('rev-parse', '--is-shallow-repository')) === 'true') {
    throw new Error('This test needs the history of the project: git fetch --unshallow');
  }
  const commit = await git('log', '-1', '--format=%H', '-G"version":', '--', 'package.json');
  const root = await mkdtemp(join(tmpdir(), 'albaran-release-'));
  await execute('bash', ['-c', `git archive ${commit} | tar -x -C ${root}`], { cwd: ROOT });
  const lockFiles = await Promise.all(
    [ROOT, root].map((folder) => readFile(join(folder, 'package-lock.json'), 'utf8')),
  );
  if (lockFiles[0] === lockFiles[1]) {
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  } else {
    await execute('npm', ['ci', '--omit=optional', '--no-audit', '--no-fund'], { cwd: root });
  }
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) };
}

const description = z.object({
  paths: z.record(
    z.string(),
    z.object({
      get: z.object({ parameters: z.array(z.object({ required: z.boolean().optional() })).default([]) }).optional(),
    }),
  ),
});

/** Reads everything readable without an id, and writes contacts, over several connections until stopped. */
async function callsOn(url: string, credentials: Record<string, string>, prefix: string) {
  const api = `${url}/api/v1`;
  const { paths } = description.parse(await (await fetch(`${api}/openapi.json`)).json());
  const reads = Object.entries(paths).flatMap(([path, { get }]) =>
    get && !path.includes('{') && !get.parameters.some(({ required }) => required) ? [path] : [],
  );
  const answers = new Map<string, number>();
  let [over, count] = [false, 0];
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { ...credentials, 'content-type': 'application/json', ...init.headers };
    const response = await fetch(api + path.replace(/^\/api\/v1/, ''), { ...init, headers });
    await response.arrayBuffer();
    const answer = `${init.method ?? 'GET'} ${path}: ${response.status}`;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    count++;
  };
  const caller = async () => {
    while (!over) {
      for (const path of reads) {
        const body = JSON.stringify({ datos: { nombre: 'Ana', email: `${prefix}.${count}@example.com` } });
        await call('/crm/contacts', { method: 'POST', body, headers: { 'x-idempotency-key': crypto.randomUUID() } });
        await call(path);
      }
    }
  };
  const callers = Promise.all([caller(), caller()]);
  callers.catch(() => {}); // The rejection reaches the caller of `stop`.
  return {
    async reach(more: number) {
      const goal = count + more;
      while (count < goal) await Promise.race([new Promise(setImmediate), callers]);
    },
    /** The answers other than 200, counted. */
    async stop() {
      over = true;
      await callers;
      return [...answers].filter(([answer]) => !answer.endsWith(' 200'));
    },
  };
}

test('the last release and this version serve one database side by side, without a failed call', async () => {
  await using release = await lastRelease();
  await using database = await ownDatabase({ migrated: false });
  const environment = {
    ...databaseEnvironment(database.url),
    DEMO: 'false',
    QUOTA_PER_MINUTE: '1000000',
    RENEWALS: 'off',
    DATABASE_POOL: '5',
  };
  const demo = await run(['demo', '--json'], environment, undefined, release.root);
  expect(demo.code).toBe(0);
  const { key, secret } = z.object({ key: z.string(), secret: z.string() }).parse(JSON.parse(demo.stdout));
  const credentials = { 'x-api-key': key, 'x-api-secret': secret };

  await using before = await serve(environment, release.root);
  const old = await callsOn(before.url, credentials, 'antes');
  await old.reach(100);
  await using now = await serve(environment);
  const current = await callsOn(now.url, credentials, 'ahora');
  await Promise.all([old.reach(200), current.reach(200)]);
  expect(await old.stop()).toEqual([]);
  before.signal('SIGTERM');
  expect((await before.ended).code).toBe(0);
  await current.reach(100);
  expect(await current.stop()).toEqual([]);
});

test('commands that only read change nothing in a database that lacks migrations, and say which', async () => {
  await using database = await ownDatabase({ migrated: false });
  const environment = { ...databaseEnvironment(database.url), DEMO: 'false' };
  const reading = [
    ['account', 'list'],
    ['key', 'list', '--account', 'demo'],
    ['export', '--account', 'demo'],
    ['check'],
    ['renew', '--dry-run'],
  ];
  const empty =
    'The database is empty, and this command only reads: run `albaran migrate`, or start this version of the service\n';
  for (const command of reading) {
    expect(await run(command, environment), command.join(' ')).toEqual({ code: 1, stdout: '', stderr: empty });
  }
  const told = await run(['migrate', '--dry-run', '--json'], environment);
  const { pending } = z.object({ pending: z.array(z.string()) }).parse(JSON.parse(told.stdout));
  expect(pending[0]).toBe('0001_initial');
  const { rows } = await database.admin.query(
    'select count(*)::int as tables from pg_tables where schemaname = current_schema()',
  );
  expect(rows).toEqual([{ tables: 0 }]);

  expect(await run(['migrate', '--json'], environment)).toMatchObject({
    code: 0,
    stdout: `${JSON.stringify({ migrated: pending })}\n`,
  });
  const last = pending.at(-1);
  await database.admin.query('delete from mikro_orm_migrations where name = $1', [last]);
  const refused = await run(['account', 'list'], environment);
  expect(refused.stderr).toContain(`The database lacks ${last}, and this command only reads`);
  const json = await run(['account', 'list', '--json'], environment);
  expect(JSON.parse(json.stdout)).toEqual({ error: `The database lacks ${last}`, pending: [last] });
});
