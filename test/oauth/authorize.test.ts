// /oauth/authorize: what the person sees, what the application gets, and what happens to forged forms. Discovery and registration
// come first.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { readConfig } from '../../server/config.ts';
import { ownDatabase } from '../helpers/own-database.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';
import { authorizeAddress, callMcp, json, newApplication, pkce, REDIRECT, register, rpc } from './application.ts';
import { Browser, decide, fieldOf, newPerson, signIn, unescaped } from './person.ts';

let server: Server;
let acme: Company;
beforeAll(async () => {
  server = await startServer();
  acme = await server.company();
});
afterAll(() => server.stop());

/** An IPv6 network without registrations. */
const newNetwork = () => `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}`;

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
/** The parameters of a WWW-Authenticate challenge. */
const challengeOf = (headers: Headers) =>
  Object.fromEntries(
    [...(headers.get('www-authenticate') ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );

describe('discovery', () => {
  test('[OAU-01] the connector without credentials says where to begin and which permissions there are', async () => {
    for (const path of ['/mcp', '/mcp/']) {
      const { status, headers } = await callMcp(server, undefined, rpc('tools/list'), { path });
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer /);
      expect(challengeOf(headers)).toEqual({
        scope: 'svc.read svc.write',
        resource_metadata: `${server.url}${WELL_KNOWN}${path}`,
      });
    }
  });

  test('[OAU-01] from there to the authorization server: each document names the next, and itself as it was asked for', async () => {
    for (const path of ['', '/mcp', '/mcp/']) {
      const { status, body, headers } = await json(`${server.url}${WELL_KNOWN}${path}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        resource: `${server.url}${path}`,
        authorization_servers: [server.url],
        scopes_supported: ['svc.read', 'svc.write'],
        bearer_methods_supported: ['header'],
      });
      expect(headers.get('access-control-allow-origin')).toBe('*');
    }
    const { body } = await json(`${server.url}/.well-known/oauth-authorization-server`);
    expect(body).toMatchObject({
      issuer: server.url,
      authorization_endpoint: `${server.url}/oauth/authorize`,
      token_endpoint: `${server.url}/oauth/token`,
      registration_endpoint: `${server.url}/oauth/register`,
      revocation_endpoint: `${server.url}/oauth/revoke`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      scopes_supported: ['svc.read', 'svc.write'],
    });
  });

  test('[OAU-01] the documents are the same whatever Host a request names', async () => {
    await using known = await startServer({ baseUrl: 'https://albaran.example' });
    const { body } = await json(`${known.url}/.well-known/oauth-authorization-server`);
    expect(body.issuer).toBe('https://albaran.example');
  });

  test('[OAU-01] pages of any origin may ask, a preflight too, and read the challenge', async () => {
    await using open = await startServer({ corsOrigins: ['https://app.example'] });
    for (const { url } of [server, open]) {
      for (const path of [WELL_KNOWN, `${WELL_KNOWN}/mcp`, '/.well-known/oauth-authorization-server']) {
        const { headers } = await json(url + path, { headers: { origin: 'https://any.example' } });
        expect(headers.get('access-control-allow-origin'), path).toBe('*');
        const preflight = await json(url + path, {
          method: 'OPTIONS',
          headers: { origin: 'https://any.example', 'access-control-request-method': 'GET' },
        });
        expect([preflight.status, preflight.headers.get('access-control-allow-origin')], path).toEqual([204, '*']);
      }
      for (const path of ['/oauth/register', '/oauth/token', '/oauth/revoke']) {
        const preflight = await json(url + path, {
          method: 'OPTIONS',
          headers: { origin: 'https://any.example', 'access-control-request-method': 'POST' },
        });
        expect([preflight.status, preflight.headers.get('access-control-allow-origin')], path).toEqual([204, '*']);
        expect(preflight.headers.get('access-control-allow-methods')).toBe('POST');
        expect(preflight.headers.get('access-control-allow-headers')).toContain('Content-Type');
        const answer = await json(url + path, { method: 'POST', headers: { origin: 'https://any.example' } });
        expect([answer.status, answer.headers.get('access-control-allow-origin')], path).toEqual([400, '*']);
      }
    }
    const preflight = await json(`${open.url}/mcp`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example');
    const refused = await callMcp(open, undefined, rpc('tools/list'), { headers: { origin: 'https://app.example' } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
  });
});

describe('registration', () => {
  test('[OAU-02] gives an id and no secret, and says what was registered', async () => {
    const { status, body, headers } = await register(server, {
      redirect_uris: ['https://app.example/cb?x=1', 'http://127.0.0.1:7777/cb', 'http://127.0.0.1/cb'],
      client_name: 'Mi asistente',
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'whatever',
      software_id: 'unknown to us',
    });
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      client_id: expect.stringMatching(/^[\w-]{22}$/),
      client_id_issued_at: expect.any(Number),
      client_name: 'Mi asistente',
      redirect_uris: ['https://app.example/cb?x=1', 'http://127.0.0.1:7777/cb', 'http://127.0.0.1/cb'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  });

  test.each([
    'http://app.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://127.1/cb',
    'http://0x7f000001/cb',
    'http://[::1]/cb',
    'http://localhost:8080/cb',
    'https://app.example/cb#fragment',
    'https://app.example/cb#',
    'https://user@app.example/cb',
    'http://user:pass@127.0.0.1/cb',
    'http://127.0.0.1@evil.example/cb',
    'https:\\\\evil.example/cb',
    'https://evil.example\\@app.example/cb',
    'https:///cb',
    'https://',
    'HTTPS://app.example/cb',
    'https://app.example/a b',
    'https://app.example/\ncb',
    'https://ápp.example/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'com.example.app:/cb',
    'cursor://anysphere/cb',
    '/cb',
    '',
    7,
    null,
  ])('[OAU-02] %j is no redirect URI', async (uri) => {
    const { status, body } = await register(server, { redirect_uris: [REDIRECT, uri] });
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri']);
  });

  test('[OAU-02] an empty list, none, and too many are refused; so is metadata that is none', async () => {
    const many = Array.from({ length: 11 }, (_, index) => `${REDIRECT}${index}`);
    for (const redirect_uris of [[], undefined, REDIRECT, many]) {
      expect((await register(server, { redirect_uris })).body.error).toBe('invalid_redirect_uri');
    }
    for (const metadata of [
      [],
      'text',
      { redirect_uris: [REDIRECT], client_name: 7 },
      { redirect_uris: [REDIRECT], grant_types: ['client_credentials'] },
      { redirect_uris: [REDIRECT], response_types: ['token'] },
    ]) {
      expect((await register(server, metadata)).body.error).toBe('invalid_client_metadata');
    }
    const broken = await json(`${server.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
    });
    expect([broken.status, broken.body.error]).toEqual([400, 'invalid_request']);
  });

  test('[OAU-02] an operator may allow localhost; the refusal says what to use instead', async () => {
    const localhost = { redirect_uris: ['http://localhost:3334/oauth/callback'] };
    expect((await register(server, localhost)).body.error_description).toContain('http://127.0.0.1');
    await using lax = await startServer({ oauth: { allowLocalhost: true } });
    expect((await register(lax, localhost)).status).toBe(201);
    expect((await register(lax, { redirect_uris: ['http://localhost.evil.example/cb'] })).status).toBe(400);
  });

  test('[OAU-02] an address may register so many an hour, and no more', async () => {
    const clock = new TestClock('2026-03-01T10:00:00Z');
    const { oauth } = readConfig({ OAUTH_REGISTRATIONS_PER_HOUR: '2' }, false);
    await using limited = await startServer({ clock, trustProxy: true, oauth });
    const from = (address: string) => register(limited, undefined, { 'x-forwarded-for': address });
    const network = newNetwork();
    expect([(await from(`${network}::1`)).status, (await from(`${network}::2`)).status]).toEqual([201, 201]);
    const refused = await from(`${network}:3::`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
    expect((await from(`${newNetwork()}::1`)).status).toBe(201);
    clock.advance({ hours: 1 });
    expect((await from(`${network}::1`)).status).toBe(201);
  });

  test('[OAU-02] [FAIR-04] registrations that come at once are counted one by one', async () => {
    await using limited = await startServer({ trustProxy: true, oauth: { registrationsPerHour: 10 } });
    const network = newNetwork();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        register(limited, undefined, { 'x-forwarded-for': `${network}::${index}` }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  });

  test('[OAU-02] [FAIR-04] all addresses together may register so many an hour', async () => {
    await using database = await ownDatabase();
    const { oauth } = readConfig({ OAUTH_REGISTRATIONS_TOTAL_PER_HOUR: '3' }, false);
    await using limited = await startServer({ database: { url: database.url }, trustProxy: true, oauth });
    const statuses = [];
    for (let index = 0; index < 5; index++) {
      statuses.push((await register(limited, undefined, { 'x-forwarded-for': `${newNetwork()}::1` })).status);
    }
    expect(statuses).toEqual([201, 201, 201, 429, 429]);
  });

  test('[OAU-02] an application that nobody authorised is forgotten after a day, one that somebody did is not', async () => {
    const clock = new TestClock('2026-03-01T10:00:00Z');
    await using later = await startServer({ clock });
    const used = await newApplication(later, acme);
    const { body: unused } = await register(later);
    await used.newCode();
    clock.advance({ hours: 25 });
    const { browser } = await newPerson(later, acme);
    const page = async (client_id: string) =>
      (await browser.get(authorizeAddress({ client_id, code_challenge: pkce().challenge }))).status;
    expect([await page(used.clientId), await page(unused.client_id)]).toEqual([200, 400]);
  });
});

describe('the page', () => {
  const asked = async (more: Record<string, string | undefined> = {}, metadata?: object) => {
    const { body } = await register(server, { redirect_uris: [more.redirect_uri ?? REDIRECT], ...metadata });
    return authorizeAddress({ client_id: body.client_id, code_challenge: pkce().challenge, ...more });
  };

  test('[OAU-03] who is not signed in does so first, and comes back to what was asked', async () => {
    const person = await newPerson(server, acme);
    const address = await asked();
    const browser = new Browser(server.url);
    const first = await browser.get(address);
    expect(first.status).toBe(303);
    const next = new URL(first.headers.get('location') ?? '', server.url).searchParams.get('next') ?? '';
    const location = await signIn(browser, person.email, 'una contraseña larga', next);
    expect(new URL(location, server.url).pathname).toBe('/oauth/authorize');
    expect((await browser.get(location)).status).toBe(200);
  });

  test('[OAU-03] names the application, where the answer goes, the company and each permission', async () => {
    const { browser } = await newPerson(server, acme);
    const address = await asked({ redirect_uri: 'https://app.example:8443/cb' }, { client_name: 'Mi asistente' });
    for (const [language, words] of [
      ['es', ['Autorizar', 'Consultar', 'No se puede quitar', 'Crear contactos y oportunidades']],
      ['en', ['Authorise', 'Read', 'be removed', 'Create contacts and opportunities']],
    ] as const) {
      const page = await (await browser.get(address, { 'accept-language': language })).text();
      for (const word of ['Mi asistente', 'app.example:8443', 'svc.read', 'svc.write', ...words]) {
        expect(page).toContain(word);
      }
    }
  });

  test('[OAU-03] names every area that svc.read reads', async () => {
    const named: Record<string, { es: string[]; en: string[] }> = {
      account: { es: ['consumo de la cuenta', 'actividad'], en: ['use of the account', 'activity'] },
      catalogue: { es: ['productos', 'existencias'], en: ['products', 'stock'] },
      clients: { es: ['Clientes'], en: ['Clients'] },
      crm: { es: ['CRM'], en: ['CRM'] },
      documents: { es: ['documentos'], en: ['documents'] },
      estimates: { es: ['presupuestos'], en: ['estimates'] },
      projects: { es: ['proyectos'], en: ['projects'] },
      purchases: { es: ['compras', 'proveedores'], en: ['purchases', 'suppliers'] },
      recurring: { es: ['servicios recurrentes'], en: ['recurring services'] },
      sales: { es: ['ventas'], en: ['sales'] },
      time: { es: ['plantilla', 'control horario'], en: ['staff', 'time control'] },
      treasury: { es: ['tesorería'], en: ['treasury'] },
    };
    const read = new Set(operations.filter(({ scope }) => scope === 'svc.read').map(({ area }) => area));
    expect(Object.keys(named).sort()).toEqual([...read].sort());
    const { browser } = await newPerson(server, acme);
    for (const language of ['es', 'en'] as const) {
      const page = await (await browser.get(await asked(), { 'accept-language': language })).text();
      const [, text = ''] = /<code>svc\.read<\/code><br><span class="quiet">([^<]+)</.exec(page) ?? [];
      for (const word of Object.values(named).flatMap((area) => area[language])) expect(text).toContain(word);
    }
  });

  test('[OAU-03] no frame shows it, nothing follows it, and only the application’s address takes its form', async () => {
    const { browser } = await newPerson(server, acme);
    const { headers } = await browser.get(await asked());
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' http://127.0.0.1:9;");
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('[OAU-02] a name full of HTML is text, and characters that hide others are gone', async () => {
    const { browser } = await newPerson(server, acme);
    const name = '<script>alert(1)</script>"\'&\u202Egnp.\u0000exe';
    const { body } = await register(server, { redirect_uris: [REDIRECT], client_name: name });
    const address = authorizeAddress({
      client_id: body.client_id,
      code_challenge: pkce().challenge,
      state: '"><script>',
    });
    const page = await (await browser.get(address)).text();
    expect(page).not.toContain('<script');
    for (const hidden of ['\u202E', '\u0000']) expect(page).not.toContain(hidden);
    expect(unescaped(page)).toContain('<script>alert(1)</script>"\'& gnp. exe');
  });

  test('[OAU-03] answers with a code, the state once and as it was, and who we are', async () => {
    const person = await newPerson(server, acme);
    const state = 'a b&c=d/ñ"%20';
    const back = await decide(person, await asked({ state }));
    expect(back.href.startsWith(`${REDIRECT}?`)).toBe(true);
    expect([...back.searchParams.keys()].toSorted()).toEqual(['code', 'iss', 'state']);
    expect(back.searchParams.get('state')).toBe(state);
    expect(back.searchParams.get('iss')).toBe(server.url);
    const without = await decide(person, await asked({ state: undefined }));
    expect([...without.searchParams.keys()].toSorted()).toEqual(['code', 'iss']);
  });

  test('[OAU-07] a redirect URI keeps the query that it was registered with', async () => {
    const person = await newPerson(server, acme);
    for (const uri of ['https://app.example/cb?tenant=a%20b&x', 'https://app.example/cb?', 'https://app.example']) {
      const back = await decide(person, await asked({ redirect_uri: uri }));
      const denied = await decide(person, await asked({ redirect_uri: uri }), { decision: 'deny' });
      const kept = new URL(uri).search.slice(1);
      expect(back.search.slice(1).startsWith(kept)).toBe(true);
      expect([back.searchParams.has('code'), denied.searchParams.get('error')]).toEqual([true, 'access_denied']);
      expect(denied.search.slice(1).startsWith(kept)).toBe(true);
      expect(denied.searchParams.get('state')).toBe('the state');
    }
  });

  test('[OAU-07] who does not agree is sent back with access_denied, the state and iss', async () => {
    const back = await decide(await newPerson(server, acme), await asked(), { decision: 'deny' });
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: 'access_denied',
      error_description: expect.any(String),
      state: 'the state',
      iss: server.url,
    });
  });

  test.each<[string, Record<string, string | undefined>, string]>([
    ['without a challenge', { code_challenge: undefined }, 'invalid_request'],
    ['with an empty challenge', { code_challenge: '' }, 'invalid_request'],
    ['with a challenge that is too short', { code_challenge: 'x'.repeat(42) }, 'invalid_request'],
    ['with a challenge that is too long', { code_challenge: 'x'.repeat(44) }, 'invalid_request'],
    ['with a challenge of other characters', { code_challenge: `${'x'.repeat(42)}~` }, 'invalid_request'],
    ['with plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['with a method in other letters', { code_challenge_method: 's256' }, 'invalid_request'],
    ['without a method', { code_challenge_method: undefined }, 'invalid_request'],
    ['for a token', { response_type: 'token' }, 'unsupported_response_type'],
    ['for a code and a token', { response_type: 'code token' }, 'unsupported_response_type'],
    ['without a response type', { response_type: undefined }, 'invalid_request'],
    ['to be answered in a fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['for another resource', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
    ['for another path', { resource: 'PATH' }, 'invalid_target'],
    ['for unknown permissions alone', { scope: 'svc.admin' }, 'invalid_scope'],
  ])('[OAU-03] [OAU-07] a request %s is sent back at once with %s', async (_name, more, error) => {
    const resource = more.resource === 'PATH' ? `${server.url}/api/v1` : more.resource;
    const address = await asked({ ...more, resource });
    for (const browser of [new Browser(server.url), (await newPerson(server, acme)).browser]) {
      const { status, headers } = await browser.get(address);
      const back = new URL(headers.get('location') ?? '');
      expect(status).toBe(303);
      expect(back.origin + back.pathname).toBe(REDIRECT);
      expect(back.searchParams.get('error')).toBe(error);
      expect(back.searchParams.get('state')).toBe('the state');
      expect(back.searchParams.get('iss')).toBe(server.url);
      expect(back.searchParams.has('code')).toBe(false);
    }
  });

  test('[OAU-07] a parameter that comes twice is no parameter', async () => {
    const { browser } = await newPerson(server, acme);
    const address = await asked();
    for (const twice of ['state=x', 'scope=svc.read', 'code_challenge=x', 'response_type=code']) {
      const { headers } = await browser.get(`${address}&${twice}`);
      expect(new URL(headers.get('location') ?? '').searchParams.get('error')).toBe('invalid_request');
    }
    for (const twice of ['client_id=x', `redirect_uri=${encodeURIComponent('https://evil.example')}`]) {
      const { status, headers } = await browser.get(`${address}&${twice}`);
      expect([status, headers.get('location')]).toEqual([400, null]);
    }
  });

  test('[OAU-07] an unknown application, and a redirect URI that differs in anything, are shown and never redirected to', async () => {
    const { browser } = await newPerson(server, acme);
    const registered = 'https://app.example/cb?a=1';
    const { body } = await register(server, { redirect_uris: [registered, 'http://127.0.0.1:7777/cb'] });
    const page = async (redirect_uri: string | undefined, client_id: string = body.client_id) =>
      browser.get(authorizeAddress({ client_id, redirect_uri, code_challenge: pkce().challenge }));
    for (const uri of [
      'https://app.example/cb/?a=1',
      'https://app.example/CB?a=1',
      'https://APP.example/cb?a=1',
      'https://app.example/cb?a=2',
      'https://app.example/cb?a=1&b=2',
      'https://app.example/cb',
      'https://app.example:443/cb?a=1',
      'https://app.example/cb?a=1#x',
      'https://app.example.evil.example/cb?a=1',
      'http://127.0.0.1:7778/cb',
      'http://127.0.0.1/cb',
      '',
      undefined,
    ]) {
      const { status, headers } = await page(uri);
      expect([uri, status, headers.get('location')]).toEqual([uri, 400, null]);
    }
    expect((await page(registered)).status).toBe(200);
    const unknown = await page('https://evil.example', 'nobody');
    expect([unknown.status, unknown.headers.get('location')]).toEqual([400, null]);
    expect(await unknown.text()).toContain('no está registrada');
  });

  test('[OAU-03] one of several companies is chosen, and the token is for that one alone', async () => {
    const other = await server.company();
    const application = await newApplication(server, acme, other);
    const page = await (
      await application.person.browser.get(
        authorizeAddress({ client_id: application.clientId, code_challenge: pkce().challenge }),
      )
    ).text();
    for (const { slug } of [acme, other]) expect(page).toContain(`value="${slug}"`);
    for (const company of [acme, other]) {
      const { access } = await application.connect({ company: company.slug });
      expect((await callMcp(server, access)).status).toBe(200);
      const { rows } = await server.service.database.pool.query(
        'select account_id from grants where user_id = $1 order by id desc limit 1',
        [application.person.userId],
      );
      expect(rows).toEqual([{ account_id: company.id }]);
    }
  });

  test('[OAU-03] who authorised what is noted in the company', async () => {
    const application = await newApplication(server, acme);
    await application.newCode();
    const { rows } = await server.service.database.pool.query(
      `select operation, door, record_id = (select max(id) from grants where user_id = $2) as it
       from audit_records where account_id = $1 and actor = 'user:' || $2`,
      [acme.id, application.person.userId],
    );
    expect(rows).toEqual([{ operation: 'connection authorize', door: 'pages', it: true }]);
  });

  test('[OAU-03] whoever belongs to no company can’t authorise anything', async () => {
    const { browser } = await newPerson(server);
    const { status, headers } = await browser.get(await asked());
    expect([status, headers.get('location')]).toEqual([403, null]);
  });

  test('[OAU-03] a form can’t choose a company of others, nor untick reading, nor add writing that was not asked for', async () => {
    const stranger = await server.company();
    const application = await newApplication(server, acme);
    const { browser } = application.person;
    const { verifier, challenge } = pkce();
    const address = authorizeAddress({ client_id: application.clientId, code_challenge: challenge, scope: 'svc.read' });
    const page = await (await browser.get(address)).text();
    expect(page).not.toContain('name="write"');
    const form = { csrf: fieldOf(page, 'csrf'), decision: 'allow', company: acme.slug };
    for (const company of [stranger.slug, String(stranger.id), '']) {
      const refused = await browser.post(address, { ...form, company });
      expect([refused.status, refused.headers.get('location')]).toEqual([403, null]);
    }
    const forged = await browser.post(address, { ...form, write: 'svc.write', read: '', scope: '', 'svc.read': 'off' });
    const code = new URL(forged.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const { body } = await application.exchange({ code, verifier });
    expect(body.scope).toBe('svc.read');
  });

  test('[OAU-03] svc.write is granted where it was asked for and left ticked', async () => {
    const application = await newApplication(server, acme);
    const scopeOf = async (options: Parameters<typeof application.newCode>[0]) =>
      (await application.exchange(await application.newCode(options))).body.scope;
    expect(await scopeOf({})).toBe('svc.read svc.write');
    expect(await scopeOf({ write: false })).toBe('svc.read');
    expect(await scopeOf({ scope: 'svc.write' })).toBe('svc.read svc.write');
    expect(await scopeOf({ scope: 'svc.write', write: false })).toBe('svc.read');
    expect(await scopeOf({ scope: 'svc.read offline_access' })).toBe('svc.read');
    expect(await scopeOf({ scope: ' ' })).toBe('svc.read');
  });

  test('[OAU-03] a form that did not come from our page grants nothing', async () => {
    const { browser } = await newPerson(server, acme);
    const mallory = await newPerson(server, acme);
    const address = await asked();
    const own = fieldOf(await (await browser.get(address)).text(), 'csrf');
    const hers = fieldOf(await (await mallory.browser.get(address)).text(), 'csrf');
    const form = { decision: 'allow', company: acme.slug };
    const attempts: [Record<string, string>, Record<string, string>][] = [
      [form, {}],
      [{ ...form, csrf: '' }, {}],
      [{ ...form, csrf: hers }, {}],
      [{ ...form, csrf: own }, { 'sec-fetch-site': 'cross-site' }],
    ];
    for (const [fields, headers] of attempts) {
      const { status, headers: answered } = await browser.post(address, fields, headers);
      expect([status, answered.get('location')]).toEqual([403, null]);
    }
    const stranger = new Browser(server.url);
    await stranger.get(address);
    expect((await stranger.post(address, { ...form, csrf: own })).status).toBe(403);
    expect((await browser.post(address, { ...form, csrf: own })).status).toBe(303);
  });

  test('[OAU-03] PKCE can’t be talked down in the form, where the address is what counts', async () => {
    const application = await newApplication(server, acme);
    const { browser } = application.person;
    const { challenge } = pkce();
    const address = authorizeAddress({ client_id: application.clientId, code_challenge: challenge });
    const csrf = fieldOf(await (await browser.get(address)).text(), 'csrf');
    const form = { csrf, decision: 'allow', company: acme.slug };
    const mine = 'm'.repeat(43);
    const more = { code_challenge: mine, code_challenge_method: 'plain', redirect_uri: 'https://evil.example' };
    const { headers } = await browser.post(address, { ...form, ...more });
    const back = new URL(headers.get('location') ?? '');
    expect(back.origin + back.pathname).toBe(REDIRECT);
    const exchanged = await application.exchange({ code: back.searchParams.get('code') ?? '', verifier: mine });
    expect(exchanged.body.error).toBe('invalid_grant');
  });

  test('[OAU-07] whoever is taken out of the company while deciding grants nothing', async () => {
    const { browser, userId } = await newPerson(server, acme);
    const address = await asked();
    const csrf = fieldOf(await (await browser.get(address)).text(), 'csrf');
    await server.service.database.transaction(acme.id, { write: true }, (db) =>
      db.deleteFrom('memberships').where('account_id', '=', acme.id).where('user_id', '=', userId).execute(),
    );
    const { status, headers } = await browser.post(address, { csrf, decision: 'allow', company: acme.slug });
    expect([status, headers.get('location')]).toEqual([403, null]);
  });
});
