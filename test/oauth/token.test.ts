// /oauth/token and /oauth/revoke: lifetime of codes and tokens, how often they work, and what a second use causes.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  ACCESS_TOKEN_SECONDS,
  AUTHORIZATION_DAYS,
  CODE_SECONDS,
  REFRESH_TOKEN_SECONDS,
} from '../../platform/identity/grants.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';
import { callMcp, json, newApplication, pkce, REDIRECT, revoke, token, twin } from './application.ts';

let server: Server;
let acme: Company;
beforeAll(async () => {
  server = await startServer();
  acme = await server.company();
});
afterAll(() => server.stop());

const START = '2026-03-01T10:00:00Z';
const works = async (at: { url: string }, access: string) => (await callMcp(at, access)).status === 200;

/** A service with a test clock, and an application of a new company. */
async function still() {
  const clock = new TestClock(START);
  const own = await startServer({ clock });
  return { clock, own, application: await newApplication(own, await own.company()), [Symbol.asyncDispose]: own.stop };
}

describe('the exchange of a code', () => {
  test('[OAU-04] gives opaque tokens for an hour, which nobody may keep in a cache', async () => {
    const application = await newApplication(server, acme);
    const { status, body, headers } = await application.exchange(await application.newCode());
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^at_\w+_[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^rt_\w+_[\w-]{43}$/),
      scope: 'svc.read svc.write',
    });
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });

  test('[OAU-04] codes and tokens are kept as hashes only', async () => {
    const application = await newApplication(server, acme);
    const code = await application.newCode();
    const { access, refresh } = await application.connect();
    const { rows } = await server.service.database.pool.query<{ text: string; hash: Buffer }>(
      'select t::text as text, hash from oauth_tokens t',
    );
    expect(rows.length).toBeGreaterThan(3);
    for (const secret of [code.code, access, refresh]) {
      const random = secret.slice(-43);
      expect(rows.filter(({ text, hash }) => text.includes(random) || hash.includes(random))).toEqual([]);
    }
  });

  test('[OAU-04] a code is good for 60 seconds', async () => {
    await using world = await still();
    const { clock, application } = world;
    const [early, late] = [await application.newCode(), await application.newCode()];
    clock.advance({ milliseconds: 1000 * CODE_SECONDS - 1 });
    expect((await application.exchange(early)).status).toBe(200);
    clock.advance({ milliseconds: 1 });
    expect(await application.exchange(late)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(CODE_SECONDS).toBe(60);
  });

  test('[OAU-04] the second use of a code is refused and ends what the first one gave', async () => {
    const application = await newApplication(server, acme);
    const code = await application.newCode();
    const { body } = await application.exchange(code);
    const bystander = await application.connect();
    expect(await works(server, body.access_token)).toBe(true);
    expect((await application.exchange(code)).body.error).toBe('invalid_grant');
    expect(await works(server, body.access_token)).toBe(false);
    expect((await application.renew(body.refresh_token)).body.error).toBe('invalid_grant');
    expect(await works(server, bystander.access)).toBe(true);
  });

  test('[OAU-04] also when the code has expired in the meantime', async () => {
    await using world = await still();
    const { clock, own, application } = world;
    const code = await application.newCode();
    const { body } = await application.exchange(code);
    clock.advance({ minutes: 10 });
    expect((await application.exchange(code)).body.error).toBe('invalid_grant');
    expect(await works(own, body.access_token)).toBe(false);
  });

  test('[OAU-04] of many uses at once, on two processes, one is answered at most, and what it got is dead afterwards', async () => {
    const application = await newApplication(server, acme);
    await using second = await twin(server);
    const code = await application.newCode();
    const parameters = {
      grant_type: 'authorization_code',
      code: code.code,
      code_verifier: code.verifier,
      redirect_uri: REDIRECT,
      client_id: application.clientId,
    };
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => token(n % 2 ? server : second, parameters)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const { body } of given) {
      expect(await works(server, body.access_token)).toBe(false);
      expect((await application.renew(body.refresh_token)).status).toBe(400);
    }
    for (const { status, body } of answers) if (status !== 200) expect(body.error).toBe('invalid_grant');
  });

  test('[OAU-04] a code is nothing without its verifier, and one wrong try uses it up', async () => {
    const application = await newApplication(server, acme);
    for (const verifier of [undefined, '', pkce().verifier, 'short']) {
      const code = await application.newCode();
      const wrong = await application.exchange(code, { code_verifier: verifier });
      expect([wrong.status, wrong.body.error]).toEqual([
        400,
        verifier === 'short' ? 'invalid_request' : 'invalid_grant',
      ]);
      expect((await application.exchange(code)).body.error).toBe('invalid_grant');
    }
  });

  test('[OAU-07] the redirect URI has to be the one of the authorization', async () => {
    const application = await newApplication(server, acme);
    for (const uri of [`${REDIRECT}/`, `${REDIRECT}?`, 'https://evil.example/', 'no URI']) {
      const { status, body } = await application.exchange(await application.newCode(), { redirect_uri: uri });
      expect([uri, status, body.error]).toEqual([uri, 400, 'invalid_grant']);
    }
    const without = await application.exchange(await application.newCode(), { redirect_uri: undefined });
    expect(without.body.error).toBe('invalid_request');
  });

  test('[OAU-04] a code is its own application’s', async () => {
    const application = await newApplication(server, acme);
    const thief = await newApplication(server, acme);
    const code = await application.newCode();
    expect((await thief.exchange(code)).body.error).toBe('invalid_grant');
    expect((await application.exchange(code)).status).toBe(200);
  });

  test('[OAU-04] [TEN-01] a code or token that names another company does not exist there', async () => {
    const [other, application] = [await server.company(), await newApplication(server, acme)];
    const moved = (secret: string) => secret.replace(/_\d+_/, `_${other.id}_`);
    const code = await application.newCode();
    expect((await application.exchange({ ...code, code: moved(code.code) })).body.error).toBe('invalid_grant');
    const { access, refresh } = await application.connect();
    expect(await works(server, moved(access))).toBe(false);
    expect((await application.renew(moved(refresh))).body.error).toBe('invalid_grant');
    for (const forged of ['ac_0_', 'ac_-1_', 'ac_99999999999999999999_', "ac_1'_", 'ac__', '_']) {
      const attempt = await application.exchange({ ...code, code: forged + 'x'.repeat(43) });
      expect([attempt.status, attempt.body.error]).toEqual([400, 'invalid_grant']);
    }
    expect(await works(server, access)).toBe(true);
  });
});

