// `albaran serve`: the service, from its start to its end. Started, it is reachable; stopped, it has answered what it had
// begun, and what it started is gone.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import pino, { type Logger } from 'pino';
import type { AddCommand, CommandTools, Interruption } from '../command.ts';
import type { Config } from '../config.ts';
import { loadDemo } from '../demo.ts';
import { Failure, Interrupted } from '../failure.ts';
import { greeting } from '../greeting.ts';
import { oneLine, openDatabase } from '../open-database.ts';

const SWEEP_EVERY_MS = 50;
const LINES_WAIT_MS = 100;

export const addServe: AddCommand = (parent, tools) =>
  parent
    .command('serve')
    .description('runs the service until it is told to stop (SIGINT, SIGTERM)')
    .action(() => serve(tools));

async function serve({ config: readConfig, ...interruption }: CommandTools): Promise<void> {
  const config = readConfig();
  // A system call for each line would be a noticeable part of a call's cost; what is left is written when the process exits.
  const lines = pino.destination({ sync: false, minLength: 4096, periodicFlush: LINES_WAIT_MS });
  const options = {
    level: config.logLevel,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
  };
  const log = pino(options, lines);
  const { stop } = interruption;
  try {
    await run(config, log, interruption);
  } catch (error) {
    // A start that is told to stop ends where it is.
    if (!stop.aborted) throw error;
  }
  if (stop.reason instanceof Interrupted) return log.info('stopped');
  log.fatal({ err: stop.reason }, 'stopped by an error that nothing foresaw');
  throw new Failure([]);
}

async function run(config: Config, log: Logger, interruption: Interruption): Promise<void> {
  const { stop, hurry } = interruption;
  await checkPort(config);
  const opening = openDatabase(config, { adopt: true, log: (line) => log.info(line) });
  opening.catch(() => {});
  // Loaded while the database starts.
  const [{ makeHttp }, { followSchedule }, { scheduledPurge }, { scheduledRenewals }, { openService }] =
    await Promise.all([
      import('../http.ts'),
      import('../schedule.ts'),
      import('../purge-schedule.ts'),
      import('../renewal-schedule.ts'),
      import('../../platform/service.ts'),
    ]);
  await using opened = await opening;
  if (opened.migrated.length > 0) log.info({ migrations: opened.migrated }, 'the database was brought forward');
  stop.throwIfAborted();
  const { traceRatio } = config;
  await using _tracing =
    traceRatio === undefined ? undefined : (await import('../tracing.ts')).startTracing(traceRatio);
  const service = await openService({
    database: opened.options,
    replicaUrl: config.databaseReplicaUrl,
    log,
    idKeys: config.idKeys,
    baseUrl: config.baseUrl,
    redisUrl: config.redisUrl,
    quotaPerMinute: config.quotaPerMinute,
    failedKeysPerMinute: config.failedKeysPerMinute,
    checkOutputs: config.checkOutputs,
    metrics: config.metricsToken !== undefined,
  }).catch(async (error: unknown) => {
    const { isDatabaseError } = await import('../../platform/database.ts');
    const setting = isDatabaseError(error) ? "DATABASE_URL: the database can't be used: " : '';
    throw new Failure(`${setting}${oneLine(error)}`, { cause: error });
  });
  let limit = hurry;
  let byTheClock: Promise<unknown> | undefined;
  try {
    const { database } = service;
    const demo = config.demo
      ? await loadDemo({ database, directUrl: opened.directUrl }, interruption, { intoEmpty: true })
      : undefined;
    stop.throwIfAborted();
    const http = await makeHttp(service, { ...config, traces: traceRatio !== undefined });
    const url = await listen(http, config);
    service.baseUrl ||= url;
    if (demo || process.stdout.isTTY) console.log(await greeting(service.baseUrl, database, demo));

    const scheduled = [
      scheduledPurge(service),
      ...(config.renewals ? [scheduledRenewals(service, config.renewals)] : []),
    ];
    const { directUrl } = opened;
    byTheClock = Promise.all(scheduled.map((what) => followSchedule({ ...service, directUrl }, what, stop)));

    await aborted(stop);
    log.info('stopping');
    limit = AbortSignal.any([hurry, AbortSignal.timeout(config.shutdownTimeoutMs)]);
    if (!(await drain(http, limit))) log.warn('calls under way were cut off');
  } finally {
    // What still waits for the database when time is up, waits no longer.
    const closed = Promise.resolve(byTheClock).then(() => service.close());
    await Promise.race([closed, aborted(limit)]);
  }
}

/** No more of an error than this: the driver's have a whole connection attached to them, and rows in their details. */
function describeError(error: Error) {
  const { type, message, stack, code } = pino.stdSerializers.err(error);
  return { type, message, stack, code };
}

/** Ends the server; whether every call under way was answered within the limit. */
async function drain(http: FastifyInstance, limit: AbortSignal): Promise<boolean> {
  const closed = http.close();
  // A connection over which the last answer has gone would stay open for the next call.
  const sweep = setInterval(() => http.server.closeIdleConnections(), SWEEP_EVERY_MS);
  try {
    await Promise.race([closed, aborted(limit)]);
    if (!limit.aborted) return true;
    http.server.closeAllConnections();
    await closed;
    return false;
  } finally {
    clearInterval(sweep);
  }
}

const aborted = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort');
};

/** Before anything is started, so that a second server on one machine finds out at once. */
async function checkPort({ host, port }: Config): Promise<void> {
  const probe = createServer();
  try {
    await once(probe.listen({ host, port }), 'listening');
  } catch (error) {
    throw cannotListen(error, host, port);
  }
  probe.close();
  await once(probe, 'close');
}

/** The address to call it at from this machine. */
async function listen(http: FastifyInstance, { host, port }: Config): Promise<string> {
  await http.listen({ host, port }).catch((error: unknown) => {
    throw cannotListen(error, host, port);
  });
  const bound = http.server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server has no port');
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${bound.port}`;
}

function cannotListen(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const [name, reason] =
    code === 'EADDRINUSE'
      ? [`PORT: ${port}`, 'is taken: stop what listens there, or set another']
      : code === 'EACCES'
        ? [`PORT: ${port}`, 'is not allowed to this user: set one above 1023']
        : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN'
          ? [`HOST: ${host}`, 'is no address of this machine']
          : [];
  return name ? new Failure(`${name} ${reason}`, { cause: error }) : error;
}
