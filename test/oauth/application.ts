// An application over HTTP: registers, authorizes, exchanges codes, renews, calls. Steps have defaults for what a test is not
// about.
import { createHash, randomBytes } from 'node:crypto';
import { type Company, type Server, startServer } from '../helpers/world.ts';
import { decide, newPerson, type Person, type Running } from './person.ts';

export const REDIRECT = 'http://127.0.0.1:9/callback';

export interface Pkce {
  verifier: string;
  challenge: string;
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export interface JsonAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of no known shape; tests look into it freely
  body: any;
}

export async function json(url: string, init?: RequestInit): Promise<JsonAnswer> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') && text !== '';
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

export const register = (server: { url: string }, metadata: unknown = { redirect_uris: [REDIRECT] }, headers = {}) =>
  json(`${server.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(metadata),
  });

/** A second process of the same service; people use the address of the first. */
export async function twin({ url }: { url: string }): Promise<Server> {
  const second = await startServer();
  second.service.baseUrl = url;
  return second;
}

type Parameters = Record<string, string | undefined>;

const present = (parameters: Parameters) =>
  new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** The authorization address for the person. */
export const authorizeAddress = (parameters: Parameters) =>
  `/oauth/authorize?${present({
    response_type: 'code',
    redirect_uri: REDIRECT,
    code_challenge_method: 'S256',
    scope: 'svc.read svc.write',
    state: 'the state',
    ...parameters,
  })}`;

export const token = (server: { url: string }, parameters: Parameters, headers = {}) =>
  json(`${server.url}/oauth/token`, { method: 'POST', headers, body: present(parameters) });

export const revoke = (server: { url: string }, parameters: Parameters) =>
  json(`${server.url}/oauth/revoke`, { method: 'POST', body: present(parameters) });

export interface Tokens {
  access: string;
  refresh: string;
}

export interface Application {
  clientId: string;
  person: Person;
  /** The code of a new authorization, with its verifier. */
  newCode(options?: { write?: boolean; company?: string; scope?: string }): Promise<{ code: string; verifier: string }>;
  exchange(code: { code: string; verifier: string }, more?: Parameters): Promise<JsonAnswer>;
  connect(options?: { write?: boolean; company?: string; scope?: string }): Promise<Tokens>;
  renew(refresh: string, more?: Parameters): Promise<JsonAnswer>;
}

/** A registered application and a person of these companies. */
export async function newApplication(server: Running, ...companies: Pick<Company, 'id'>[]): Promise<Application> {
  const { body } = await register(server);
  const clientId: string = body.client_id;
  const person = await newPerson(server, ...companies);
  const application: Application = {
    clientId,
    person,
    async newCode({ scope, ...options } = {}) {
      const { verifier, challenge } = pkce();
      const address = authorizeAddress({ client_id: clientId, code_challenge: challenge, ...(scope && { scope }) });
      const back = await decide(person, address, options);
      return { code: back.searchParams.get('code') ?? '', verifier };
    },
    exchange: ({ code, verifier }, more = {}) =>
      token(server, {
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        redirect_uri: REDIRECT,
        client_id: clientId,
        ...more,
      }),
    async connect(options) {
      const { status, body } = await application.exchange(await application.newCode(options));
      if (status !== 200) throw new Error(JSON.stringify(body));
      return { access: body.access_token, refresh: body.refresh_token };
    },
    renew: (refresh, more = {}) =>
      token(server, { grant_type: 'refresh_token', refresh_token: refresh, client_id: clientId, ...more }),
  };
  return application;
}

export const rpc = (method: string, params: object = {}, id = 1) => ({ jsonrpc: '2.0', id, method, params });
export const toolCall = (name: string, args: object = {}, id = 1) => rpc('tools/call', { name, arguments: args }, id);

/** One POST to the connector. */
export async function callMcp(
  server: { url: string },
  access: string | undefined,
  message: unknown = rpc('tools/list'),
  { path = '/mcp', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<JsonAnswer> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(access !== undefined && { authorization: `Bearer ${access}` }),
      ...headers,
    },
    body: JSON.stringify(message),
  });
  const text = await response.text();
  const data = text.startsWith('event:') ? (/^data: (.+)$/m.exec(text)?.[1] ?? '') : text;
  return { status: response.status, headers: response.headers, body: data === '' ? null : JSON.parse(data) };
}
