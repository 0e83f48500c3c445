// X-IDEMPOTENCY-KEY: a repeated call happens once, however often, wherever and whenever it is repeated.
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { ownDatabase, untilWaiting } from '../helpers/own-database.ts';
import { startServerProcess } from '../helpers/server-process.ts';
import { tcpProxy } from '../helpers/tcp-proxy.ts';
import { type Answer, type Company, type FileRecord, type Server, startServer, TestClock } from '../helpers/world.ts';

const records: FileRecord[] = [
  {
    coleccion: 'funnels',
    ref: 'ventas',
    id: 701,
    titulo: 'Ventas',
    etapas: [{ ref: 'nueva', id: 711, titulo: 'Nueva' }],
  },
  { coleccion: 'oportunidades', ref: 'vieja', id: 801, titulo: 'Vieja', funnel: 'ventas', etapa: 'nueva' },
];
const opportunity = { datos: { funnel_fk: 701, etapa_fk: 711, descripcion: 'Feria' } };

const withKey = (key: string) => ({ 'x-idempotency-key': key });
const create = (company: Company, key: string, body: unknown = opportunity) =>
  company.post('/crm/opportunities', body, withKey(key));

/** The same call on another server. */
const createAt = (url: string, { headers }: Pick<Company, 'headers'>, key: string, body: unknown = opportunity) =>
  fetch(`${url}/api/v1/crm/opportunities`, {
    method: 'POST',
    headers: { ...headers, ...withKey(key), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed');

/** The number of opportunities, and of audited writes. */
async function created(server: Server, { id }: Pick<Company, 'id'>) {
  const { rows } = await server.service.database.pool.query(
    `select (select count(*)::int from opportunities where account_id = $1 and ref is null) as opportunities,
            (select count(*)::int from journal_entries where account_id = $1 and operation = 'crearOportunidad' and record_table = 'opportunities') as audited`,
    [id],
  );
  return rows[0];
}

function expectError(answer: Answer, status: number) {
  expect([answer.status, answer.body]).toEqual([
    status,
    { errorCode: status, errorMsg: expect.stringMatching(/\S/), data: status === 400 ? expect.anything() : null },
  ]);
  expect(replayed(answer)).toBeNull();
}

test('[W-09] Idempotency-Key is the same header, at every door that has headers; both must agree', async () => {
  await using server = await startServer();
  const acme = await server.company(records);
  const call = {
    v1: (more: Record<string, string>) => acme.post('/crm/opportunities', opportunity, more),
    v0: (more: Record<string, string>) => acme.alias('crearOportunidad', opportunity, more),
    trpc: (more: Record<string, string>) =>
      server.request('/trpc/opportunities.create', {
        method: 'POST',
        headers: { ...acme.headers, 'content-type': 'application/json', ...more },
        body: JSON.stringify({ json: opportunity }),
      }),
  };
  const first = await call.v1({ 'Idempotency-Key': 'k' });
  expect([first.status, replayed(first)]).toEqual([200, null]);
  for (const send of Object.values(call)) {
    const ways: Record<string, string>[] = [
      { 'Idempotency-Key': 'k' },
      { 'X-IDEMPOTENCY-KEY': 'k' },
      { 'Idempotency-Key': 'k', 'X-IDEMPOTENCY-KEY': 'k' },
      { 'Idempotency-Key': '', 'X-IDEMPOTENCY-KEY': 'k' },
    ];
    for (const same of ways) {
      const again = await send(same);
      expect([again.status, replayed(again)]).toEqual([200, 'true']);
      expect(again.text).toContain(String(first.body.data));
    }
    const apart = await send({ 'Idempotency-Key': 'other', 'X-IDEMPOTENCY-KEY': 'k' });
    expect(apart.status).toBe(400);
    expect(apart.text).toContain('X-IDEMPOTENCY-KEY no es válido: no coincide con Idempotency-Key');
    expect((await send({ 'Idempotency-Key': 'ñ' })).status).toBe(400);
  }
  expect(await created(server, acme)).toEqual({ opportunities: 1, audited: 1 });
});

describe('[IDEM-01] the same key and body', () => {
  test('give the first answer again, marked as such, and create nothing', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const key = randomUUID();
    const first = await create(acme, key);
    expect([first.status, replayed(first)]).toEqual([200, null]);
    const again = await create(acme, key);
    expect([again.status, replayed(again), again.text]).toEqual([200, 'true', first.text]);
    expect(await created(server, acme)).toEqual({ opportunities: 1, audited: 1 });

    // Through the alias, in another order, with ignored fields, with another API key of the company: the same call.
    const { descripcion, ...rest } = opportunity.datos;
    for (const answer of [
      await acme.alias('crearOportunidad', opportunity, withKey(key)),
      await create(acme, key, { datos: { descripcion: ` ${descripcion} `, ...rest, nada: 1 } }),
      await server.request('/crearOportunidad', {
        method: 'POST',
        headers: { ...(await acme.newKey()), ...withKey(key), 'content-type': 'application/json' },
        body: JSON.stringify(opportunity),
      }),
    ]) {
      expect([answer.status, replayed(answer), answer.body]).toEqual([200, 'true', first.body]);
    }
    expect(await created(server, acme)).toEqual({ opportunities: 1, audited: 1 });
  });

  test('without a key, or with another, each call is one of its own', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const numbers = new Set();
    for (const key of ['', '', randomUUID(), randomUUID()]) numbers.add((await create(acme, key)).body.data);
    numbers.add((await acme.post('/crm/opportunities', opportunity)).body.data);
    expect(numbers.size).toBe(5);
    expect(await created(server, acme)).toEqual({ opportunities: 5, audited: 5 });
  });

  test('fifty times at once on two processes create one', async () => {
    await using one = await startServer();
    await using other = await startServer();
    const acme = await one.company(records);
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => createAt(index % 2 ? one.url : other.url, acme, key)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    expect(await created(one, acme)).toEqual({ opportunities: 1, audited: 1 });
  });

  test('hold for every write there is', async () => {
    await using server = await startServer({ clock: new TestClock(EXAMPLE_NOW) });
    const writes = operations.filter(({ write }) => write);
    expect(writes.length).toBeGreaterThanOrEqual(4);
    for (const { path, alias } of writes) {
      const company = await server.company([...exampleRecords], { cuenta: exampleAccount });
      const key = randomUUID();
      const [first, again] = [
        await company.alias(alias, examples[path], withKey(key)),
        await company.alias(alias, examples[path], withKey(key)),
      ];
      expect([first.status, replayed(first)], path).toEqual([200, null]);
      expect([again.status, replayed(again), again.text], path).toEqual([200, 'true', first.text]);
    }
  });
});

test('[IDEM-01] [ENV-04] the same key with another body, or for another operation, is 422 and does nothing', async () => {
  await using server = await startServer();
  const acme = await server.company(records);
  const key = randomUUID();
  expect((await create(acme, key)).status).toBe(200);
  expectError(await create(acme, key, { datos: { ...opportunity.datos, descripcion: 'Otra' } }), 422);
  expectError(await create(acme, key, { datos: { ...opportunity.datos, empresa: 'Más' } }), 422);
  // Bodies are compared as sent: 701 and its sealed id name one funnel, but differ.
  const sealed = server.service.ids.seal(acme.id, 'funnel', 701);
  expectError(await create(acme, key, { datos: { ...opportunity.datos, funnel_fk: sealed } }), 422);
  expectError(await acme.put('/crm/opportunities/801/close', { resultado: 'ganado' }, withKey(key)), 422);
  expect(await created(server, acme)).toEqual({ opportunities: 1, audited: 1 });
  expect(replayed(await create(acme, key))).toBe('true');
});

test('[IDEM-01] [TEN-01] keys are the company’s own', async () => {
  await using server = await startServer();
  const [acme, other] = [await server.company(records), await server.company(records)];
  const key = randomUUID();
  const mine = await create(acme, key);
  const theirs = await create(other, key, { datos: { ...opportunity.datos, descripcion: 'Otra' } });
  expect([theirs.status, replayed(theirs)]).toEqual([200, null]);
  expect(theirs.body.data).not.toBe(mine.body.data);
});

test('[IDEM-01] a call that fails does not use its key up', async () => {
  await using database = await ownDatabase();
  await using server = await startServer({ database: { url: database.url } });
  const acme = await server.company(records);
  const key = randomUUID();
  expectError(await create(acme, key, {}), 400);
  expectError(await create(acme, key, { datos: { ...opportunity.datos, etapa_fk: 999 } }), 404);
  await database.admin.query('alter table opportunities rename column title to gone');
  expectError(await create(acme, key), 500);
  await database.admin.query('alter table opportunities rename column gone to title');
  const first = await create(acme, key);
  expect([first.status, replayed(first)]).toEqual([200, null]);
  // Now the key is used; bad input is still reported first.
  expectError(await create(acme, key, {}), 400);
  expect(replayed(await create(acme, key))).toBe('true');
  expect(await created(server, acme)).toEqual({ opportunities: 1, audited: 1 });
});

test('[IDEM-01] a key is free again after 24 hours', async () => {
  const clock = new TestClock('2026-03-28T12:00:00Z'); // a day of 23 hours in Madrid lies ahead
  await using server = await startServer({ clock });
  const acme = await server.company(records);
  const key = randomUUID();
  const first = await create(acme, key);
  clock.advance({ hours: 23, minutes: 59, seconds: 59 });
  expect([replayed(await create(acme, key))]).toEqual(['true']);
  clock.advance({ seconds: 1 });
  const later = await create(acme, key, { datos: { ...opportunity.datos, descripcion: 'Otra' } });
  expect([later.status, replayed(later)]).toEqual([200, null]);
  expect(later.body.data).not.toBe(first.body.data);
  // Then it is stored for as long again.
  clock.advance({ hours: 23 });
  expectError(await create(acme, key), 422);
});

test('[IDEM-01] [ENV-04] a key is up to 255 visible ASCII characters, else 400 and named', async () => {
  await using server = await startServer();
  const acme = await server.company(records);
  for (const key of ['k', 'k'.repeat(255), 'con espacio', '!"#$%&()*+,-./:;<=>?@[]^_`{|}~']) {
    expect((await create(acme, key)).status, key).toBe(200);
    expect(replayed(await create(acme, key)), key).toBe('true');
  }
  for (const key of ['k'.repeat(256), 'ñ', 'a\tb']) {
    const answer = await create(acme, key);
    expectError(answer, 400);
    expect(answer.body.data[0].campo).toBe('X-IDEMPOTENCY-KEY');
  }
});

test('[IDEM-01] a read does not care for keys', async () => {
  await using server = await startServer();
  const acme = await server.company(records);
  const key = randomUUID();
  const [one, other] = [
    await acme.get('/crm/funnels', {}, withKey(key)),
    await acme.get('/products', {}, withKey(key)),
  ];
  expect([one.status, other.status, replayed(one), replayed(other)]).toEqual([200, 200, null, null]);
  expect(replayed(await create(acme, key))).toBeNull();
});

describe('[IDEM-01] while the first call still runs,', () => {
  test('[ENV-04] the second waits for a while and is then told so by a 409; the key is not lost', async () => {
    await using database = await ownDatabase();
    const options = { database: { url: database.url } };
    await using server = await startServer({ ...options, idempotencyWaitMs: 150 });
    const acme = await server.company(records);
    const key = randomUUID();
    // A first call that another process has not finished.
    await database.admin.query(
      `begin; insert into idempotency_records (account_id, key, request_hash) values (${acme.id}, '${key}', 'x')`,
    );
    const answer = await create(acme, key);
    expectError(answer, 409);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    // Calls without that key don't wait.
    expect((await create(acme, randomUUID())).status).toBe(200);
    await database.admin.query('rollback');
    const first = await create(acme, key);
    expect([first.status, replayed(first)]).toEqual([200, null]);
  });

  test('the second waits and gets the first one’s answer', async () => {
    await using database = await ownDatabase();
    const options = { database: { url: database.url } };
    await using one = await startServer(options);
    await using other = await startServer(options);
    const acme = await one.company(records);
    const key = randomUUID();
    await database.admin.query('begin; lock table opportunities in share mode');
    const first = createAt(one.url, acme, key);
    await untilWaiting(database.admin);
    const second = createAt(other.url, acme, key);
    await untilWaiting(database.admin, 2);
    await database.admin.query('rollback');
    const [{ status }, again] = [await first, await second];
    expect([status, again.status, replayed(await first), replayed(again)]).toEqual([200, 200, null, 'true']);
    expect(await again.text()).toBe(await (await first).text());
    expect(await created(one, acme)).toEqual({ opportunities: 1, audited: 1 });
  });

  test('the second does the work when the first comes to nothing', async () => {
    await using database = await ownDatabase();
    await using server = await startServer({ database: { url: database.url } });
    const acme = await server.company(records);
    const key = randomUUID();
    await database.admin.query(
      `begin; insert into idempotency_records (account_id, key, request_hash) values (${acme.id}, '${key}', 'x')`,
    );
    const waiting = create(acme, key);
    await untilWaiting(database.admin);
    await database.admin.query('rollback');
    const answer = await waiting;
    expect([answer.status, replayed(answer)]).toEqual([200, null]);
    expect(await created(server, acme)).toEqual({ opportunities: 1, audited: 1 });
  });
});

describe('[IDEM-01] the server is killed', { timeout: 60_000 }, () => {
  test('after its work was committed and before its answer arrived: the repeated call gets that answer', async () => {
    await using here = await startServer();
    const acme = await here.company(records);
    const key = randomUUID();
    await using killed = await startServerProcess(inject('databaseUrl'));
    await using network = await tcpProxy({ host: '127.0.0.1', port: killed.port });
    const lost = network.swallowAnswers();
    const call = createAt(`http://127.0.0.1:${network.port}`, acme, key).catch((error: Error) => error);
    await lost;
    await killed.kill('SIGKILL');
    await network.cut();
    expect(await call).toBeInstanceOf(Error);
    const { rows } = await here.service.database.pool.query<{ id: number }>(
      'select id from opportunities where account_id = $1 and ref is null',
      [acme.id],
    );

    await using restarted = await startServerProcess(inject('databaseUrl'));
    const answer = await createAt(restarted.url, acme, key);
    expect([answer.status, replayed(answer)]).toEqual([200, 'true']);
    expect(await answer.json()).toEqual({ errorCode: 200, errorMsg: '', data: rows[0]?.id });
    expect(await created(here, acme)).toEqual({ opportunities: 1, audited: 1 });
  });

  /** A call whose server is killed while it waits for this table; and the repeated call, at another server. */
  async function killedAt(table: string) {
    await using database = await ownDatabase();
    await using here = await startServer({ database: { url: database.url } });
    const acme = await here.company(records);
    const key = randomUUID();
    await using killed = await startServerProcess(database.url);
    await database.admin.query(`begin; lock table ${table} in share mode`);
    const call = createAt(killed.url, acme, key).catch((error: Error) => error);
    await untilWaiting(database.admin);
    await killed.kill('SIGKILL');
    await database.admin.query('rollback');
    expect(await call).toBeInstanceOf(Error);

    await using restarted = await startServerProcess(database.url);
    const answer = await createAt(restarted.url, acme, key);
    return { answer, created: await created(here, acme) };
  }

  test('in the middle of its work: nothing of it is left, and the repeated call does it', async () => {
    const { answer, created } = await killedAt('idempotency_records');
    expect([answer.status, replayed(answer)]).toEqual([200, null]);
    expect(created).toEqual({ opportunities: 1, audited: 1 });
  });

  test('when the database has all of its statements: it may do them, and it is done once', async () => {
    const { answer, created } = await killedAt('opportunities');
    expect(answer.status).toBe(200);
    expect(created).toEqual({ opportunities: 1, audited: 1 });
  });
});
