// The authorization server with existing clients: the SDK of the 2025 revisions, that of 2026-07-28, and a strict OpenID client,
// which checks what the others ignore (issuer, iss, scope, content types).
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { UnauthorizedError as LegacyUnauthorized } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Company, type Server, startServer } from '../helpers/world.ts';
import { callMcp, REDIRECT } from './application.ts';
import { Memory } from './memory.ts';
import { decide, newPerson } from './person.ts';

const JANUARY = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' };

let server: Server;
let acme: Company;
beforeAll(async () => {
  server = await startServer();
  acme = await server.company();
});
afterAll(() => server.stop());

interface Session extends AsyncDisposable {
  connect(): Promise<void>;
  finish(back: URL): Promise<void>;
  tools(): Promise<string[]>;
  call(): Promise<unknown>;
}

function legacy(memory: Memory, path: string): Session {
  const client = new LegacyClient({ name: 'test', version: '1' });
  const transport = new LegacyTransport(new URL(server.url + path), { authProvider: memory });
  return {
    connect: () => client.connect(transport),
    finish: (back) => transport.finishAuth(back.searchParams.get('code') ?? ''),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async () => (await client.callTool({ name: 'consultar_fichajes', arguments: JANUARY })).isError ?? false,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function modern(memory: Memory, path: string): Session {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const transport = new StreamableHTTPClientTransport(new URL(server.url + path), { authProvider: memory });
  return {
    connect: () => client.connect(transport),
    finish: (back) => transport.finishAuth(back.searchParams),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async () => (await client.callTool({ name: 'consultar_fichajes', arguments: JANUARY })).isError ?? false,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

describe.each([
  ['2025-11-25', legacy],
  ['2026-07-28', modern],
] as const)('the SDK of %s', (_revision, session) => {
  test.each(['/mcp', '/mcp/'])(
    '[OAU-01..04] at %s registers, asks for both permissions, lists, calls and renews',
    async (path) => {
      const memory = new Memory();
      const person = await newPerson(server, acme);
      await using first = session(memory, path);
      await expect(first.connect()).rejects.toSatisfy(
        (error) => error instanceof UnauthorizedError || error instanceof LegacyUnauthorized,
      );
      expect(memory.address?.searchParams.get('scope')).toBe('svc.read svc.write');
      expect(memory.address?.searchParams.get('resource')).toBe(server.url + path);
      await first.finish(await memory.answer(person));
      const before = memory.kept?.access_token;

      await using host = session(memory, path);
      await host.connect();
      expect(await host.tools()).toContain('crear_oportunidad');
      expect(await host.call()).toBe(false);

      // An expired access token is renewed without asking the person.
      memory.address = undefined;
      if (memory.kept) memory.kept = { ...memory.kept, access_token: 'expired' };
      expect(await host.call()).toBe(false);
      expect([memory.address, memory.kept?.access_token]).toEqual([undefined, expect.stringMatching(/^at_/)]);
      expect(memory.kept?.access_token).not.toBe(before);
    },
  );

  test('[OAU-06] withdrawn, it sends the person to authorise anew', async () => {
    const memory = new Memory();
    const person = await newPerson(server, acme);
    await using first = session(memory, '/mcp');
    await first.connect().catch(() => {});
    await first.finish(await memory.answer(person, { write: false }));
    await using host = session(memory, '/mcp');
    await host.connect();
    expect(await host.tools()).not.toContain('crear_oportunidad');
    await server.service.database.transaction(acme.id, { write: true }, (db) =>
      db
        .updateTable('grants')
        .set({ revoked_at: '2026-01-01T00:00:00Z' })
        .where('account_id', '=', acme.id)
        .where('user_id', '=', person.userId)
        .execute(),
    );
    memory.address = undefined;
    await expect(host.call()).rejects.toThrow();
    expect(memory.address).toBeInstanceOf(URL);
  });
});

describe('a strict client', () => {
  async function connected() {
    const plain = { execute: [openid.allowInsecureRequests] };
    const config = await openid.dynamicClientRegistration(
      new URL(server.url),
      { redirect_uris: [REDIRECT], client_name: 'Strict', token_endpoint_auth_method: 'none' },
      openid.None(),
      { ...plain, algorithm: 'oauth2' },
    );
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const address = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT,
      scope: 'svc.read svc.write',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      resource: `${server.url}/mcp`,
      state,
    });
    const person = await newPerson(server, acme);
    const agree = () => decide(person, address.pathname + address.search);
    const exchange = (back: URL) =>
      openid.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state });
    return { config, agree, exchange };
  }

  test('[OAU-01..05] discovers, registers, exchanges, renews and revokes', async () => {
    const { config, agree, exchange } = await connected();
    expect(config.serverMetadata()).toMatchObject({ issuer: server.url });
    const tokens = await exchange(await agree());
    expect([tokens.expires_in, tokens.scope]).toEqual([3600, 'svc.read svc.write']);
    const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect((await callMcp(server, renewed.access_token)).status).toBe(200);
    await expect(openid.refreshTokenGrant(config, 'rt_none')).rejects.toMatchObject({ error: 'invalid_grant' });
    await openid.tokenRevocation(config, renewed.access_token);
    expect((await callMcp(server, renewed.access_token)).status).toBe(401);
  });

  test('[OAU-07] an answer that names another issuer, or none, is seen through before its code is used (mix-up)', async () => {
    const { agree, exchange } = await connected();
    const back = await agree();
    for (const iss of ['https://evil.example', undefined]) {
      const forged = new URL(back);
      forged.searchParams.delete('iss');
      if (iss) forged.searchParams.set('iss', iss);
      await expect(exchange(forged)).rejects.toMatchObject({ cause: { message: expect.stringContaining('"iss"') } });
    }
    expect((await exchange(back)).access_token).toMatch(/^at_/);
  });

  test('[OAU-04] a code of somebody else’s, put into an answer, gets nothing (injection)', async () => {
    const victim = await connected();
    const attacker = await connected();
    const stolen = (await victim.agree()).searchParams.get('code') ?? '';
    const back = await attacker.agree();
    back.searchParams.set('code', stolen);
    await expect(attacker.exchange(back)).rejects.toMatchObject({ error: 'invalid_grant' });
  });
});
