// The settings of the process, parsed from the environment, with their defaults and descriptions. docs/configuration.md is
// generated from this schema (scripts/generate-docs.ts). Other code does not read settings from process.env.
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { Cron } from 'croner';
import { z } from 'zod';
import { isNif } from '../documents/verifactu/tax-ids.ts';
import { Failure } from './failure.ts';

declare module 'zod' {
  interface GlobalMeta {
    /** The allowed values; follows "expected" in messages. */
    expected?: string;
    /** A description of the default if it is not a fixed value. */
    standard?: string;
    /** Messages do not show its value. */
    secret?: boolean;
  }
}

const ROOT = resolve(import.meta.dirname, '..');
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const whole = (from: number, to: number, standard: number, description: string) =>
  z.coerce
    .number()
    .int()
    .min(from)
    .max(to)
    .default(standard)
    .meta({ expected: `a whole number from ${from} to ${to}`, description });

const isUrl = (text: string, ...schemes: string[]) => URL.canParse(text) && schemes.includes(new URL(text).protocol);
const databaseUrl = z.string().refine((text) => isUrl(text, 'postgres:', 'postgresql:'));
const isOrigin = (text: string) => isUrl(text, 'http:', 'https:') && new URL(text).origin === text;
const shortText = (most: number) => z.string().max(most).optional();
const httpUrl = z.string().refine((text) => isUrl(text, 'http:', 'https:'));
const isProxy = (text: string) => {
  const [address = '', bits = '0', ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0) return ['loopback', 'linklocal', 'uniquelocal'].includes(text);
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
};
const split = (text: string) => text.split(',').map((part) => part.trim());
const list = (item: z.ZodString) => z.string().transform(split).pipe(z.array(item));
const yesOrNo = z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] });
const isSchedule = (text: string) => {
  try {
    // croner would accept a date as a one-time schedule.
    return !/^\d{4}-/.test(text) && new Cron(text, { timezone: 'UTC', paused: true }).nextRun() !== null;
  } catch {
    return false;
  }
};
/** PostgreSQL's own limit is 100 connections. */
const poolOf = (workers: number) => Math.max(3, Math.min(10, Math.floor(80 / workers)));
const TRUE_OR_FALSE = '`true` or `false`';