describe('what got into other hands', () => {
  /** The warnings of a new service, with an application that it knows. */
  async function watched() {
    const clock = new TestClock(START);
    const log: string[] = [];
    const own = await startServer({ clock, logTo: (line) => log.push(line) });
    const application = await newApplication(own, await own.company());
    const warnings = () => log.filter((line) => JSON.parse(line).level === 40).map((line) => JSON.parse(line));
    return { clock, own, log, warnings, application, [Symbol.asyncDispose]: own.stop };
  }

  test('[OAU-04] a code used twice is one warning in the log, without the secrets', async () => {
    await using world = await watched();
    const { own, log, warnings, application } = world;
    const code = await application.newCode();
    const { body } = await application.exchange(code);
    expect(warnings()).toEqual([]);
    const [{ id }] = (
      await own.service.database.pool.query('select id from grants where client_id = $1', [application.clientId])
    ).rows;
    await Promise.all(Array.from({ length: 4 }, () => application.exchange(code)));
    await application.exchange(code);
    expect(warnings()).toMatchObject([
      { client: application.clientId, grant: id, msg: 'a code was used twice: its authorization ended' },
    ]);
    for (const secret of [code.code, code.verifier, body.access_token, body.refresh_token]) {
      expect(log.join()).not.toContain(secret.slice(-43));
    }
  });

  test('[OAU-04] a refresh token used twice is one warning, unless the application’s own processes raced', async () => {
    await using world = await watched();
    const { clock, log, warnings, application } = world;
    const { refresh } = await application.connect();
    await application.renew(refresh);
    await application.renew(refresh);
    expect(warnings()).toEqual([]);
    clock.advance({ seconds: 11 });
    await application.renew(refresh);
    await application.renew(refresh);
    expect(warnings()).toMatchObject([
      {
        client: application.clientId,
        grant: expect.any(Number),
        msg: 'a refresh token was used twice: its authorization ended',
      },
    ]);
    expect(log.join()).not.toContain(refresh.slice(-43));
  });
});

