// The service behind PgBouncer in transaction mode with fewer backends than connections: every transaction may run on another backend,
// and those of two companies follow each other on one.
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { type PgBouncer, startPgBouncer } from '../helpers/pgbouncer.ts';
import { type Answer, type Company, type Server, startServer } from '../helpers/world.ts';
import { callMcp, newApplication, revoke, toolCall } from '../oauth/application.ts';
import { run, serve } from '../server/processes.ts';

vi.setConfig({ testTimeout: 60_000 });

const BACKENDS = 2;

let database: OwnDatabase;
let pooler: PgBouncer;
let server: Server;

const options = () => ({ database: { url: pooler.through(database.directUrl), prepare: false, poolSize: 10 } });

beforeAll(async () => {
  database = await ownDatabase();
  pooler = await startPgBouncer(database.directUrl, { poolSize: BACKENDS });
  server = await startServer(options());
});
afterAll(async () => {
  await server?.stop();
  await pooler?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const contact = (nombre: string) => ({ coleccion: 'contactos', nombre });
const create = (company: Company, nombre: string, more?: Record<string, string>) =>
  company.post('/crm/contacts', { datos: { nombre } }, more);
const namesIn = ({ status, body }: Answer): string[] => {
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data.contactos.map(({ nombre }: { nombre: string }) => nombre);
};
const names = async (company: Company) => namesIn(await company.get('/crm/contacts', { por_pagina: 1000 }));

/** The pooler's backends on this database. PostgreSQL's own workers, which vacuum at any time, are none of them. */
async function backends(): Promise<number> {
  const { rows } = await database.admin.query<{ count: number }>(
    `select count(*)::int from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  return rows[0]?.count ?? 0;
}

test('[TEN-02] twelve callers of six companies on two backends: each sees and writes its own, whatever fails in between', async () => {
  const companies = await Promise.all(
    Array.from({ length: 6 }, (_, index) => server.company([contact(`c${index} `), contact(`c${index} 0`)])),
  );
  const own = (index: number) => new RegExp(`^c${index}\\b`);
  const CALLS = 20;
  let most = 0;
  const caller = async (company: Company, index: number, name: string) => {
    for (let call = 0; call < CALLS; call++) {
      // In every order: a read, a write, a read that fails inside its transaction, and a write that does.
      const kind = (call * 7 + index) % 4;
      if (kind === 0) for (const found of await names(company)) expect(found).toMatch(own(index));
      if (kind === 1) expect((await create(company, `c${index} ${name}${call}`)).status).toBe(200);
      if (kind === 2) expect((await company.get('/crm/contacts/999999999')).status).toBe(404);
      if (kind === 3) {
        const opportunity = { funnel_fk: 1, etapa_fk: 1, descripcion: `c${index}` };
        expect((await company.post('/crm/opportunities', { datos: opportunity })).status).toBe(404);
      }
    }
  };
  let calling = true;
  const watched = (async () => {
    while (calling) most = Math.max(most, await backends());
  })();
  await Promise.all(companies.flatMap((company, index) => [caller(company, index, 'a'), caller(company, index, 'b')]));
  calling = false;
  await watched;
  expect(most, 'more connections than backends').toBe(BACKENDS);
  for (const [index, company] of companies.entries()) {
    const found = await names(company);
    for (const name of found) expect(name).toMatch(own(index));
    expect(found).toHaveLength(2 + (2 * CALLS) / 4);
  }

  // Settings of a transaction end with it, on every backend.
  const client = new pg.Client({ connectionString: pooler.through(database.directUrl) });
  await client.connect();
  for (let look = 0; look < 10; look++) {
    const { rows } = await client.query(
      `select current_user = session_user as itself, coalesce(current_setting('app.account_id', true), '') as company,
              current_setting('transaction_read_only') as read_only, current_setting('statement_timeout') as timeout`,
    );
    expect(rows).toEqual([{ itself: true, company: '', read_only: 'off', timeout: '0' }]);
  }
  await client.end();
});

test('every door answers, tRPC’s batches included', async () => {
  const acme = await server.company([contact('Ana')]);
  const headers = { ...acme.headers, 'content-type': 'application/json' };
  const post = (path: string, body: unknown, more = {}) =>
    server.request(path, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const batch = encodeURIComponent(
    JSON.stringify(Object.fromEntries(Array.from({ length: 10 }, (_, index) => [index, { json: {} }]))),
  );
  const answers = {
    v1: await acme.get('/crm/contacts'),
    v0: await acme.alias('consultarContactos'),
    tRPC: await server.request(`/trpc/${Array(10).fill('contacts.list').join(',')}?batch=1&input=${batch}`, {
      headers,
    }),
    mcp: await post('/mcp', toolCall('consultar_contactos'), { accept: 'application/json, text/event-stream' }),
  };
  for (const [door, { status, text }] of Object.entries(answers)) {
    expect([status, text.includes('Ana')], `${door}: ${text}`).toEqual([200, true]);
  }
});

test('[IDEM-01] calls with one key at once, by two processes, write once and get one answer', async () => {
  await using other = await startServer(options());
  const acme = await server.company();
  const init = {
    method: 'POST',
    headers: { ...acme.headers, 'content-type': 'application/json', 'x-idempotency-key': 'once' },
    body: JSON.stringify({ datos: { nombre: 'Ana' } }),
  };
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, index) => (index % 2 ? server : other).request('/crearContacto', init)),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(200);
  expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') !== 'true')).toHaveLength(1);
  expect(await names(acme)).toEqual(['Ana']);
});

test('[OAU-04] [OAU-05] an application is connected, calls, renews and is disconnected', async () => {
  const acme = await server.company([contact('Ana')]);
  const application = await newApplication(server, acme);
  const tokens = await application.connect();
  const { status, body } = await callMcp(server, tokens.access, toolCall('consultar_contactos'));
  expect([status, body.result?.structuredContent?.contactos?.[0]?.nombre]).toEqual([200, 'Ana']);
  const renewed = await application.renew(tokens.refresh);
  expect(renewed.status).toBe(200);
  expect((await revoke(server, { token: renewed.body.refresh_token, client_id: application.clientId })).status).toBe(
    200,
  );
  expect((await callMcp(server, renewed.body.access_token, toolCall('consultar_contactos'))).status).toBe(401);
});

test('[LIM-01] the quota is kept to the last call', async () => {
  const acme = await server.company([], { cuenta: { cuota_por_minuto: 7 } });
  const answers = await Promise.all(Array.from({ length: 20 }, () => acme.get('/crm/funnels')));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(13);
});

test('processes start at once on an empty database, with a direct way for what takes a session; commands run beside them', async () => {
  await using empty = await ownDatabase({ migrated: false });
  const env = {
    DATABASE_URL: pooler.through(empty.directUrl),
    DATABASE_DIRECT_URL: empty.directUrl,
    DATABASE_PREPARE: 'false',
    DEMO: 'true',
  };
  const [one, other] = await Promise.all([serve(env), serve(env)]);
  await using _one = one;
  await using _other = other;
  const made = await run(['key', 'create', '--account', 'demo', '--json'], env);
  expect(made.stderr).toBe('');
  const { key, secret } = JSON.parse(made.stdout);
  for (const { url } of [one, other]) {
    const answer = await fetch(`${url}/api/v1/products`, { headers: { 'x-api-key': key, 'x-api-secret': secret } });
    expect(answer.status).toBe(200);
  }
  const exported = await run(['export', '--account', 'demo'], env);
  expect([exported.code, exported.stdout.split('\n').length > 100]).toEqual([0, true]);
});
