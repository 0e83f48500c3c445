// An upgrade added columns while the version before kept working with prepared statements.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { routeCall } from '../faults/doors.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { ownDatabase } from '../helpers/own-database.ts';
import { startServer, TestClock } from '../helpers/world.ts';

const ROOT = resolve(import.meta.dirname, '../..');

test('every operation goes on being answered after each table has got another column', async () => {
  await using database = await ownDatabase();
  await using server = await startServer({
    clock: new TestClock(EXAMPLE_NOW),
    database: { url: database.url, poolSize: 1 },
  });
  const acme = await server.company([...exampleRecords], { cuenta: exampleAccount });
  const unseen = await server.company();
  const round = async () => {
    const answers: string[] = [];
    for (const { path, routes } of operations) {
      const [route] = routes;
      if (!route) continue;
      const example = examples[path] ?? {};
      const { method, path: url, body } = routeCall(route, example);
      const { status } = await server.request(url, {
        method,
        headers: acme.headers,
        ...(body !== undefined && { body }),
      });
      answers.push(`${path} ${status}`);
    }
    return answers;
  };
  const answers = await round();
  expect(answers.filter((answer) => answer.endsWith(' 200')).length).toBeGreaterThan(40);
  const { rows } = await database.admin.query<{ table: string }>(
    `select quote_ident(tablename) as table from pg_tables where schemaname = 'public'`,
  );
  for (const { table } of rows) await database.admin.query(`alter table ${table} add column added_later int`);
  // Its key is not cached: it is looked up as the other was.
  expect((await unseen.get('/account')).status).toBe(200);
  expect((await round()).filter((answer) => answer.endsWith(' 500'))).toEqual([]);
});

test('no statement answers every column of a table: prepared, it would fail once there is another', () => {
  const sources = globSync('{account-file,bridges,entities,figures,lifecycle,platform,routers,server}/**/*.ts', {
    cwd: ROOT,
  });
  expect(sources.filter((file) => /\.(selectAll|returningAll)\(/.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual(
    [],
  );
});