/** The variables, in the order of docs/configuration.md. Unset and empty ones have their default. */
export const variables = z.object({
  DATABASE_URL: databaseUrl.optional().meta({
    expected: 'a postgres:// URL (special characters of its password percent-encoded)',
    standard: 'an embedded PostgreSQL 18',
    secret: true,
    description:
      'The PostgreSQL database. By default the service starts an embedded PostgreSQL with its data in `DATA_DIR`.',
  }),
  DATABASE_DIRECT_URL: databaseUrl.optional().meta({
    expected: 'a postgres:// URL (special characters of its password percent-encoded)',
    standard: '`DATABASE_URL`',
    secret: true,
    description:
      'The same database without a pooler, for migrations and scheduled work: they hold session locks, which PgBouncer in transaction mode does not support.',
  }),
  DATABASE_REPLICA_URL: databaseUrl.optional().meta({
    expected: 'a postgres:// URL (special characters of its password percent-encoded)',
    standard: 'none',
    secret: true,
    description:
      'A streaming replica of that database, or an address shared by several. It answers reads whose callers allow a lag with the header `X-Max-Lag: <seconds>`, while it is no further behind (the answer has `X-Lag`). Everything else goes to `DATABASE_URL`, and so do these reads while the replica is unavailable. Processes sample the database’s position every quarter of a second, so a lag below half a second is rarely achieved.',
  }),
  DATABASE_POOL: z.coerce.number().int().min(1).max(1000).optional().meta({
    expected: 'a whole number from 1 to 1000',
    standard: '10; with more than 8 workers they share 80, each at least 3',
    description:
      'The maximum number of database connections of one process, so of each worker (`WORKERS`); the same number again to a replica.',
  }),
  DATABASE_QUEUE: whole(
    1,
    100_000,
    200,
    'How many calls may wait for one of these connections; further ones are refused at once (503, `Retry-After: 1`). Half as many calls of one company may wait for the company’s own connections (`COMPANY_CONNECTIONS`).',
  ),
  COMPANY_CONNECTIONS: z.coerce.number().int().min(1).max(1000).optional().meta({
    expected: 'a whole number from 1 to 1000',
    standard: 'a third of `DATABASE_POOL`, at least 2',
    description:
      'How many of these connections one company may use at a time. Its other calls wait up to 10 s (then 503), so that no company blocks the others.',
  }),
  DATABASE_PREPARE: yesOrNo.default(true).meta({
    expected: TRUE_OR_FALSE,
    description:
      'Whether to use named prepared statements. Set `false` behind a pooler that does not support them (PgBouncer before 1.21 in transaction mode).',
  }),
  STATEMENT_TIMEOUT_MS: whole(100, 3_600_000, 30_000, 'Timeout of a call’s statements in milliseconds (503).'),
  CACHE_MB: whole(
    0,
    4096,
    32,
    'How many MB of answers one process keeps, to give them again while nothing of the company has changed; a company has a quarter of them at most. 0: none.',
  ),
  DATA_DIR: z.string().optional().meta({
    expected: 'a folder',
    standard: '`.albaran` in the project’s folder',
    description: 'Where the embedded PostgreSQL stores its data. Relative to the folder in which the command runs.',
  }),
  HOST: z
    .string()
    .refine((text) => isIP(text) !== 0 || /^[\w.-]+$/.test(text))
    .default('127.0.0.1')
    .meta({
      expected: 'an address or a host name',
      description: 'The address to listen on. `0.0.0.0` means all addresses of the machine.',
    }),
  PORT: whole(0, 65_535, 3000, 'The port to listen on; 0 means any free port.'),
  WORKERS: z
    .union([z.literal('auto').transform(() => availableParallelism()), z.coerce.number().int().min(1).max(256)])
    .default(1)
    .meta({
      expected: 'a whole number from 1 to 256, or `auto`',
      description:
        'How many processes answer calls on the port, each with up to one core. With 2 or more, a further process starts, watches and stops them (operations.md). `auto`: as many as there are cores.',
    }),
  BASE_URL: z
    .string()
    .transform((text) => text.replace(/\/$/, ''))
    .refine(isOrigin)
    .optional()
    .meta({
      expected: 'an http:// or https:// address without a path, such as https://api.example.com',
      standard: '`http://HOST:PORT`',
      description: 'The public address of the service, if it differs from the one it listens on.',
    }),
  API_CONTACT: z
    .string()
    .refine((text) => isUrl(text, 'http:', 'https:') || z.email().safeParse(text).success)
    .optional()
    .meta({
      expected: 'an e-mail address, or an http:// or https:// URL',
      standard: '`BASE_URL`',
      description: 'The contact for developers who use the API, shown in its OpenAPI description.',
    }),
  TRUST_PROXY: z
    .union([yesOrNo, list(z.string().refine(isProxy)).transform((proxies) => proxies.join(','))])
    .default(false)
    .meta({
      expected: '`true`, `false`, or addresses and networks separated by commas',
      description:
        'The proxies whose `X-Forwarded-For` is trusted for the caller’s address: all, none, or those listed (`10.0.0.0/8`; `loopback`, `linklocal` and `uniquelocal` are accepted names).',
    }),
  CORS_ORIGINS: list(z.string().refine(isOrigin)).default([]).meta({
    expected: 'origins such as https://app.example.com, separated by commas',
    standard: 'none',
    description: 'Origins whose pages may call the service from a browser.',
  }),
  REDIS_URL: z
    .string()
    .refine((text) => isUrl(text, 'redis:', 'rediss:'))
    .optional()
    .meta({
      expected: 'a redis:// or rediss:// URL',
      standard: 'quotas are counted in PostgreSQL',
      secret: true,
      description: 'A Redis that counts the quotas, for services with many calls.',
    }),
  ID_KEYS: list(z.string().min(32)).optional().meta({
    expected: 'keys of at least 32 characters each, separated by commas',
    standard: 'one is generated and stored in the database',
    secret: true,
    description:
      'The secrets that record ids are sealed with, newest first. Ids of an older key work while it is in the list. If a key that has sealed ids is missing, the service does not start until `albaran id-key forget` gives it up.',
  }),
  QUOTA_PER_MINUTE: whole(1, 10_000_000, 1200, 'Calls per minute for a company without its own quota.'),
  FAILED_KEYS_PER_MINUTE: whole(
    1,
    1_000_000,
    20,
    'Wrong API keys and access tokens per minute that one address may send (an IPv6 address counts as its /64 network); further ones get 429. Right ones are never refused because of them.',
  ),
  ANONYMOUS_PER_MINUTE: whole(
    1,
    10_000_000,
    600,
    'Requests without an API key (forms, registrations, token requests) per minute that one address (an IPv6 address counts as its /64 network) may send to one process. A vendor’s servers renew the tokens of many people from few addresses.',
  ),
  SHUTDOWN_TIMEOUT_MS: whole(
    0,
    600_000,
    10_000,
    'How long calls in progress may take to finish when the service stops, in milliseconds.',
  ),
  CHECK_OUTPUTS: yesOrNo.optional().meta({
    expected: TRUE_OR_FALSE,
    standard: '`true`; `false` with `NODE_ENV=production`',
    description: 'Whether to check every answer against its schema before sending it; a mismatch is a 500.',
  }),
  RENEWALS: z
    .string()
    .refine((text) => text === 'off' || isSchedule(text))
    .default('0 * * * *')
    .meta({
      expected: 'a cron pattern such as `0 * * * *`, or `off`',
      description:
        'When to issue due renewals of recurring services as delivery notes, in UTC, for companies with automatic issuing on. Renewals are due by the company’s local day, so an hourly schedule issues them in the first hour of the day. Of several processes one does it; the service catches up when it starts. `off` leaves it to `albaran renew`.',
    }),
  WEBHOOK_ALLOW_PRIVATE: yesOrNo.default(false).meta({
    expected: TRUE_OR_FALSE,
    description:
      'Whether webhooks may go to private addresses and `localhost`, and by plain `http://`: for receivers in the operator’s own network. Otherwise only `https://` to public addresses, so that nobody reaches that network through the service.',
  }),
  VERIFACTU_PRODUCER_NAME: shortText(120).meta({
    expected: '1 to 120 characters',
    standard: 'no registers',
    description:
      'Who supplies this system to those who bill with it: registers of invoices (VeriFactu) name them, and companies for which it is switched on can’t issue invoices without. Set together with the next four.',
  }),
  VERIFACTU_PRODUCER_NIF: z
    .string()
    .refine(isNif)
    .optional()
    .meta({ expected: 'a Spanish NIF', standard: 'no registers', description: 'Their tax id.' }),
  VERIFACTU_SYSTEM_NAME: shortText(30).meta({
    expected: '1 to 30 characters',
    standard: 'no registers',
    description: 'What they call the system.',
  }),
  VERIFACTU_SYSTEM_ID: z
    .string()
    .regex(/^[A-Z0-9]{2}$/)
    .optional()
    .meta({
      expected: 'two capitals or digits',
      standard: 'no registers',
      description: 'Their code for the system, other than those of their other systems.',
    }),
  VERIFACTU_SYSTEM_VERSION: shortText(50).meta({
    expected: '1 to 50 characters',
    standard: 'no registers',
    description: 'The version of the system that their declaration of responsibility is for.',
  }),
  VERIFACTU_DECLARATION_URL: httpUrl.optional().meta({
    expected: 'an http:// or https:// URL',
    standard: 'none',
    description:
      'Where that declaration can be read. Callers get it with the company’s fiscal data; without it no company can be switched to production.',
  }),
  VERIFACTU_CERTIFICATE: z.string().optional().meta({
    expected: 'the path of a file',
    standard: 'registers are kept and not sent',
    description:
      'The certificate with its key by which registers are sent to the tax agency: PKCS #12 (`.p12`, `.pfx`), otherwise PEM. It is read when the service starts.',
  }),
  VERIFACTU_CERTIFICATE_PASSWORD: z.string().optional().meta({
    expected: 'a password',
    standard: 'none',
    secret: true,
    description: 'The password of a PKCS #12 file.',
  }),
  VERIFACTU_CERTIFICATE_KIND: z.enum(['persona', 'sello']).default('persona').meta({
    expected: '`persona` or `sello`',
    description:
      'Whether the certificate is of a person or representative, or the seal of an organisation: the agency takes them at different addresses.',
  }),
  VERIFACTU_URL: httpUrl.optional().meta({
    expected: 'an http:// or https:// URL',
    standard: 'the agency’s address for the company’s mode',
    description: 'Where registers are sent instead, whatever the mode: a gateway, or the agency’s address of the day.',
  }),
  METRICS_TOKEN: z.string().min(16).optional().meta({
    expected: 'at least 16 characters',
    standard: 'no metrics',
    secret: true,
    description:
      'Serves metrics for Prometheus at `/metrics` to callers with this bearer token (`authorization: {credentials: ...}` in a scrape configuration).',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional().meta({
    expected: 'an http:// or https:// URL',
    standard: 'no traces',
    description:
      'The OpenTelemetry collector that receives traces, over OTLP/HTTP. The exporter’s other standard variables (`OTEL_EXPORTER_OTLP_HEADERS`, `_TIMEOUT`, `_COMPRESSION`), `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` work too.',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional().meta({
    expected: 'an http:// or https:// URL',
    standard: '`/v1/traces` below `OTEL_EXPORTER_OTLP_ENDPOINT`',
    description: 'The full URL that traces are sent to.',
  }),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1).meta({
    expected: 'a number from 0 to 1',
    description: 'The share of traces to send. Traces that a caller started follow the caller’s decision.',
  }),
  OAUTH_ALLOW_LOCALHOST: yesOrNo.default(false).meta({
    expected: TRUE_OR_FALSE,
    description:
      'Whether connecting applications may use `http://localhost` as their redirect address, as some desktop applications do; `http://127.0.0.1` is always allowed.',
  }),
  OAUTH_REGISTRATIONS_PER_HOUR: whole(
    1,
    1_000_000,
    100,
    'Applications per hour that one address (an IPv6 address counts as its /64 network) may register; a vendor’s servers register theirs from few addresses.',
  ),
  OAUTH_REGISTRATIONS_TOTAL_PER_HOUR: whole(
    1,
    10_000_000,
    2000,
    'Applications per hour that all addresses together may register.',
  ),
  DEMO: yesOrNo.optional().meta({
    expected: TRUE_OR_FALSE,
    standard: '`true`; `false` with `NODE_ENV=production`',
    description: 'Whether to load the demo company when the service starts on a database without companies.',
  }),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .optional()
    .meta({
      expected: `one of ${LOG_LEVELS.join(', ')}`,
      standard: '`info`; `warn` on a terminal, unless `NODE_ENV=production`',
      description: 'The level of the log on standard output, as lines of JSON. At `info` every call is one line.',
    }),
  NODE_ENV: z.string().optional().meta({
    expected: 'a word',
    standard: 'none',
    description: '`production` changes only the defaults that say so in this table.',
  }),
});

export type Config = ReturnType<typeof readConfig>;

/** The settings in `environment`. `terminal`: standard output is a terminal. Throws a Failure with one line for each bad value. */
export function readConfig(environment: Record<string, string | undefined>, terminal: boolean) {
  const given = Object.keys(variables.shape).flatMap((name) => {
    const text = environment[name]?.trim();
    return text ? [[name, text]] : [];
  });
  const parsed = variables.safeParse(Object.fromEntries(given));
  if (!parsed.success) {
    const names = new Set(parsed.error.issues.map(({ path: [name] }) => String(name)));
    throw new Failure([...names].map((name) => complaint(name, environment[name] ?? '')));
  }
  const { data } = parsed;
  if (data.DATABASE_DIRECT_URL && !data.DATABASE_URL) {
    throw new Failure('DATABASE_DIRECT_URL: expected DATABASE_URL beside it');
  }
  if (data.DATABASE_REPLICA_URL && !data.DATABASE_URL) {
    throw new Failure('DATABASE_REPLICA_URL: expected DATABASE_URL beside it');
  }
  const verifactu = verifactuOf(data);
  const production = data.NODE_ENV === 'production';
  return {
    databaseUrl: data.DATABASE_URL,
    databaseDirectUrl: data.DATABASE_DIRECT_URL ?? data.DATABASE_URL,
    databaseReplicaUrl: data.DATABASE_REPLICA_URL,
    databasePool: data.DATABASE_POOL ?? poolOf(data.WORKERS),
    databaseQueue: data.DATABASE_QUEUE,
    companyConnections: data.COMPANY_CONNECTIONS,
    databasePrepare: data.DATABASE_PREPARE,
    statementTimeoutMs: data.STATEMENT_TIMEOUT_MS,
    dataDir: resolve(data.DATA_DIR ?? join(ROOT, '.albaran')),
    host: data.HOST,
    port: data.PORT,
    workers: data.WORKERS,
    baseUrl: data.BASE_URL,
    apiContact: data.API_CONTACT,
    trustProxy: data.TRUST_PROXY,
    corsOrigins: data.CORS_ORIGINS,
    webhooks: { allowPrivate: data.WEBHOOK_ALLOW_PRIVATE },
    verifactu,
    metricsToken: data.METRICS_TOKEN,
    traceRatio:
      (data.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? data.OTEL_EXPORTER_OTLP_ENDPOINT)
        ? data.OTEL_TRACES_SAMPLER_ARG
        : undefined,
    oauth: {
      allowLocalhost: data.OAUTH_ALLOW_LOCALHOST,
      registrationsPerHour: data.OAUTH_REGISTRATIONS_PER_HOUR,
      totalRegistrationsPerHour: data.OAUTH_REGISTRATIONS_TOTAL_PER_HOUR,
    },
    redisUrl: data.REDIS_URL,
    cacheBytes: data.CACHE_MB * 1024 ** 2,
    idKeys: data.ID_KEYS,
    renewals: data.RENEWALS === 'off' ? undefined : data.RENEWALS,
    quotaPerMinute: data.QUOTA_PER_MINUTE,
    failedKeysPerMinute: data.FAILED_KEYS_PER_MINUTE,
    anonymousPerMinute: data.ANONYMOUS_PER_MINUTE,
    shutdownTimeoutMs: data.SHUTDOWN_TIMEOUT_MS,
    checkOutputs: data.CHECK_OUTPUTS ?? !production,
    demo: data.DEMO ?? !production,
    logLevel: data.LOG_LEVEL ?? (terminal && !production ? 'warn' : 'info'),
  };
}

/** Of registers of invoices: all that names the system, or nothing. */
function verifactuOf(data: z.output<typeof variables>) {
  const system = {
    VERIFACTU_PRODUCER_NAME: data.VERIFACTU_PRODUCER_NAME,
    VERIFACTU_PRODUCER_NIF: data.VERIFACTU_PRODUCER_NIF,
    VERIFACTU_SYSTEM_NAME: data.VERIFACTU_SYSTEM_NAME,
    VERIFACTU_SYSTEM_ID: data.VERIFACTU_SYSTEM_ID,
    VERIFACTU_SYSTEM_VERSION: data.VERIFACTU_SYSTEM_VERSION,
  };
  const isWanted = [...Object.values(system), data.VERIFACTU_CERTIFICATE].some((value) => value !== undefined);
  if (!isWanted) return undefined;
  const missing = Object.entries(system).flatMap(([name, value]) => (value === undefined ? [complaint(name, '')] : []));
  if (missing.length > 0) throw new Failure(missing);
  return {
    producer: {
      producerName: system.VERIFACTU_PRODUCER_NAME ?? '',
      producerNif: system.VERIFACTU_PRODUCER_NIF ?? '',
      systemName: system.VERIFACTU_SYSTEM_NAME ?? '',
      systemId: system.VERIFACTU_SYSTEM_ID ?? '',
      systemVersion: system.VERIFACTU_SYSTEM_VERSION ?? '',
    },
    declarationUrl: data.VERIFACTU_DECLARATION_URL,
    certificate: data.VERIFACTU_CERTIFICATE,
    password: data.VERIFACTU_CERTIFICATE_PASSWORD ?? '',
    kind: data.VERIFACTU_CERTIFICATE_KIND,
    url: data.VERIFACTU_URL,
  };
}

function complaint(name: string, value: string): string {
  const schema: Record<string, z.ZodType> = variables.shape;
  const { expected, secret } = schema[name]?.meta() ?? {};
  const line = `${name}: expected ${expected?.replaceAll('`', '')}`;
  return secret ? line : `${line}, not ${JSON.stringify(value)}`;
}
