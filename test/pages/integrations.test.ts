// The integrations page of a company.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leaveCompany } from '../../platform/identity/users.ts';
import { areas } from '../../routers/index.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';
import { callMcp, newApplication, toolCall } from '../oauth/application.ts';
import { auditOf, type Browser, HOME, signedIn } from './browser.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const KEYS = `${HOME}/keys`;

/** Makes a key on the page and returns the next page. */
async function makeKey(browser: Browser, company: Company, fields: Record<string, string> = {}) {
  const page = `${HOME}?company=${company.slug}`;
  await browser.get(page);
  const sent = await browser.submit(KEYS, { company: company.slug, name: 'Tienda', scope: 'write', ...fields });
  const shown = sent.location ? await browser.get(sent.location.replace(/#.*/, '')) : sent;
  const [key = ''] = /ak_[\w-]{22}/.exec(shown.text) ?? [];
  const [secret = ''] = /sk_[\w-]{43}/.exec(shown.text) ?? [];
  const id = new RegExp(`${KEYS}/(\\d+)/revoke`).exec(shown.text)?.[1] ?? '';
  return { sent, shown, key, secret, id, page };
}

const call = (key: string, secret: string, path = '/api/v1/products', init: RequestInit = {}) =>
  server.request(path, { ...init, headers: { 'x-api-key': key, 'x-api-secret': secret, ...init.headers } });

test('[AUTH-03] a key made on the page works, shows its secret once, and stops when it is revoked', async () => {
  const company = await server.company();
  const { browser, person } = await signedIn(server, [{ accountId: company.id }]);
  const { sent, shown, key, secret, id, page } = await makeKey(browser, company);
  expect(sent.status).toBe(303);
  expect(sent.location).not.toContain('sk_');
  expect(shown.text).toContain(secret);
  expect((await call(key, secret)).status).toBe(200);
  const again = await browser.get(page);
  expect(again.text).toContain(key);
  expect(again.text).not.toContain('sk_');

  const revoked = await browser.submit(`${KEYS}/${id}/revoke`, { company: company.slug });
  expect(revoked.status).toBe(303);
  expect((await call(key, secret)).status).toBe(401);
  expect((await browser.get(revoked.location ?? '')).text).not.toContain(key);
  const actor = `user:${person.id}`;
  const about = { actor, door: 'pages', record_kind: 'apiKey', record_id: Number(id) };
  expect((await auditOf(server, company.id)).filter((record) => record.actor === actor)).toEqual([
    { ...about, operation: 'key create' },
    { ...about, operation: 'key revoke' },
  ]);
  expect((await browser.submit(`${KEYS}/${id}/revoke`, { company: company.slug })).status).toBe(404);
});

test('[AUTH-02] a key is read-only unless writing was chosen', async () => {
  const company = await server.company();
  const { browser } = await signedIn(server, [{ accountId: company.id }]);
  const write = (made: { key: string; secret: string }) =>
    call(made.key, made.secret, '/crearOportunidad', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
  const reader = await makeKey(browser, company, { scope: 'read' });
  expect((await call(reader.key, reader.secret)).status).toBe(200);
  expect((await write(reader)).status).toBe(403);
  const writer = await makeKey(browser, company);
  expect((await write(writer)).status).toBe(400);
});

test('a key works through its last day in the company’s time zone', async () => {
  const clock = new TestClock('2026-03-01T08:00:00Z');
  await using own = await startServer({ clock });
  const company = await own.company([], { cuenta: { zona_horaria: 'Atlantic/Canary' } });
  const { browser } = await signedIn(own, [{ accountId: company.id }]);
  const { key, secret } = await makeKey(browser, company, { expires: '2026-03-02' });
  const status = async () =>
    (await own.request('/api/v1/products', { headers: { 'x-api-key': key, 'x-api-secret': secret } })).status;
  clock.set('2026-03-02T23:59:59Z');
  expect(await status()).toBe(200);
  clock.set('2026-03-03T00:00:00Z');
  expect(await status()).toBe(401);
});

test.each([
  ['name', { name: ' ' }],
  ['name', { name: 'x'.repeat(81) }],
  ['expires', { expires: '2020-01-01' }],
  ['expires', { expires: '2999-02-29' }],
  ['expires', { expires: 'tomorrow' }],
])('what is wrong with a new key is said at its field: %s %j', async (field, fields) => {
  const company = await server.company();
  const { browser } = await signedIn(server, [{ accountId: company.id }]);
  const { sent } = await makeKey(browser, company, fields);
  expect(sent.status).toBe(400);
  expect(sent.text).toContain(`id="${field}-problem"`);
  expect(sent.text).not.toContain('sk_');
});

test('members see no keys and can’t make or revoke any, even with the form of an administrator', async () => {
  const company = await server.company();
  const admin = await signedIn(server, [{ accountId: company.id }]);
  const { key, secret, id } = await makeKey(admin.browser, company);
  const member = await signedIn(server, [{ accountId: company.id, role: 'member' }]);
  const page = await member.browser.get(HOME);
  expect(page.status).toBe(200);
  expect(page.text).not.toContain(key);
  expect(page.text).not.toContain(KEYS);
  const made = await member.browser.submit(KEYS, { company: company.slug, name: 'x', scope: 'write' });
  const revoked = await member.browser.submit(`${KEYS}/${id}/revoke`, { company: company.slug });
  expect([made.status, revoked.status]).toEqual([403, 403]);
  expect((await call(key, secret)).status).toBe(200);
});

test('[TEN-01] another company’s keys are out of reach, by its name and by their numbers', async () => {
  const mine = await server.company();
  const other = await server.company();
  const { browser } = await signedIn(server, [{ accountId: mine.id }]);
  const stranger = await signedIn(server, [{ accountId: other.id }]);
  const { key, secret, id } = await makeKey(stranger.browser, other);
  await browser.get(HOME);
  const answers = [
    await browser.get(`${HOME}?company=${other.slug}`),
    await browser.get(`${HOME}?company=nobody`),
    await browser.submit(KEYS, { company: other.slug, name: 'x' }),
    await browser.submit(`${KEYS}/${id}/revoke`, { company: other.slug }),
    await browser.submit(`${KEYS}/${id}/revoke`, { company: mine.slug }),
    await browser.submit(`${HOME}/connections/${id}/withdraw`, { company: mine.slug }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
  expect((await call(key, secret)).status).toBe(200);
});

test('with several companies one is chosen; each shows its own, and a new secret only in its own', async () => {
  const [one, two] = [await server.company(), await server.company()];
  const { browser } = await signedIn(server, [{ accountId: one.id }, { accountId: two.id, role: 'member' }]);
  expect(await browser.get(HOME)).toMatchObject({ status: 303, location: '/companies' });
  const choice = await browser.get('/companies');
  for (const { slug } of [one, two]) expect(choice.text).toContain(`company=${slug}`);

  await browser.get(`${HOME}?company=${one.slug}`);
  await browser.submit(KEYS, { company: one.slug, name: 'Tienda' });
  const elsewhere = await browser.get(`${HOME}?company=${two.slug}`);
  expect(elsewhere.text).not.toMatch(/ak_|sk_/);
});

test('who belongs to no company is told so', async () => {
  const { browser } = await signedIn(server, []);
  expect((await browser.get(HOME)).location).toBe('/companies');
  expect((await browser.get('/companies')).text).toContain('No pertenece a ninguna empresa');
});

test('[ISS-01] an administrator switches automatic issuing on and off; the page says since when, and what is due', async () => {
  const clock = new TestClock('2026-05-31T22:30:00Z'); // June in Madrid.
  await using own = await startServer({ clock });
  const line = { descripcion: 'Cuota', cantidad: 1, importe_unitario: 20 };
  const company = await own.company([
    { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL' },
    {
      coleccion: 'recurrentes',
      ref: 'r',
      descripcion: 'Cuota',
      cliente: 'cli',
      periodicidad: 'mensual',
      fecha_creacion: '2026-03-10',
      lineas: [line],
    },
  ]);
  const admin = await signedIn(own, [{ accountId: company.id }]);
  const member = await signedIn(own, [{ accountId: company.id, role: 'member' }]);
  const switched = (browser: Browser, state: string, slug = company.slug) =>
    browser.submit(`${HOME}/automatic-issuing`, { company: slug, state });
  const seen = async (browser: Browser) => {
    const { text } = await browser.get(HOME);
    const [section = ''] = /aria-labelledby="issuing".*?<\/section>/s.exec(text) ?? [];
    return { section, form: section.includes('<form') };
  };
  const off = await seen(admin.browser);
  expect(off.form).toBe(true);
  expect(off.section).toContain('Desactivada');
  expect(off.section).toContain('<strong>3</strong> renovaciones pendientes');

  expect((await switched(admin.browser, 'on')).status).toBe(303);
  expect((await seen(admin.browser)).section).toContain('<time datetime="2026-06-01">1 jun 2026</time>');
  expect((await company.get('/account')).body.data.emision_automatica).toBe(true);
  const theirs = await seen(member.browser);
  expect(theirs.form).toBe(false);
  expect(theirs.section).toContain('Activada');
  expect((await switched(member.browser, 'off')).status).toBe(403);
  const other = await own.company();
  expect((await switched(admin.browser, 'on', other.slug)).status).toBe(404);
  expect((await company.get('/account')).body.data.emision_automatica).toBe(true);

  expect((await switched(admin.browser, 'perhaps')).status).toBe(400);
  expect((await switched(admin.browser, 'off')).status).toBe(303);
  expect((await company.get('/account')).body.data.emision_automatica).toBe(false);
  const actor = `user:${admin.person.id}`;
  const { rows } = await own.service.database.pool.query(
    `select actor, door, operation, record_table, record_id, action from journal_entries
     where account_id = $1 and actor = $2 order by n`,
    [company.id, actor],
  );
  const about = { actor, door: 'pages', record_table: 'accounts', record_id: company.id, action: 'modify' };
  expect(rows).toEqual([
    { ...about, operation: 'automatic issuing on' },
    { ...about, operation: 'automatic issuing off' },
  ]);
});

/** An authorization as the authorization server stores it. */
const authorize = (company: Company, userId: number, clientName: string) =>
  server.service.database.transaction(company.id, { write: true }, async (db) => {
    const { id } = await db
      .insertInto('grants')
      .values({
        account_id: company.id,
        user_id: userId,
        client_id: 'client',
        client_name: clientName,
        redirect_host: 'assistant.example',
        can_write: false,
        resource: `${server.url}/mcp`,
        expires_at: '2999-01-01T00:00:00Z',
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  });

const liveGrants = (company: Company) =>
  server.service.database.transaction(company.id, {}, async (db) =>
    (
      await db
        .selectFrom('grants')
        .select('client_name')
        .where('account_id', '=', company.id)
        .where('revoked_at', 'is', null)
        .orderBy('id')
        .execute()
    ).map(({ client_name }) => client_name),
  );

test('[OAU-06] a person sees and withdraws their own connections, an administrator those of everybody', async () => {
  const company = await server.company();
  const admin = await signedIn(server, [{ accountId: company.id }]);
  const member = await signedIn(server, [{ accountId: company.id, role: 'member' }]);
  const theirs = await authorize(company, admin.person.id, 'Asistente <b>uno</b>');
  const own = await authorize(company, member.person.id, 'Asistente dos');
  const third = await authorize(company, member.person.id, 'Asistente tres');

  const seen = await member.browser.get(HOME);
  expect(seen.text).toContain('Asistente dos');
  expect(seen.text).not.toContain('uno');
  const all = await admin.browser.get(HOME);
  expect(all.text).toContain('Asistente &lt;b&gt;uno&lt;/b&gt;');
  expect(all.text).toContain('Asistente dos');

  const withdraw = (browser: Browser, id: number) =>
    browser.submit(`${HOME}/connections/${id}/withdraw`, { company: company.slug });
  expect((await withdraw(member.browser, theirs)).status).toBe(404);
  expect((await withdraw(member.browser, own)).status).toBe(303);
  expect((await withdraw(admin.browser, third)).status).toBe(303);
  expect(await liveGrants(company)).toEqual(['Asistente <b>uno</b>']);
  const withdrawn = (await auditOf(server, company.id)).filter(({ operation }) => operation === 'connection withdraw');
  expect(withdrawn).toMatchObject([
    { actor: `user:${member.person.id}`, door: 'pages', record_kind: 'grant', record_id: own },
    { actor: `user:${admin.person.id}`, door: 'pages', record_kind: 'grant', record_id: third },
  ]);
});

test('[OAU-06] whoever leaves a company sees it no more, and what they authorised there ends', async () => {
  const company = await server.company();
  const { browser, person } = await signedIn(server, [{ accountId: company.id }]);
  const stays = await signedIn(server, [{ accountId: company.id }]);
  await authorize(company, person.id, 'Suyo');
  await authorize(company, stays.person.id, 'Ajeno');
  await browser.get(HOME);
  const author = { actor: 'command', door: 'command', requestId: 'test' } as const;
  const leave = () => leaveCompany(server.service.database, { userId: person.id, accountId: company.id }, author);
  expect(await leave()).toBe(true);
  expect(await leave()).toBe(false);
  expect(await liveGrants(company)).toEqual(['Ajeno']);
  expect((await browser.get(`${HOME}?company=${company.slug}`)).status).toBe(404);
  expect((await browser.submit(KEYS, { company: company.slug, name: 'x' })).status).toBe(404);
});

test('the page tells the connector’s address and areas, and what of the quota this minute took', async () => {
  const clock = new TestClock('2026-03-01T08:00:10Z');
  await using own = await startServer({ alone: true, clock });
  const company = await own.company([], { cuenta: { cuota_por_minuto: 400 } });
  const { browser } = await signedIn(own, [{ accountId: company.id }]);
  for (let calls = 0; calls < 3; calls++) await company.get('/products');
  const { text } = await browser.get(HOME);
  expect(text).toContain(`<code>${own.url}/mcp/</code>`);
  expect(/<span id="areas">([^<]+)</.exec(text)?.[1]?.split(', ')).toEqual(Object.keys(areas));
  expect(text).toContain('<code>?modo=catalogo</code>');
  expect(text).toContain('<strong>3</strong> de 400 llamadas en este minuto');
  expect(text).toContain('quedan 50 s');
});

test('[LIM-01] the page tells the calls of the company’s day, and the last seven days once there is more than today', async () => {
  const clock = new TestClock('2026-02-27T23:30:00Z');
  await using own = await startServer({ alone: true, clock });
  const company = await own.company();
  const { browser, person } = await signedIn(own, [{ accountId: company.id }]);
  await company.get('/products');
  const first = await browser.get(HOME);
  expect(first.text).toContain('<strong>1</strong> llamada hoy');
  expect(first.text).not.toContain('<table');

  // 23:30 UTC is the 28th in Madrid.
  clock.set('2026-02-28T22:59:59Z');
  await company.get('/products');
  clock.set('2026-02-28T23:00:00Z');
  for (let calls = 0; calls < 4; calls++) await company.get('/products');
  await browser.signIn(person.email);
  const { text } = await browser.get(HOME);
  expect(text).toContain('<strong>4</strong> llamadas hoy');
  const rows = (page: string) =>
    [...page.matchAll(/<time datetime="([\d-]+)">([^<]+)<\/time><\/th>\n.*width="([\d.]+)%".*\n<td>(\d+)<\/td>/g)].map(
      ([, ...cells]) => cells,
    );
  expect(rows(text)).toEqual([
    ['2026-02-23', 'lun, 23 feb', '0', '0'],
    ['2026-02-24', 'mar, 24 feb', '0', '0'],
    ['2026-02-25', 'mié, 25 feb', '0', '0'],
    ['2026-02-26', 'jue, 26 feb', '0', '0'],
    ['2026-02-27', 'vie, 27 feb', '0', '0'],
    ['2026-02-28', 'sáb, 28 feb', '50', '2'],
    ['2026-03-01', 'Hoy', '100', '4'],
  ]);
  const english = await browser.get(HOME, { 'accept-language': 'en' });
  expect(english.text).toContain('<strong>4</strong> calls today');
  expect(rows(english.text).slice(-2)).toEqual([
    ['2026-02-28', 'Sat 28 Feb', '50', '2'],
    ['2026-03-01', 'Today', '100', '4'],
  ]);
});

test('what a key called: by day, by operation, what was refused; 429 and 403 too', async () => {
  const clock = new TestClock('2026-03-10T20:00:00Z');
  await using own = await startServer({ clock, alone: true });
  const company = await own.company([], { cuenta: { cuota_por_minuto: 6 } });
  const { browser } = await signedIn(own, [{ accountId: company.id }]);
  const page = `${HOME}?company=${company.slug}`;
  const { text } = await browser.get(page);
  const [, link = ''] = new RegExp(`href="(${KEYS}/\\d+\\?company=[^"]+)"`).exec(text) ?? [];
  expect((await browser.get(link)).text).toContain('Ninguna.');

  const reader = { ...(await company.newKey(true)), 'content-type': 'application/json' };
  await company.get('/products');
  await company.get('/products', { pagina: 0 });
  await company.get('/clients/1');
  const write = { method: 'POST', headers: reader, body: '{}' };
  expect((await own.request('/api/v1/clients', write)).status).toBe(403);
  clock.advance({ hours: 4 });
  // By every door, until the quota is spent.
  await company.alias('consultarProductos');
  await own.request('/trpc/products.list?input=%7B%22json%22%3A%7B%7D%7D', { headers: company.headers });
  for (let times = 0; times < 6; times++) await company.get('/products');
  const { rows } = await own.service.activity
    .flush(company.id)
    .then(() =>
      own.service.database.pool.query<{ actor: string; day: string; operation: string; status: number; calls: string }>(
        `select actor, day::text, operation, status, calls from call_counts where account_id = $1 order by actor, day, operation, status`,
        [company.id],
      ),
    );
  const [actor, other] = [...new Set(rows.map((row) => row.actor))];
  expect(rows.map((row) => [row.actor === actor, row.day, row.operation, row.status, Number(row.calls)])).toEqual([
    [true, '2026-03-10', 'consultarProductos', 200, 1],
    [true, '2026-03-10', 'consultarProductos', 400, 1],
    [true, '2026-03-10', 'obtenerCliente', 404, 1],
    [true, '2026-03-11', 'consultarProductos', 200, 6],
    [true, '2026-03-11', 'consultarProductos', 429, 2],
    [false, '2026-03-10', 'crearCliente', 403, 1],
  ]);
  expect(other).toMatch(/^key:/);
  const shown = (await browser.get(link)).text;
  expect(shown.match(/<g>/g)).toHaveLength(30);
  expect(shown).toContain('<strong>11</strong> llamadas');
  expect(shown).toContain('2 con 429 (cuota gastada)');
  expect(shown.replaceAll(/<[^>]+>/g, ' ')).toMatch(/consultarProductos\s+10\s+3\s+obtenerCliente\s+1\s+1/);

  const { browser: member } = await signedIn(own, [{ accountId: company.id, role: 'member' }]);
  expect((await member.get(link)).status).toBe(403);
  const stranger = await own.company();
  const { browser: elsewhere } = await signedIn(own, [{ accountId: stranger.id }]);
  expect((await elsewhere.get(link)).status).toBe(404);
  expect((await elsewhere.get(link.replace(company.slug, stranger.slug))).status).toBe(404);
});

test('what a connection called: its last calls, with the rows that they read; a member sees their own', async () => {
  await using own = await startServer({ alone: true });
  const company = await own.company([{ coleccion: 'clientes', ref: 'sol', nombre_fiscal: 'Sol' }]);
  const { access } = await (await newApplication(own, company)).connect();
  for (const call of [toolCall('consultar_clientes', {}), toolCall('crear_contacto', { datos: { nombre: 'Ana' } })]) {
    await callMcp(own, access, call);
  }
  const { browser } = await signedIn(own, [{ accountId: company.id }]);
  const { text } = await browser.get(`${HOME}?company=${company.slug}`);
  const [, link = ''] = new RegExp(`href="(${HOME}/connections/\\d+\\?company=[^"]+)"`).exec(text) ?? [];
  const shown = (await browser.get(link)).text.replaceAll(/<[^>]+>/g, ' ');
  expect(shown).toMatch(/crearContacto\s+escritura[\s\S]*consultarClientes\s+1\s/);
  const { browser: member } = await signedIn(own, [{ accountId: company.id, role: 'member' }]);
  expect((await member.get(link)).status).toBe(404);
});
