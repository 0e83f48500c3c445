// `albaran renew` and the service's schedule, as processes: run twice, several at once, killed, and taken over.
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test, vi } from 'vitest';
import { importAccountFile } from '../../account-file/import.ts';
import { createAccount } from '../../account-file/new-account.ts';
import { readConfig } from '../../server/config.ts';
import { ownDatabase, tenantsOf, untilWaiting } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { launch, run, serve } from '../server/processes.ts';

vi.setConfig({ testTimeout: 120_000 }); // Each command is a process: half a second, several on a busy machine.

const database = await ownDatabase();
const tenants = await tenantsOf(database);
afterAll(async () => {
  await tenants.close();
  await database[Symbol.asyncDispose]();
});

const environment = () => ({ ...databaseEnvironment(database.url), DEMO: 'false' });
const albaran = (args: string[]) => run(args, environment());

/** The output of a command with --json. */
async function json(args: string[]) {
  const { stdout, stderr } = await albaran([...args, '--json']);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

const today = Temporal.Now.plainDateISO('Europe/Madrid');
const line = { descripcion: 'Cuota', cantidad: 2, importe_unitario: 10.05 };

/** A company with weekly services, last renewed this many weeks and a day ago, and by default imported then. */
async function company({
  services = 1,
  weeks = 1,
  automatic = true,
  enteredDaysAgo,
}: Partial<Record<'services' | 'weeks' | 'enteredDaysAgo', number>> & { automatic?: boolean } = {}): Promise<string> {
  const entered = enteredDaysAgo ?? 7 * weeks + 1;
  const slug = `r-${randomUUID()}`;
  const { id } = await createAccount(tenants, { slug, name: 'Renueva' });
  const lastOn = today.subtract({ days: 7 * weeks + 1 }).toString();
  const records = [
    { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Renueva', emision_automatica: automatic },
    { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL' },
    { coleccion: 'articulos', ref: 'gas', descripcion: 'Gas', stock: 1000 },
    ...Array.from({ length: services }, (_, index) => ({
      coleccion: 'recurrentes',
      ref: `s${index}`,
      descripcion: `Servicio ${index}`,
      cliente: 'cli',
      periodicidad: 'semanal',
      fecha_creacion: lastOn,
      ultima_facturacion: lastOn,
      lineas: [line, { ...line, articulo: 'gas' }],
    })),
  ];
  await importAccountFile(
    tenants,
    id,
    records.map((record) => JSON.stringify(record)),
    { now: Temporal.Now.instant().subtract({ hours: 24 * entered }) },
  );
  return slug;
}

/** The notes of a company: one per cycle, numbered without gaps, complete. */
async function notesOf(slug: string): Promise<number> {
  const { rows } = await database.admin.query<Record<string, number>>(
    `select count(*)::int as notes, count(distinct (recurring_id, recurring_cycle))::int as cycles,
       coalesce(max(substring(number from 7)::int), 0) as last_number,
       (select count(*)::int from delivery_note_lines l where l.account_id = a.id) as lines,
       (select coalesce(-sum(quantity), 0)::int from stock_movements m where m.account_id = a.id and not opening) as moved,
       (select count(*)::int from journal_entries r where r.account_id = a.id and r.operation = 'renew' and r.action = 'create') as audited
     from accounts a left join delivery_notes n on n.account_id = a.id where a.slug = $1 and n.id is not null group by a.id`,
    [slug],
  );
  const [{ notes = 0, ...found } = {}] = rows;
  const whole = { cycles: notes, last_number: notes, lines: 2 * notes, moved: 2 * notes, audited: notes };
  if (notes > 0) expect(found).toEqual(whole);
  return notes;
}

test('a dry run shows what a run issues and writes nothing; a second run finds nothing', async () => {
  const slug = await company({ services: 2, weeks: 2 });
  const dry = await json(['renew', '--dry-run', '--account', slug]);
  const [first, second] = [8, 1].map((days) => today.subtract({ days }).toString());
  const renewal = (index: number, cycle?: string) =>
    expect.objectContaining({ account: slug, description: `Servicio ${index}`, cycle, amount: 40.2 });
  const renewals = [renewal(0, first), renewal(1, first), renewal(0, second), renewal(1, second)];
  const staysDue = { renewals: [], count: 0, amount: 0 };
  expect(dry).toEqual({ dryRun: true, renewals, count: 4, amount: 160.8, staysDue });
  const text = await albaran(['renew', '--dry-run', '--account', slug]);
  expect(text.stdout).toMatch(
    /^COMPANY +RECURRING +CYCLE +AMOUNT\n.* Servicio 0 +\S+ +40\.20\n(.*\n){4}4 due, 160\.80/,
  );
  expect(await notesOf(slug)).toBe(0);

  expect(await json(['renew', '--account', slug, '--until', first ?? ''])).toMatchObject({ count: 2, amount: 80.4 });
  expect(await json(['renew', '--account', slug])).toMatchObject({ count: 2, failures: [] });
  expect(await json(['renew', '--account', slug])).toMatchObject({ renewals: [], count: 0, amount: 0 });
  expect((await albaran(['renew', '--account', slug])).stdout).toBe('Nothing issued\n');
  expect(await notesOf(slug)).toBe(4);
  const { rows } = await database.admin.query(
    `select distinct actor, door from journal_entries where operation = 'renew'
       and account_id = (select id from accounts where slug = $1)`,
    [slug],
  );
  expect(rows).toEqual([{ actor: 'albaran renew', door: 'command' }]);
});

test('a day that has not come, that is none, or a company that is not there, is refused', async () => {
  const slug = await company();
  const future = today.add({ days: 2 }).toString();
  const [early, none, nobody] = await Promise.all([
    albaran(['renew', '--account', slug, '--until', future]),
    albaran(['renew', '--until', '2026-02-30']),
    albaran(['renew', '--account', 'nobody']),
  ]);
  expect(early).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(`^--until: ${future} has not come yet for ${slug}`),
  });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('YYYY-MM-DD') });
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') });
  expect(await notesOf(slug)).toBe(0);
  expect(await json(['renew', '--account', slug])).toMatchObject({ count: 1 });
});

