// API keys: who is admitted, who is refused, and what a call leaves behind.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { startServerProcess } from '../helpers/server-process.ts';
import { recordStatements } from '../helpers/statements.ts';
import { type Answer, type Company, type Server, startServer, TestClock } from '../helpers/world.ts';

const UNAUTHORIZED = {
  errorCode: 401,
  errorMsg: 'Error on service call: API key authentication required',
  data: null,
};

const dates = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' };
const times = `/api/v1/employees/times?${new URLSearchParams(dates)}`;

/** Calls the list of time entries with these headers instead of the company's. */
const call = (server: Server, headers: Record<string, string>) => server.request(times, { headers });

/** An address without failures in other tests; the server has to trust X-Forwarded-For. */
const newNetwork = () => `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}`;
const newAddress = () => ({ 'x-forwarded-for': `${newNetwork()}::1` });

const keyOf = ({ headers }: Company, server: Server) => ({
  set: (values: Record<string, unknown>) =>
    server.service.database.pool.query(
      `update api_keys set ${Object.keys(values).map((column, index) => `${column} = $${index + 2}`)} where key = $1`,
      [headers['x-api-key'], ...Object.values(values)],
    ),
  async read() {
    const { rows } = await server.service.database.pool.query('select * from api_keys where key = $1', [
      headers['x-api-key'],
    ]);
    return rows[0];
  },
});