describe('the endpoint', () => {
  test('[OAU-07] takes a form by POST, and two kinds of grant', async () => {
    const application = await newApplication(server, acme);
    const get = await json(`${server.url}/oauth/token?grant_type=authorization_code`);
    expect([get.status, get.body.error, get.headers.get('allow')]).toEqual([405, 'invalid_request', 'POST']);
    for (const [type, body] of [
      ['application/json', JSON.stringify({ grant_type: 'authorization_code' })],
      ['text/plain', 'grant_type=authorization_code'],
      ['application/json', '{'],
    ] as const) {
      const answer = await json(`${server.url}/oauth/token`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.body.error).toBe('invalid_request');
    }
    expect((await token(server, {})).body.error).toBe('invalid_request');
    for (const grant_type of ['password', 'client_credentials', 'implicit', 'constructor', '__proto__']) {
      const { status, body } = await token(server, {
        grant_type,
        client_id: application.clientId,
        username: application.person.email,
        password: 'una contraseña larga',
      });
      expect([status, body.error]).toEqual([400, 'unsupported_grant_type']);
    }
  });

  test('[OAU-07] refuses a client that is unknown or that brings a secret, and parameters that come twice', async () => {
    const application = await newApplication(server, acme);
    const code = await application.newCode();
    const unknown = await application.exchange(code, { client_id: 'nobody' });
    expect([unknown.status, unknown.body.error]).toEqual([400, 'invalid_client']);
    expect((await application.exchange(code, { client_id: undefined })).body.error).toBe('invalid_client');
    expect((await application.exchange(code, { client_secret: 'x' })).body.error).toBe('invalid_client');
    const basic = await token(
      server,
      { grant_type: 'authorization_code', code: code.code, code_verifier: code.verifier, redirect_uri: REDIRECT },
      { authorization: `Basic ${btoa(`${application.clientId}:secret`)}` },
    );
    expect([basic.status, basic.body.error]).toEqual([401, 'invalid_client']);
    const twice = await json(`${server.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams([
        ['grant_type', 'authorization_code'],
        ['grant_type', 'refresh_token'],
      ]),
    });
    expect([twice.status, twice.body.error]).toEqual([400, 'invalid_request']);
    expect((await application.exchange(code)).status).toBe(200);
  });

  test('[OAU-04] a resource, where one is named, has to be the connector', async () => {
    const application = await newApplication(server, acme);
    const code = await application.newCode();
    const foreign = await application.exchange(code, { resource: 'https://evil.example/mcp' });
    expect([foreign.status, foreign.body.error]).toEqual([400, 'invalid_target']);
    const { status, body } = await application.exchange(code, { resource: `${server.url}/mcp/` });
    expect(status).toBe(200);
    expect((await application.renew(body.refresh_token, { resource: 'https://evil.example' })).body.error).toBe(
      'invalid_target',
    );
    expect((await application.renew(body.refresh_token, { resource: server.url })).status).toBe(200);
  });

  test('a database that is away is said to be so, and leaves the refresh token as it was', async () => {
    const application = await newApplication(server, acme);
    const { refresh } = await application.connect();
    await using broken = await twin(server);
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7'), { code: 'ECONNREFUSED' });
    vi.spyOn(broken.service.database, 'transaction').mockRejectedValue(refused);
    const away = await token(broken, {
      grant_type: 'refresh_token',
      refresh_token: refresh,
      client_id: application.clientId,
    });
    expect(away).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
    expect(JSON.stringify(away.body)).not.toMatch(/ECONN|10\.0/);
    expect((await application.renew(refresh)).status).toBe(200);
  });
});

describe('renewal', () => {
  test('[OAU-04] an access token dies after an hour, and the refresh token gives another', async () => {
    await using world = await still();
    const { clock, own, application } = world;
    const { access, refresh } = await application.connect();
    clock.advance({ milliseconds: 1000 * ACCESS_TOKEN_SECONDS - 1 });
    expect(await works(own, access)).toBe(true);
    clock.advance({ milliseconds: 1 });
    expect(await works(own, access)).toBe(false);
    const { body } = await application.renew(refresh);
    expect(body).toMatchObject({ expires_in: 3600, scope: 'svc.read svc.write' });
    expect(body.refresh_token).not.toBe(refresh);
    expect(await works(own, body.access_token)).toBe(true);
  });

  test('[OAU-04] a renewed refresh token is dead at once; who comes within ten seconds is refused and nothing more', async () => {
    await using world = await still();
    const { clock, own, application } = world;
    const { refresh } = await application.connect();
    const { body } = await application.renew(refresh);
    clock.advance({ seconds: 10 });
    expect((await application.renew(refresh)).body.error).toBe('invalid_grant');
    expect(await works(own, body.access_token)).toBe(true);
    expect((await application.renew(body.refresh_token)).status).toBe(200);
  });

  test('[OAU-04] later, the use of a renewed refresh token ends the whole family', async () => {
    await using world = await still();
    const { clock, own, application } = world;
    const { access, refresh } = await application.connect();
    const { body: second } = await application.renew(refresh);
    const { body: third } = await application.renew(second.refresh_token);
    const bystander = await application.connect();
    clock.advance({ seconds: 10, milliseconds: 1 });
    expect((await application.renew(refresh)).body.error).toBe('invalid_grant');
    for (const dead of [access, second.access_token, third.access_token]) expect(await works(own, dead)).toBe(false);
    expect((await application.renew(third.refresh_token)).body.error).toBe('invalid_grant');
    expect(await works(own, bystander.access)).toBe(true);
  });

  test('[OAU-04] of many renewals at once, on two processes, one succeeds', async () => {
    const application = await newApplication(server, acme);
    await using second = await twin(server);
    const { refresh } = await application.connect();
    const parameters = { grant_type: 'refresh_token', refresh_token: refresh, client_id: application.clientId };
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => token(n % 2 ? server : second, parameters)));
    const [given, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(await works(second, given?.body.access_token)).toBe(true);
    expect((await application.renew(given?.body.refresh_token)).status).toBe(200);
  });

  test('[OAU-04] a wider scope is refused, and the refresh token survives it; a narrower one is for one hour', async () => {
    const application = await newApplication(server, acme);
    const reader = await application.connect({ write: false });
    for (const scope of ['svc.read svc.write', 'svc.write', 'svc.admin']) {
      const { status, body } = await application.renew(reader.refresh, { scope });
      expect([status, body.error]).toEqual([400, 'invalid_scope']);
    }
    expect((await application.renew(reader.refresh)).body.scope).toBe('svc.read');
    const writer = await application.connect();
    const { body: narrow } = await application.renew(writer.refresh, { scope: 'svc.read' });
    expect(narrow.scope).toBe('svc.read');
    expect((await application.renew(narrow.refresh_token)).body.scope).toBe('svc.read svc.write');
  });

  test('[OAU-04] a refresh token is its own application’s, and no access token is one', async () => {
    const application = await newApplication(server, acme);
    const thief = await newApplication(server, acme);
    const { access, refresh } = await application.connect();
    for (const attempt of [
      await thief.renew(refresh),
      await application.renew(access),
      await application.exchange({ code: refresh, verifier: pkce().verifier }),
    ]) {
      expect([attempt.status, attempt.body.error]).toEqual([400, 'invalid_grant']);
    }
    expect((await application.renew(refresh, { client_secret: 'x' })).body.error).toBe('invalid_client');
    expect((await application.renew(refresh)).status).toBe(200);
  });

  test('[OAU-04] an authorization that nobody renews ends after thirty days', async () => {
    await using world = await still();
    const { clock, application } = world;
    const [early, late] = [await application.connect(), await application.connect()];
    clock.advance({ milliseconds: 1000 * REFRESH_TOKEN_SECONDS - 1 });
    const { body } = await application.renew(early.refresh);
    clock.advance({ milliseconds: 1 });
    expect((await application.renew(late.refresh)).body.error).toBe('invalid_grant');
    expect((await application.renew(body.refresh_token)).status).toBe(200);
  });

  test('[OAU-04] after a year an authorization ends, however often it was renewed', async () => {
    await using world = await still();
    const { clock, application } = world;
    const begun = clock.now();
    let { refresh } = await application.connect();
    const end = begun.add({ hours: 24 * AUTHORIZATION_DAYS });
    while (Temporal.Instant.compare(clock.now().add({ hours: 24 * 29 }), end) < 0) {
      clock.advance({ hours: 24 * 29 });
      refresh = (await application.renew(refresh)).body.refresh_token;
    }
    clock.set(end.subtract({ seconds: 1 }).toString());
    const { status, body } = await application.renew(refresh);
    expect(status).toBe(200);
    clock.advance({ seconds: 1 });
    expect((await application.renew(body.refresh_token)).body.error).toBe('invalid_grant');
  });
});

describe('revocation', () => {
  test('[OAU-05] ends the authorization by either token, and answers 200 whether or not it exists', async () => {
    const application = await newApplication(server, acme);
    const client_id = application.clientId;
    for (const kind of ['access', 'refresh'] as const) {
      const tokens = await application.connect();
      for (const hint of [undefined, 'access_token', 'nonsense']) {
        const { status, body } = await revoke(server, { token: tokens[kind], token_type_hint: hint, client_id });
        expect([status, body]).toEqual([200, '']);
      }
      expect(await works(server, tokens.access)).toBe(false);
      expect((await application.renew(tokens.refresh)).body.error).toBe('invalid_grant');
    }
    for (const unknown of ['x', `at_${acme.id}_${'x'.repeat(43)}`, `rt_1_${'x'.repeat(43)}`]) {
      expect((await revoke(server, { token: unknown, client_id })).status).toBe(200);
    }
    expect((await revoke(server, { client_id })).body.error).toBe('invalid_request');
    const tokens = await application.connect();
    expect((await revoke(server, { token: tokens.access })).status).toBe(200);
    expect(await works(server, tokens.access)).toBe(false);
  });

  test('[OAU-05] another application’s token stays', async () => {
    const application = await newApplication(server, acme);
    const thief = await newApplication(server, acme);
    const { access } = await application.connect();
    expect((await revoke(server, { token: access, client_id: thief.clientId })).status).toBe(200);
    expect(await works(server, access)).toBe(true);
  });
});