test('[ISS-01] [ISS-03] what stays due is shown; --since issues it on purpose, --skip-before never again', async () => {
  const slug = await company({ services: 2, weeks: 4, automatic: false, enteredDaysAgo: 9 });
  const days = (ago: number) => today.subtract({ days: ago }).toString();
  await database.admin.query(
    `update recurring_lines l set unit_price = 0 from recurrings r
     where r.account_id = (select id from accounts where slug = $1) and r.description = 'Servicio 1'
       and l.account_id = r.account_id and l.recurring_id = r.id`,
    [slug],
  );
  const renewal = (index: number, ago: number, stays?: string) =>
    expect.objectContaining({ description: `Servicio ${index}`, cycle: days(ago), ...(stays ? { stays } : {}) });
  const dry = await json(['renew', '--account', slug, '--dry-run']);
  expect(dry).toMatchObject({ dryRun: true, count: 2, amount: 80.4 });
  expect(dry.renewals).toEqual([renewal(0, 8), renewal(0, 1)]);
  const earlier = [22, 15].flatMap((ago) => [renewal(0, ago, 'earlier'), renewal(1, ago, 'earlier')]);
  const free = [renewal(1, 8, 'amount'), renewal(1, 1, 'amount')];
  expect(dry.staysDue).toEqual({ renewals: [...earlier, ...free], count: 6, amount: 80.4 });
  const text = (await albaran(['renew', '--account', slug, '--dry-run'])).stdout;
  expect(text).toMatch(new RegExp(`Servicio 0 +2 +${days(22)} +${days(15)} +80\\.40 +earlier\n`));
  expect(text).toMatch(new RegExp(`Servicio 1 +2 +${days(8)} +${days(1)} +0\\.00 +0 or less\n\n6 stay due: `));
  expect(await notesOf(slug)).toBe(0);

  const skipping = ['renew', '--account', slug, '--skip-before', days(21)];
  expect(await json([...skipping, '--dry-run'])).toMatchObject({ dryRun: true, count: 2 });
  expect(await json(skipping)).toMatchObject({ dryRun: false, count: 2, renewals: [renewal(0, 22), renewal(1, 22)] });
  expect((await albaran(skipping)).stdout).toBe('Nothing skipped\n');
  expect(await json(['renew', '--account', slug])).toMatchObject({ count: 2, staysDue: { count: 4 } });
  const purpose = ['renew', '--account', slug, '--since', days(100)];
  expect(await json([...purpose, '--dry-run'])).toMatchObject({ renewals: [renewal(0, 15)], staysDue: { count: 3 } });
  expect(await json(purpose)).toMatchObject({ renewals: [renewal(0, 15)], staysDue: { count: 3 } });
  expect(await notesOf(slug)).toBe(3);
});

