// What a test stands on: a real server on a real database, and companies made from account-file records.
//
//   await using server = await startServer();
//   const acme = await server.company([{ coleccion: 'empleados', ref: 'ana', nombre: 'Ana' }]);
//   const { status, body } = await acme.get('/employees/times', { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' });
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { inject } from 'vitest';
import { importAccountFile } from '../../entities/account-file/import.ts';
import { createAccount } from '../../entities/account-file/new-account.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Service } from '../../platform/context.ts';
import { hashSecret, newKey } from '../../platform/principal.ts';
import { openService, type ServiceOptions } from '../../platform/service.ts';
import { type HttpOptions, makeHttp } from '../../server/http.ts';
import { poolerOptions } from './pgbouncer.ts';
import { roundRobin } from './round-robin.ts';

/** A record of an account file, without its `ref` where the test does not care. */
export type FileRecord = { coleccion: string; ref?: string; [field: string]: unknown };

export interface Answer {
  status: number;
  headers: Headers;
  /** The envelope. */
  // biome-ignore lint/suspicious/noExplicitAny: what a caller gets is JSON of no known shape; tests look into it freely
  body: { errorCode: number; errorMsg: string; data: any };
  text: string;
}

export interface CompanyOptions {
  /** Fields of the `cuenta` record: `zona_horaria`, `stock_multiformato`, `cuota_por_minuto`. */
  cuenta?: Record<string, unknown>;
  readOnly?: boolean;
}

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  #now: Temporal.Instant;
  constructor(now: string) {
    this.#now = Temporal.Instant.from(now);
  }
  now = () => this.#now;
  set(now: string) {
    this.#now = Temporal.Instant.from(now);
  }
  advance(duration: Temporal.DurationLike) {
    this.#now = this.#now.add(duration);
  }
}

export type ServerOptions = Partial<Omit<ServiceOptions, 'log'> & HttpOptions> & {
  logTo?: (line: string) => void;
  /**
   * One server whatever TEST_SERVERS says: for what a process knows of itself, and for what it refuses while the caller is
   * still sending, which does not get through the proxy.
   */
  alone?: boolean;
};

/** With TEST_SERVERS=2 what a test takes for one server are two that share a database and take its requests in turns. */
const SERVERS = Number(process.env.TEST_SERVERS ?? 1);

async function openServer(options: Omit<ServerOptions, 'alone'>) {
  const { logTo, corsOrigins = [], trustProxy = false, oauth, databaseQueue, database, ...rest } = options;
  const log = logTo ? pino({ level: 'info' }, { write: logTo }) : pino({ level: 'silent' });
  const service = await openService({
    database: { url: inject('databaseUrl'), ...poolerOptions(), ...database },
    checkOutputs: true,
    failedKeysPerMinute: 1_000_000,
    ...rest,
    log,
  });
  const http = await makeHttp(service, {
    corsOrigins,
    trustProxy,
    databaseQueue,
    oauth: { registrationsPerHour: 1_000_000, ...oauth },
  });
  const url = await http.listen({ host: '127.0.0.1', port: 0 });
  return { service, http, url };
}

export async function startServer({ alone = false, ...options }: ServerOptions = {}) {
  const first = await openServer(options);
  const others = await Promise.all(Array.from({ length: alone ? 0 : SERVERS - 1 }, () => openServer(options)));
  const servers = [first, ...others];
  const proxy = others.length > 0 ? await roundRobin(servers.map(({ url }) => ({ url: () => url }))) : undefined;
  const url = proxy ? `http://127.0.0.1:${proxy.port}` : first.url;
  for (const { service, http } of servers) {
    service.baseUrl ||= url;
    // Connections are what is given to the servers in turns: one that is told to end in a second is not used again.
    if (proxy) http.server.keepAliveTimeout = 1000;
  }
  const { service, http } = first;
  const stop = async () => {
    await Promise.all(servers.map((server) => server.http.close()));
    await Promise.all(servers.map((server) => server.service.close()));
    await proxy?.[Symbol.asyncDispose]();
  };
  return {
    url,
    service,
    http,
    stop,
    /** A new company with a key, holding these records. */
    company: (records: FileRecord[] = [], company: CompanyOptions = {}) => makeCompany(service, url, records, company),
    /** A plain request, for what is not an operation. */
    request: (path: string, init?: RequestInit) => request(url + path, init),
    [Symbol.asyncDispose]: stop,
  };
}

export type Server = Awaited<ReturnType<typeof startServer>>;
export type Company = Awaited<ReturnType<typeof makeCompany>>;

async function makeCompany(service: Service, url: string, records: FileRecord[], options: CompanyOptions) {
  const slug = `t-${randomUUID()}`;
  const { id } = await createAccount(service.database, { slug, name: 'Prueba' });
  const load = async (more: FileRecord[]) => {
    const cuenta = { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Prueba', ...options.cuenta };
    const lines = [cuenta, ...more].map((record, index) => JSON.stringify({ ref: `r${index}`, ...record }));
    await importAccountFile(service.database, id, lines);
  };
  await load(records);
  const headers = await newApiKey(service, id, options.readOnly !== true);
  const call = (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    request(url + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  return {
    id,
    slug,
    /** X-API-KEY and X-API-SECRET. */
    headers,
    /** Adds records, or changes those with the same collection and ref. */
    load,
    newKey: (readOnly = false) => newApiKey(service, id, !readOnly),
    get: (path: string, query: Record<string, unknown> = {}, more?: Record<string, string>) =>
      call('GET', `/api/v1${path}${queryString(query)}`, undefined, more),
    post: (path: string, body: unknown, more?: Record<string, string>) => call('POST', `/api/v1${path}`, body, more),
    put: (path: string, body: unknown, more?: Record<string, string>) => call('PUT', `/api/v1${path}`, body, more),
    /** The v0 alias. */
    alias: (name: string, body: unknown = {}, more?: Record<string, string>) => call('POST', `/${name}`, body, more),
  };
}

async function newApiKey(service: Service, accountId: number, canWrite: boolean) {
  const { key, secret } = newKey();
  await service.database.transaction(accountId, { write: true }, (db) =>
    db
      .insertInto('api_keys')
      .values({ account_id: accountId, key, secret_hash: hashSecret(secret), name: 'test', can_write: canWrite })
      .execute(),
  );
  return { 'x-api-key': key, 'x-api-secret': secret };
}

function queryString(query: Record<string, unknown>): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
  return text ? `?${text}` : '';
}

async function request(url: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') && text !== '';
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : null, text };
}
