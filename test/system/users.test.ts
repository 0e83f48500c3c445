// The commands about people, as processes on a separate database.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { startServer } from '../helpers/world.ts';
import { HOME, openBrowser } from '../pages/browser.ts';
import { run } from '../server/processes.ts';

let database: OwnDatabase;
beforeAll(async () => {
  database = await ownDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const albaran = (args: string[], input?: string) => run(args, databaseEnvironment(database.url), input);

async function json(args: string[], input?: string) {
  const { stdout, stderr } = await albaran([...args, '--json'], input);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test('a person is made, signs in, gets another password, joins companies and leaves them', async () => {
  await using server = await startServer({ database: { url: database.url } });
  const signsIn = async (password: string) =>
    (await openBrowser(server.url).signIn('ana@example.com', password)).status === 303;
  const { id: accountId } = await json(['account', 'create', '--name', 'Ruiz', '--slug', 'ruiz']);
  const made = await json(['user', 'create', '--email', 'Ana@Example.com', '--account', 'ruiz', '--admin']);
  expect(made).toEqual({
    id: expect.any(Number),
    email: 'Ana@Example.com',
    name: 'Ana@Example.com',
    password: expect.stringMatching(/^[\w-]{20}$/),
  });
  const browser = openBrowser(server.url);
  await browser.signIn('ana@example.com', made.password);
  expect((await browser.get(HOME)).text).toContain(`${HOME}/keys`);

  const ana = ['--email', 'ana@example.com'];
  expect(await json(['user', 'grant', ...ana, '--account', 'ruiz'])).toMatchObject({ role: 'member' });
  expect((await browser.get(HOME)).text).not.toContain(`${HOME}/keys`);

  const given = 'cuatro palabras al azar';
  expect(await json(['user', 'password', ...ana, '--password-stdin'], `${given}\n`)).not.toHaveProperty('password');
  expect((await browser.get(HOME)).status, 'its sessions have ended').toBe(303);
  expect(await Promise.all([signsIn(made.password), signsIn(given)])).toEqual([false, true]);
  const { password: second } = await json(['user', 'password', ...ana]);
  expect(await signsIn(second)).toBe(true);

  const leave = ['user', 'leave', ...ana, '--account', 'ruiz'];
  expect(await json(leave)).toMatchObject({ left: true, already: false });
  expect(await json(leave)).toMatchObject({ left: true, already: true });
  const { rows } = await database.admin.query(
    `select actor, door, operation from audit_records where account_id = $1 and record_kind = 'user' order by id`,
    [accountId],
  );
  const operations = ['user grant', 'user grant', 'password change', 'password change', 'user leave'];
  expect(rows).toEqual(operations.map((operation) => ({ actor: 'command', door: 'command', operation })));
});

test('what can’t be is one line that says so', async () => {
  await json(['user', 'create', '--email', 'luz@example.com'], '');
  const [again, nobody, noAccount, alone, short, none] = await Promise.all([
    albaran(['user', 'create', '--email', 'LUZ@example.com']),
    albaran(['user', 'password', '--email', 'nobody@example.com']),
    albaran(['user', 'grant', '--email', 'luz@example.com', '--account', 'nobody']),
    albaran(['user', 'create', '--email', 'sol@example.com', '--admin']),
    albaran(['user', 'create', '--email', 'sol@example.com', '--password-stdin'], 'short\n'),
    albaran(['user', 'create', '--email', 'not an e-mail']),
  ]);
  expect(again).toMatchObject({ code: 1, stderr: 'There is a person with the e-mail "LUZ@example.com" already\n' });
  expect(nobody).toMatchObject({ code: 1, stderr: 'There is no person with the e-mail "nobody@example.com"\n' });
  expect(noAccount).toMatchObject({ code: 1, stderr: 'There is no company with the slug "nobody"\n' });
  expect(alone).toMatchObject({ code: 2, stderr: '--admin: expected --account beside it\n' });
  expect(short).toMatchObject({ code: 2, stderr: '--password-stdin: expected 12 to 200 characters\n' });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('--email') });
});