test('[ISS-01] options that contradict each other, or ask of all companies what is done to one, are refused', async () => {
  const slug = await company();
  const later = today.add({ days: 3 }).toString();
  const day = today.toString();
  for (const [expected, ...args] of [
    ['--skip-before and --since', '--account', slug, '--skip-before', day, '--since', day],
    ['--skip-before and --until', '--account', slug, '--skip-before', day, '--until', day],
    ['--skip-before: name the company', '--skip-before', day],
    ['--since: name the company', '--since', day],
    ['--until: 2026-01-01 is before --since', '--account', slug, '--since', day, '--until', '2026-01-01'],
    [`--skip-before: ${later} has not come yet`, '--account', slug, '--skip-before', later],
    ['YYYY-MM-DD', '--account', slug, '--since', 'yesterday'],
  ]) {
    const { code, stderr } = await albaran(['renew', ...args]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(expected ?? '') });
  }
  expect(await notesOf(slug)).toBe(0);
});

test('[ISS-01] a running server issues nothing of a company that has not switched it on, nor of before it does', async () => {
  const slug = await company({ weeks: 3, automatic: false });
  const other = await company();
  await using server = await serve({ ...environment(), RENEWALS: '* * * * * *' });
  await vi.waitUntil(async () => (await countOf(other)) === 1, { timeout: 30_000 });
  expect(await notesOf(slug)).toBe(0);
  await json(['account', 'set', '--account', slug, '--automatic-issuing', 'on']);
  const third = await company({ weeks: 2 });
  await vi.waitUntil(async () => (await countOf(third)) === 2, { timeout: 30_000 });
  server.signal('SIGTERM');
  await server.ended;
  expect(await notesOf(slug)).toBe(0);
  expect(await json(['renew', '--account', slug])).toMatchObject({ count: 3 });
});

test('four at once, over all companies, issue each cycle once', async () => {
  const slugs = [await company({ services: 4, weeks: 5 }), await company({ services: 3, weeks: 4 })];
  const answers = await Promise.all([1, 2, 3, 4].map(() => json(['renew'])));
  expect(answers.flatMap(({ failures }) => failures)).toEqual([]);
  const renewals: { account: string }[] = answers.flatMap((answer) => answer.renewals);
  expect(renewals.filter(({ account }) => slugs.includes(account))).toHaveLength(20 + 12);
  expect(await Promise.all(slugs.map(notesOf))).toEqual([20, 12]);
});

test('killed in the middle, again and again, every note is whole, and in the end there is one a cycle', async () => {
  const slug = await company({ services: 10, weeks: 20 });
  const seen: number[] = [];
  for (let attempt = 0; attempt < 4; attempt++) {
    const before = await notesOf(slug);
    await using command = launch(['renew', '--account', slug], environment());
    // Killed after this many more, wherever that is.
    await vi.waitUntil(async () => (await countOf(slug)) >= before + 1 + Math.random() * 20, {
      timeout: 30_000,
      interval: 1,
    });
    command.signal('SIGKILL');
    expect((await command.ended).code).toBe(null);
    seen.push(await notesOf(slug));
  }
  expect(seen.at(-1)).toBeLessThan(200);
  const { count } = await json(['renew', '--account', slug]);
  const notes = await notesOf(slug);
  expect(count).toBeGreaterThan(0);
  expect(notes).toBe(200);
});

async function countOf(slug: string): Promise<number> {
  const { rows } = await database.admin.query<{ notes: number }>(
    'select count(*)::int as notes from delivery_notes where account_id = (select id from accounts where slug = $1)',
    [slug],
  );
  return rows[0]?.notes ?? 0;
}

