// The environment, parsed once: every setting of the process, its default and what it is for. docs/configuration.md is made
// from the schema below (scripts/generate-docs.ts). Nothing else reads process.env for a setting.
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { Cron } from 'croner';
import { z } from 'zod';
import { Failure } from './failure.ts';

declare module 'zod' {
  interface GlobalMeta {
    /** What the variable may hold, in words that follow "expected". */
    expected?: string;
    /** The default in words, where it is not one value. */
    standard?: string;
    /** Its value is not repeated in messages. */
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
    // A date alone is a schedule of one time to croner.
    return !/^\d{4}-/.test(text) && new Cron(text, { timezone: 'UTC', paused: true }).nextRun() !== null;
  } catch {
    return false;
  }
};
const TRUE_OR_FALSE = '`true` or `false`';

/** The variables, in the order of the reference. Unset and empty mean the default. */
export const variables = z.object({
  DATABASE_URL: databaseUrl.optional().meta({
    expected: 'a postgres:// URL (special characters of its password percent-encoded)',
    standard: 'an embedded PostgreSQL 18',
    secret: true,
    description:
      'The PostgreSQL that holds everything. Without it the service starts one of its own, which keeps its data in `DATA_DIR`.',
  }),
  DATABASE_DIRECT_URL: databaseUrl.optional().meta({
    expected: 'a postgres:// URL (special characters of its password percent-encoded)',
    standard: '`DATABASE_URL`',
    secret: true,
    description:
      'The same database without a pooler in between, for migrations: they hold a lock for the length of a session, which PgBouncer in transaction mode does not keep.',
  }),
  DATABASE_REPLICA_URL: databaseUrl.optional().meta({
    expected: 'a postgres:// URL (special characters of its password percent-encoded)',
    standard: 'none',
    secret: true,
    description:
      'A streaming replica of that database, or the address that several share. Reads go there whose callers allow a lag with the header `X-Max-Lag: <seconds>`, as long as it is not further behind (the answer says `X-Lag`); all else goes to `DATABASE_URL`, and so do these while the replica is away. Processes look every quarter of a second how far the database has come, so less than half a second is seldom had.',
  }),
  DATABASE_POOL: whole(
    1,
    1000,
    10,
    'Connections to the database that one process opens at most; as many again to a replica.',
  ),
  DATABASE_QUEUE: whole(
    1,
    100_000,
    200,
    'Calls that may wait for one of these connections; while so many do, further ones are refused at once (503, `Retry-After: 1`).',
  ),
  DATABASE_PREPARE: yesOrNo.default(true).meta({
    expected: TRUE_OR_FALSE,
    description:
      'Whether statements are prepared under a name. `false` behind a pooler that does not follow them (PgBouncer before 1.21 in transaction mode).',
  }),
  STATEMENT_TIMEOUT_MS: whole(
    100,
    3_600_000,
    30_000,
    'Milliseconds after which a statement of a call is given up (503).',
  ),
  DATA_DIR: z.string().optional().meta({
    expected: 'a folder',
    standard: '`.albaran` in the project’s folder',
    description: 'Where the embedded PostgreSQL keeps its data. Relative to the folder the command runs in.',
  }),
  HOST: z
    .string()
    .refine((text) => isIP(text) !== 0 || /^[\w.-]+$/.test(text))
    .default('127.0.0.1')
    .meta({
      expected: 'an address or the name of one',
      description: 'The address to listen on. `0.0.0.0` is every one of the machine.',
    }),
  PORT: whole(0, 65_535, 3000, 'The port to listen on; 0 is any that is free.'),
  BASE_URL: z
    .string()
    .transform((text) => text.replace(/\/$/, ''))
    .refine(isOrigin)
    .optional()
    .meta({
      expected: 'an http:// or https:// address without a path, such as https://api.example.com',
      standard: '`http://HOST:PORT`',
      description: 'The address that callers know the service by, where it is another than the one it listens on.',
    }),
  TRUST_PROXY: z
    .union([yesOrNo, list(z.string().refine(isProxy)).transform((proxies) => proxies.join(','))])
    .default(false)
    .meta({
      expected: '`true`, `false`, or addresses and networks separated by commas',
      description:
        'The proxies in front whose `X-Forwarded-For` tells the caller’s address: all, none, or those listed (`10.0.0.0/8`; `loopback`, `linklocal` and `uniquelocal` are known names).',
    }),
  CORS_ORIGINS: list(z.string().refine(isOrigin)).default([]).meta({
    expected: 'origins such as https://app.example.com, separated by commas',
    standard: 'none',
    description: 'Origins whose pages may call from a browser.',
  }),
  REDIS_URL: z
    .string()
    .refine((text) => isUrl(text, 'redis:', 'rediss:'))
    .optional()
    .meta({
      expected: 'a redis:// or rediss:// URL',
      standard: 'quotas are counted in PostgreSQL',
      secret: true,
      description: 'A Redis that counts the quotas, for services of many calls.',
    }),
  ID_KEYS: list(z.string().min(32)).optional().meta({
    expected: 'keys of at least 32 characters each, separated by commas',
    standard: 'one is made and kept in the database',
    secret: true,
    description:
      'The secrets that record ids are sealed with, newest first. Ids under an older key go on resolving while it is in the list; without it they stop.',
  }),
  QUOTA_PER_MINUTE: whole(1, 10_000_000, 1200, 'Calls that a company without a quota of its own may make in a minute.'),
  FAILED_KEYS_PER_MINUTE: whole(1, 1_000_000, 20, 'Wrong API keys that one address may try in a minute.'),
  SHUTDOWN_TIMEOUT_MS: whole(
    0,
    600_000,
    10_000,
    'Milliseconds that calls under way are given to finish when the service is stopped.',
  ),
  CHECK_OUTPUTS: yesOrNo.optional().meta({
    expected: TRUE_OR_FALSE,
    standard: '`true`; `false` with `NODE_ENV=production`',
    description:
      'Whether every answer is checked against its schema before it is sent; one that does not fit is a 500.',
  }),
  RENEWALS: z
    .string()
    .refine((text) => text === 'off' || isSchedule(text))
    .default('0 * * * *')
    .meta({
      expected: 'a cron pattern such as `0 * * * *`, or `off`',
      description:
        'When, in UTC, the renewals of recurring services that are due are issued as delivery notes: each by its company’s own day, so every hour does it in the first of the day. Of several processes one does it; at its start the service catches up. `off` leaves it to `albaran renew`.',
    }),
  METRICS_TOKEN: z.string().min(16).optional().meta({
    expected: 'at least 16 characters',
    standard: 'no metrics',
    secret: true,
    description:
      'Serves figures for Prometheus at `/metrics`, to callers with this bearer token alone (`authorization: {credentials: ...}` in a scrape configuration).',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional().meta({
    expected: 'an http:// or https:// URL',
    standard: 'no traces',
    description:
      'An OpenTelemetry collector that traces are sent to, over OTLP/HTTP. The other standard variables of the exporter (`OTEL_EXPORTER_OTLP_HEADERS`, `_TIMEOUT`, `_COMPRESSION`), `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` hold too.',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional().meta({
    expected: 'an http:// or https:// URL',
    standard: '`/v1/traces` below `OTEL_EXPORTER_OTLP_ENDPOINT`',
    description: 'The whole address that traces are sent to.',
  }),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1).meta({
    expected: 'a number from 0 to 1',
    description: 'The part of the traces beginning here that is sent; those that a caller began follow the caller.',
  }),
  OAUTH_ALLOW_LOCALHOST: yesOrNo.default(false).meta({
    expected: TRUE_OR_FALSE,
    description:
      'Whether applications that connect may have `http://localhost` as their redirect address, which some of the desktop use; `http://127.0.0.1` is always allowed.',
  }),
  OAUTH_REGISTRATIONS_PER_HOUR: whole(
    1,
    1_000_000,
    100,
    'Applications that one address may register in an hour, to be connected; a vendor’s servers register theirs from few addresses.',
  ),
  DEMO: yesOrNo.optional().meta({
    expected: TRUE_OR_FALSE,
    standard: '`true`; `false` with `NODE_ENV=production`',
    description: 'Whether the demo company is loaded when the service starts on a database without companies.',
  }),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .optional()
    .meta({
      expected: `one of ${LOG_LEVELS.join(', ')}`,
      standard: '`info`; `warn` on a terminal, unless `NODE_ENV=production`',
      description: 'What is logged to standard output, as lines of JSON. At `info` every call is one line.',
    }),
  NODE_ENV: z.string().optional().meta({
    expected: 'a word',
    standard: 'none',
    description: '`production` changes the defaults that say so here, and nothing else.',
  }),
});

export type Config = ReturnType<typeof readConfig>;

/**
 * The settings in `environment`. `terminal`: whether a person reads standard output.
 * Throws a Failure with one line for each bad value.
 */
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
  const production = data.NODE_ENV === 'production';
  return {
    databaseUrl: data.DATABASE_URL,
    databaseDirectUrl: data.DATABASE_DIRECT_URL ?? data.DATABASE_URL,
    databaseReplicaUrl: data.DATABASE_REPLICA_URL,
    databasePool: data.DATABASE_POOL,
    databaseQueue: data.DATABASE_QUEUE,
    databasePrepare: data.DATABASE_PREPARE,
    statementTimeoutMs: data.STATEMENT_TIMEOUT_MS,
    dataDir: resolve(data.DATA_DIR ?? join(ROOT, '.albaran')),
    host: data.HOST,
    port: data.PORT,
    baseUrl: data.BASE_URL,
    trustProxy: data.TRUST_PROXY,
    corsOrigins: data.CORS_ORIGINS,
    metricsToken: data.METRICS_TOKEN,
    traceRatio:
      (data.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? data.OTEL_EXPORTER_OTLP_ENDPOINT)
        ? data.OTEL_TRACES_SAMPLER_ARG
        : undefined,
    oauth: {
      allowLocalhost: data.OAUTH_ALLOW_LOCALHOST,
      registrationsPerHour: data.OAUTH_REGISTRATIONS_PER_HOUR,
    },
    redisUrl: data.REDIS_URL,
    idKeys: data.ID_KEYS,
    renewals: data.RENEWALS === 'off' ? undefined : data.RENEWALS,
    quotaPerMinute: data.QUOTA_PER_MINUTE,
    failedKeysPerMinute: data.FAILED_KEYS_PER_MINUTE,
    shutdownTimeoutMs: data.SHUTDOWN_TIMEOUT_MS,
    checkOutputs: data.CHECK_OUTPUTS ?? !production,
    demo: data.DEMO ?? !production,
    logLevel: data.LOG_LEVEL ?? (terminal && !production ? 'warn' : 'info'),
  };
}

function complaint(name: string, value: string): string {
  const schema: Record<string, z.ZodType> = variables.shape;
  const { expected, secret } = schema[name]?.meta() ?? {};
  const line = `${name}: expected ${expected?.replaceAll('`', '')}`;
  return secret ? line : `${line}, not ${JSON.stringify(value)}`;
}
