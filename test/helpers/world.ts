// The usual setting of a test: a real server on a real database, and companies made from account-file records.
//
//   await using server = await startServer();
//   const acme = await server.company([{ coleccion: 'empleados', ref: 'ana', nombre: 'Ana' }]);
//   const { status, body } = await acme.get('/employees/times', { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' });
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { inject } from 'vitest';
import { z } from 'zod';
import { importAccountFile } from '../../account-file/import.ts';
import { createAccount } from '../../account-file/new-account.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Service } from '../../platform/context.ts';
import { hashSecret, newKey } from '../../platform/principal.ts';
import { openService, type ServiceOptions } from '../../platform/service.ts';
import { type HttpOptions, makeHttp } from '../../server/http.ts';
import { addApart, isApart } from './apart.ts';
import { poolerOptions } from './pgbouncer.ts';
import { roundRobin } from './round-robin.ts';

/** A record of an account file; `ref` may be left out. */
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
  /** Fields of the `cuenta` record (`zona_horaria`, `stock_multiformato`, `emision_automatica`) and the company's quota. */
  cuenta?: { cuota_por_minuto?: number; [field: string]: unknown };
  readOnly?: boolean;
}

/** A clock that moves only when a test moves it. */
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
   * One server whatever TEST_SERVERS says: for state of one process, and for refusals while the caller still sends, which the
   * proxy does not forward.
   */
  alone?: boolean;
};

/** With TEST_SERVERS=2 a test's server is two that share a database and take requests in turns. */
const SERVERS = Number(process.env.TEST_SERVERS ?? 1);

/** Prints the stack of a 500, since the answer has no cause; nothing else of the log. */
function showCause(line: string): void {
  const { err, msg } = logLine.parse(JSON.parse(line));
  if (err && !msg.includes('no está disponible')) console.error(err.stack);
}
const logLine = z.object({ err: z.object({ stack: z.string() }).optional(), msg: z.string() });

async function openServer(options: Omit<ServerOptions, 'alone'>) {
  const { logTo, corsOrigins = [], trustProxy = false, oauth, databaseQueue, apiContact, database, ...more } = options;
  const { giveUpAfterMs, unreadBytes, ...rest } = more;
  const log = logTo ? pino({ level: 'info' }, { write: logTo }) : pino({ level: 'error' }, { write: showCause });
  const service = await openService({
    database: { url: inject('databaseUrl'), ...poolerOptions(), ...database },
    checkOutputs: true,
    cacheBytes: 8_000_000,
    failedKeysPerMinute: 1_000_000,
    anonymousPerMinute: 1_000_000,
    ...rest,
    log,
  });
  const http = await makeHttp(service, {
    corsOrigins,
    trustProxy,
    databaseQueue,
    baseUrl: rest.baseUrl,
    apiContact,
    giveUpAfterMs,
    unreadBytes,
    oauth: { registrationsPerHour: 1_000_000, totalRegistrationsPerHour: 1_000_000, ...oauth },
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
    // The proxy balances by connection: fetch does not reuse one that announces to end within a second.
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
    /** Creates a company with a key and these records. */
    company: (records: FileRecord[] = [], company: CompanyOptions = {}) => makeCompany(service, url, records, company),
    /** A plain request, for paths that are no operations. */
    request: (path: string, init?: RequestInit) => request(url + path, init),
    [Symbol.asyncDispose]: stop,
  };
}

export type Server = Awaited<ReturnType<typeof startServer>>;
export type Company = Awaited<ReturnType<typeof makeCompany>>;

async function makeCompany(service: Service, url: string, records: FileRecord[], options: CompanyOptions) {
  const slug = `t-${randomUUID()}`;
  const quotaPerMinute = options.cuenta?.cuota_por_minuto;
  const { id } = await createAccount(service.database, { slug, name: 'Prueba', quotaPerMinute });
  const load = async (more: FileRecord[], company = options.cuenta) => {
    const cuenta = { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Prueba', ...company };
    const lines = [cuenta, ...more.filter((record) => !isApart(record))].map((record, index) =>
      JSON.stringify({ ref: `r${index}`, ...record }),
    );
    await importAccountFile(service.database, id, lines, { now: service.clock.now() });
    await addApart(service.database, id, more.filter(isApart));
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
    delete: (path: string, more?: Record<string, string>) => call('DELETE', `/api/v1${path}`, undefined, more),
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