test('one that fails is listed, exit 1, and the others are issued; put right, it is issued too', async () => {
  const slug = await company({ services: 2 });
  const setQuantity = (quantity: string) =>
    database.admin.query(
      `update recurring_lines set quantity = $2 where position = 2 and recurring_id = (select r.id from recurrings r
         join accounts a on a.id = r.account_id where a.slug = $1 and r.description = 'Servicio 0')`,
      [slug, quantity],
    );
  await setQuantity('NaN'); // A line that no note accepts.
  const { code, stderr } = await albaran(['renew', '--account', slug]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/ Servicio 1 +\S+ +40\.20\n\n1 issued, 40\.20 without VAT\n/);
  expect(stderr).toMatch(new RegExp(`Failed: ${slug} \\d+ \\(Servicio 0\\), ${today.subtract({ days: 1 })}: .+\n$`));
  const again = await json(['renew', '--account', slug]);
  expect(again).toMatchObject({ count: 0, failures: [expect.stringContaining('Servicio 0')] });
  await setQuantity('2');
  expect(await json(['renew', '--account', slug])).toMatchObject({ count: 1, failures: [] });
  expect(await notesOf(slug)).toBe(2);
});

test('a server that starts catches up, and of two servers one does each run', async () => {
  const slug = await company({ weeks: 3 });
  const env = { ...environment(), RENEWALS: '* * * * * *' };
  await using one = await serve(env);
  await using other = await serve(env);
  await vi.waitUntil(async () => (await countOf(slug)) === 3, { timeout: 30_000 });
  // A company with something newly due is included in the next run, whichever process runs it.
  const later = await company({ weeks: 2 });
  await vi.waitUntil(async () => (await countOf(later)) === 2, { timeout: 30_000 });
  for (const server of [one, other]) server.signal('SIGTERM');
  const ended = await Promise.all([one.ended, other.ended]);
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  const runs = ended.map(({ stdout }) => runsIn(stdout));
  const slots = runs.flat().map(({ slot }) => slot);
  expect(slots.length).toBeGreaterThan(1);
  expect(new Set(slots).size).toBe(slots.length);
  expect(runs.flat().reduce((sum, { issued }) => sum + issued, 0)).toBe(5);
  expect(await Promise.all([slug, later].map(notesOf))).toEqual([3, 2]);
});

test('a server that is killed in the middle of a run leaves the rest to another', async () => {
  const slug = await company({ services: 5, weeks: 4 });
  const env = { ...environment(), RENEWALS: '* * * * * *' };
  const { admin } = database;
  await admin.query('begin; lock table document_counters in exclusive mode');
  try {
    await using killed = await serve(env);
    await untilWaiting(admin);
    await using other = await serve(env);
    killed.signal('SIGKILL');
    await killed.ended;
    await admin.query('commit');
    await vi.waitUntil(async () => (await countOf(slug)) === 20, { timeout: 30_000 });
    other.signal('SIGTERM');
    const { stdout } = await other.ended;
    expect(runsIn(stdout).reduce((sum, { issued }) => sum + issued, 0)).toBe(20);
  } finally {
    await admin.query('rollback');
  }
  expect(await notesOf(slug)).toBe(20);
});

test('RENEWALS=off leaves it to the command, and what is no schedule is refused', async () => {
  const slug = await company();
  await using server = await serve({ ...environment(), RENEWALS: 'off' });
  server.signal('SIGTERM');
  const { code, stdout } = await server.ended;
  expect(code).toBe(0);
  expect(runsIn(stdout)).toEqual([]);
  expect(await notesOf(slug)).toBe(0);
  for (const RENEWALS of ['daily', '61 * * * *', '2026-01-01T00:00:00']) {
    expect(() => readConfig({ RENEWALS }, false)).toThrow(/^RENEWALS: expected a cron pattern/);
  }
});

/** The runs in a server's log. */
const runsIn = (log: string): { slot: string; issued: number; failed: string[] }[] =>
  log
    .split('\n')
    .filter((text) => text.includes('"renewals issued"'))
    .map((text) => JSON.parse(text));