/** The headers without those that differ for each call. */
const headersOf = ({ headers }: Answer) =>
  Object.fromEntries([...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'));

test('[AUTH-01] [ENV-03] nothing but a key and its own secret opens the door, and every other attempt gets the same answer', async () => {
  await using server = await startServer();
  const [acme, other] = [await server.company(), await server.company()];
  const { 'x-api-key': key, 'x-api-secret': secret } = acme.headers;
  expect((await call(server, acme.headers)).status).toBe(200);

  const attempts: Record<string, Record<string, string>> = {
    'no credentials': {},
    'a key alone': { 'x-api-key': key },
    'a secret alone': { 'x-api-secret': secret },
    'an empty secret': { 'x-api-key': key, 'x-api-secret': '' },
    'an empty key': { 'x-api-key': '', 'x-api-secret': secret },
    'a wrong secret': { 'x-api-key': key, 'x-api-secret': `${secret}x` },
    'a secret cut short': { 'x-api-key': key, 'x-api-secret': secret.slice(0, -1) },
    'a secret in other letters': { 'x-api-key': key, 'x-api-secret': secret.toUpperCase() },
    'an unknown key': { 'x-api-key': `${key}x`, 'x-api-secret': secret },
    'the secret of another company': { 'x-api-key': key, 'x-api-secret': other.headers['x-api-secret'] },
    'key and secret the wrong way round': { 'x-api-key': secret, 'x-api-secret': key },
    'a key twice': { 'x-api-key': `${key}, ${key}`, 'x-api-secret': secret },
    'a key that is SQL': { 'x-api-key': `'; select 1 --`, 'x-api-secret': secret },
    'a key that is an escape': { 'x-api-key': `\\'; select 1 --`, 'x-api-secret': secret },
    'a key that is a pattern': { 'x-api-key': '%', 'x-api-secret': '%' },
    'a key without end': { 'x-api-key': 'k'.repeat(8000), 'x-api-secret': secret },
    'bytes beyond ASCII': { 'x-api-key': 'clavé', 'x-api-secret': 'ñ' },
  };
  const usual = headersOf(await call(server, {}));
  for (const [name, headers] of Object.entries(attempts)) {
    const answer = await call(server, headers);
    expect([answer.status, answer.body], name).toEqual([401, UNAUTHORIZED]);
    expect(headersOf(answer), name).toEqual(usual);
  }
});

test('[AUTH-01] [ENV-09] every operation asks for credentials before anything else, by each of its paths and by its alias', async () => {
  await using server = await startServer();
  for (const { alias, routes } of operations) {
    for (const { method, path } of [
      ...routes.map(({ method, path }) => ({ method, path: `/api/v1${path}` })),
      { method: 'POST', path: `/${alias}` },
    ]) {
      const url = path.replace(/\{\w+\}/g, 'nothing');
      // The body is no JSON and parameters are missing: the key is checked first.
      const init = method === 'GET' ? {} : { body: '{', headers: { 'content-type': 'application/json' } };
      const answer = await server.request(url, { method, ...init });
      expect([answer.status, answer.body], `${method} ${path}`).toEqual([401, UNAUTHORIZED]);
    }
  }
});

test('[AUTH-02] a bearer token is no credential here, even one that is a secret', async () => {
  await using server = await startServer();
  const acme = await server.company();
  for (const token of ['x', acme.headers['x-api-secret'], acme.headers['x-api-key']]) {
    for (const path of [times, '/consultarFichajes']) {
      const answer = await server.request(path, {
        method: path === times ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${token}` },
      });
      expect([answer.status, answer.body]).toEqual([401, UNAUTHORIZED]);
    }
  }
});

test('[AUTH-03] a revoked key stops at once on every process, remembered or not', async () => {
  await using one = await startServer();
  await using other = await startServer();
  const acme = await one.company();
  for (const server of [one, other]) expect((await call(server, acme.headers)).status).toBe(200);

  await keyOf(acme, one).set({ revoked_at: new Date().toISOString() });

  for (const server of [one, other]) {
    for (const attempt of ['first', 'second']) {
      const answer = await call(server, acme.headers);
      expect([answer.status, answer.body], attempt).toEqual([401, UNAUTHORIZED]);
    }
  }
});

test('[AUTH-03] a revoked key stops at once on another process too, though that remembers it', async () => {
  await using here = await startServer();
  await using elsewhere = await startServerProcess(inject('databaseUrl'));
  const acme = await here.company();
  const callThere = () => fetch(elsewhere.url + times, { headers: acme.headers });
  expect((await callThere()).status).toBe(200);
  await keyOf(acme, here).set({ revoked_at: new Date().toISOString() });
  const answer = await callThere();
  expect([answer.status, await answer.json()]).toEqual([401, UNAUTHORIZED]);
});

test('[AUTH-03] [ENV-09] a key that was just revoked learns nothing but that: bad input, another’s ids and writes are 401 too', async () => {
  await using server = await startServer();
  const acme = await server.company();
  const use = {
    'bad input': (key: Record<string, string>) => server.request('/api/v1/employees/times', { headers: key }),
    'an unknown id': (key: Record<string, string>) => server.request('/api/v1/employees/99', { headers: key }),
    'what is no id': (key: Record<string, string>) => server.request('/api/v1/employees/nobody', { headers: key }),
    'a write': (key: Record<string, string>) =>
      server.request('/crearOportunidad', {
        method: 'POST',
        headers: { ...key, 'content-type': 'application/json' },
        body: '{}',
      }),
  };
  for (const [name, attempt] of Object.entries(use)) {
    const key = await acme.newKey(name === 'a write');
    expect((await call(server, key)).status).toBe(200);
    await server.service.database.pool.query('update api_keys set revoked_at = now() where key = $1', [
      key['x-api-key'],
    ]);
    const answer = await attempt(key);
    expect([answer.status, answer.body], name).toEqual([401, UNAUTHORIZED]);
  }
});

test('[AUTH-03] a key with an expiry works until then and no longer, on a process that remembers it too', async () => {
  const clock = new TestClock('2026-03-01T10:00:00Z');
  await using server = await startServer({ clock });
  const acme = await server.company();
  await keyOf(acme, server).set({ expires_at: '2026-03-01T10:00:02Z' });

  expect((await call(server, acme.headers)).status).toBe(200);
  clock.set('2026-03-01T10:00:01.999Z');
  expect((await call(server, acme.headers)).status).toBe(200);
  clock.set('2026-03-01T10:00:02Z');
  const remembered = await call(server, acme.headers);
  expect([remembered.status, remembered.body]).toEqual([401, UNAUTHORIZED]);

  await using fresh = await startServer({ clock });
  const unknown = await call(fresh, acme.headers);
  expect([unknown.status, unknown.body]).toEqual([401, UNAUTHORIZED]);
});

test('[AUTH-03] the last use of a key is noted, and a wrong secret is no use', async () => {
  const clock = new TestClock('2026-03-01T10:00:00Z');
  await using server = await startServer({ clock });
  const acme = await server.company();
  const lastUse = async () => {
    await server.service.keys.close();
    const { last_used_at } = await keyOf(acme, server).read();
    return last_used_at && Temporal.Instant.from(last_used_at).toString();
  };
  expect(await lastUse()).toBeNull();
  await call(server, { ...acme.headers, 'x-api-secret': 'wrong' });
  expect(await lastUse()).toBeNull();
  await call(server, acme.headers);
  expect(await lastUse()).toBe('2026-03-01T10:00:00Z');

  // Later another process records a newer use.
  clock.advance({ hours: 1 });
  await using other = await startServer({ clock });
  await call(other, acme.headers);
  await other.service.keys.close();
  expect(await lastUse()).toBe('2026-03-01T11:00:00Z');
});

test('[AUTH-03] a key that was right is found again with its company in one transaction, and changes of both show', async () => {
  await using server = await startServer({ alone: true });
  const { keys, database } = server.service;
  const acme = await server.company();
  const again = () => {
    keys.forget({ key: acme.headers['x-api-key'], secret: undefined, address: '' });
    return call(server, acme.headers);
  };
  expect((await again()).headers.get('ratelimit-policy')).toContain('q=1200;');
  await keys.close();
  const statements = recordStatements(server.service);
  await database.transaction(acme.id, { write: true }, (db) =>
    db.updateTable('accounts').set({ quota_per_minute: 77 }).where('id', '=', acme.id).execute(),
  );
  statements.take();
  expect((await again()).headers.get('ratelimit-policy')).toContain('q=77;');
  const begun = statements.take().filter(({ text }) => text.includes('set local app.'));
  // The key with its company, and the call itself: none looks for the key's company.
  expect(begun.map(({ text }) => text.includes('app.account_id'))).toEqual([true, true]);

  const refused = async (values: Record<string, unknown>) => {
    await keyOf(acme, server).set(values);
    expect((await again()).status).toBe(401);
  };
  await refused({ revoked_at: new Date() });
  await refused({ revoked_at: null, expires_at: new Date(0) });
  await refused({ expires_at: null, secret_hash: Buffer.alloc(32, 1) });
});

test('[AUTH-03] secrets are nowhere: not in any column of the database, not in the log', async () => {
  const log: string[] = [];
  await using server = await startServer({ logTo: (line) => log.push(line) });
  const acme = await server.company();
  const { 'x-api-key': key, 'x-api-secret': secret } = acme.headers;
  const wrong = `sk_${randomUUID()}`;
  expect((await call(server, acme.headers)).status).toBe(200);
  expect((await call(server, { 'x-api-key': key, 'x-api-secret': wrong })).status).toBe(401);
  expect((await acme.post('/crm/opportunities', {}, { 'x-idempotency-key': randomUUID() })).status).toBe(400);
  await server.service.keys.close();

  const { rows: columns } = await server.service.database.pool.query<{ table: string; column: string; type: string }>(
    `select table_name as table, column_name as column, data_type as type from information_schema.columns
     where table_schema = 'public' and data_type in ('text', 'character varying', 'jsonb', 'json', 'bytea')`,
  );
  expect(columns.length).toBeGreaterThan(100);
  for (const { table, column, type } of columns) {
    const has =
      type === 'bytea'
        ? `position(convert_to(v, 'utf8') in ${pg.escapeIdentifier(column)}) > 0`
        : `position(v in ${pg.escapeIdentifier(column)}::text) > 0`;
    const { rows } = await server.service.database.pool.query(
      `select v from ${pg.escapeIdentifier(table)}, unnest($1::text[]) v where ${has}`,
      [[secret, secret.slice(3), wrong]],
    );
    expect(rows, `${table}.${column}`).toEqual([]);
  }
  expect((await keyOf(acme, server).read()).secret_hash).toHaveLength(32);
  expect(log.length).toBeGreaterThan(0);
  for (const line of log) for (const text of [secret, wrong, key]) expect(line).not.toContain(text);
});

test('[AUTH-04] a key that may only read is 403 on every write, before its input is looked at, and reads as any other', async () => {
  await using server = await startServer();
  const acme = await server.company([], { readOnly: true });
  expect((await call(server, acme.headers)).status).toBe(200);
  const writes = operations.filter(({ write }) => write);
  expect(writes.length).toBeGreaterThan(0);
  for (const { alias, routes } of writes) {
    const ways = [
      ...routes.map(({ method, path }) => ({ method, path: `/api/v1${path}` })),
      { method: 'POST', path: `/${alias}` },
    ];
    for (const { method, path } of ways) {
      const answer = await server.request(path.replace(/\{\w+\}/g, '99'), {
        method,
        headers: { ...acme.headers, 'content-type': 'application/json' },
        body: '{',
      });
      expect([answer.status, answer.body], path).toEqual([
        403,
        { errorCode: 403, errorMsg: expect.stringContaining('svc.write'), data: null },
      ]);
    }
  }
});

describe('[AUTH-05] failed keys are limited by address:', () => {
  const guess = (server: Server, from: Record<string, string>) =>
    call(server, { ...from, 'x-api-key': 'ak_guess', 'x-api-secret': 'sk_guess' });

  test('after so many in a minute, 429 until the minute is over, on every process; good keys are let in', async () => {
    const clock = new TestClock('2026-03-01T10:00:00Z');
    const options = { clock, trustProxy: true, failedKeysPerMinute: 3 };
    await using server = await startServer(options);
    await using other = await startServer(options);
    const acme = await server.company();
    const from = newAddress();

    for (const each of [server, other, server]) expect((await guess(each, from)).status).toBe(401);
    clock.advance({ seconds: 18 });
    for (const each of [server, other]) {
      const limited = await guess(each, from);
      expect(limited.status).toBe(429);
      expect(limited.headers.get('retry-after')).toBe('42');
      expect(limited.body).toEqual({ errorCode: 429, errorMsg: expect.stringContaining('claves'), data: null });
    }
    // Failures of others never lock out a caller with a valid key, even at its first call.
    expect((await call(server, { ...acme.headers, ...from })).status).toBe(200);
    expect((await call(other, { ...(await acme.newKey()), ...from })).status).toBe(200);
    // And it does not reveal that the key exists.
    const wrongSecret = await call(server, { ...acme.headers, ...from, 'x-api-secret': 'sk_guess' });
    expect([wrongSecret.status, wrongSecret.headers.get('retry-after')]).toEqual([429, '42']);
    // Other networks are not affected.
    expect((await guess(server, newAddress())).status).toBe(401);

    clock.advance({ seconds: 42 });
    expect((await call(server, { ...acme.headers, ...from })).status).toBe(200);
    for (const each of [server, other, server]) expect((await guess(each, from)).status).toBe(401);
    expect((await guess(other, from)).status).toBe(429);
  });

  test('whoever is at work from there already goes on', async () => {
    await using server = await startServer({ trustProxy: true, failedKeysPerMinute: 2 });
    const acme = await server.company();
    const from = newAddress();
    expect((await call(server, { ...acme.headers, ...from })).status).toBe(200);
    for (const status of [401, 401, 429]) expect((await guess(server, from)).status).toBe(status);
    expect((await call(server, { ...acme.headers, ...from })).status).toBe(200);
  });

  test('an IPv6 network of 64 bits is one address, and one of IPv4 is itself however it is written', async () => {
    await using server = await startServer({ trustProxy: true, failedKeysPerMinute: 3 });
    const network = newNetwork();
    const from = (address: string) => guess(server, { 'x-forwarded-for': address }).then(({ status }) => status);
    const statuses = [];
    for (let host = 1; host <= 5; host++) statuses.push(await from(`${network}:${host}:${host}::${host}`));
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    const [a, b, c] = crypto.getRandomValues(new Uint8Array(3));
    const plain = `10.${a}.${b}.${c}`;
    expect([await from(plain), await from(`::ffff:${plain}`), await from(plain)]).toEqual([401, 401, 401]);
    expect([await from(`::ffff:${plain}`), await from(plain)]).toEqual([429, 429]);
  });

  test('those that come at once are counted one by one', async () => {
    await using server = await startServer({ trustProxy: true, failedKeysPerMinute: 20 });
    const from = newAddress();
    const answers = await Promise.all(Array.from({ length: 60 }, () => guess(server, from)));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(401), count(429)]).toEqual([20, 40]);
  });

  test('[FAIR-04] beyond the limit nothing is written, and what was wrong a moment ago is not looked up again', async () => {
    await using server = await startServer({ alone: true, trustProxy: true, failedKeysPerMinute: 1 });
    const from = newAddress();
    for (const status of [401, 429]) expect((await guess(server, from)).status).toBe(status);
    const statements = recordStatements(server.service);
    expect((await guess(server, from)).status).toBe(429);
    expect(statements.take()).toEqual([]);
    const other = { ...from, 'x-api-key': 'ak_other', 'x-api-secret': 'sk_other' };
    expect((await call(server, other)).status).toBe(429);
    const texts = statements.take().map(({ text }) => text);
    expect(texts.filter((text) => /insert|update/i.test(text))).toEqual([]);
  });

  test('access tokens that open nothing are counted with them', async () => {
    await using server = await startServer({ trustProxy: true, failedKeysPerMinute: 2 });
    const from = newAddress();
    const connect = (index: number) =>
      server.request('/mcp', {
        method: 'POST',
        headers: { ...from, authorization: `Bearer at_1_${String(index).padStart(43, 'x')}` },
      });
    const statuses = [];
    for (const index of [1, 2, 3]) statuses.push((await connect(index)).status);
    expect([...statuses, (await guess(server, from)).status]).toEqual([401, 401, 429, 429]);
  });

  test('a request without credentials is no guess', async () => {
    await using server = await startServer({ trustProxy: true, failedKeysPerMinute: 1 });
    const from = newAddress();
    for (let attempt = 0; attempt < 4; attempt++) expect((await call(server, from)).status).toBe(401);
    expect((await guess(server, from)).status).toBe(401);
    expect((await guess(server, from)).status).toBe(429);
  });

  test('without a proxy to be believed, the address is the connection’s own, whatever a header says', async () => {
    await using server = await startServer();
    const from = newAddress();
    expect((await guess(server, from)).status).toBe(401);
    const { rows } = await server.service.database.pool.query(
      'select address from failed_attempts where address = $1',
      [from['x-forwarded-for']],
    );
    expect(rows).toEqual([]);
  });
});

test('[AUTH-01] whatever is wrong with a key, the database is asked the same: no answer comes sooner than another', async () => {
  await using server = await startServer({ alone: true, trustProxy: true });
  const acme = await server.company();
  const revoked = await acme.newKey();
  const expired = await acme.newKey();
  const { pool } = server.service.database;
  await pool.query('update api_keys set revoked_at = now() where key = $1', [revoked['x-api-key']]);
  await pool.query('update api_keys set expires_at = now() where key = $1', [expired['x-api-key']]);
  const statements = recordStatements(server.service);
  const asked = async (headers: Record<string, string>) => {
    statements.take();
    expect((await call(server, { ...headers, ...newAddress() })).status).toBe(401);
    await server.service.keys.close();
    // The key itself contains one of them.
    return statements.take().map(({ text }) => text.replace(/'ak_[^']*'/, `'...'`));
  };

  const unknown = await asked({ 'x-api-key': 'ak_unknown', 'x-api-secret': 'sk_unknown' });
  expect(unknown.length).toBeGreaterThan(3);
  expect(await asked({ ...acme.headers, 'x-api-secret': 'sk_wrong' })).toEqual(unknown);
  expect(await asked(revoked)).toEqual(unknown);
  expect(await asked(expired)).toEqual(unknown);

  // The same with a key that is cached.
  expect((await call(server, acme.headers)).status).toBe(200);
  await server.service.keys.close();
  expect(await asked({ ...acme.headers, 'x-api-secret': 'sk_wrong' })).toEqual(unknown);
});

test('[TEN-01] the company is the key’s own: no parameter and no header changes it', async () => {
  await using server = await startServer();
  const employee = (nombre: string) => [{ coleccion: 'empleados', ref: 'e', nombre, apellidos: 'X' }];
  const [acme, other] = [await server.company(employee('Ana')), await server.company(employee('Otto'))];
  const mine = await acme.get('/employees/times', dates);
  const names = ['account_id', 'accountId', 'account', 'cuentaId', 'empresaId', 'empresa', 'tenant', 'company', 'slug'];
  const more = Object.fromEntries(
    names.flatMap((name) => [
      [name, other.id],
      [`${name}_fk`, other.slug],
    ]),
  );
  const headers = Object.fromEntries(names.map((name) => [`x-${name.replaceAll('_', '-')}`, String(other.id)]));
  const asked = await acme.get('/employees/times', { ...dates, ...more }, headers);
  expect(asked.body).toEqual(mine.body);
  for (const { alias, input } of operations) {
    for (const name of ['account_id', 'accountId', 'account', 'empresaId', 'tenant']) {
      expect(Object.keys(input.shape), alias).not.toContain(name);
    }
  }
});
