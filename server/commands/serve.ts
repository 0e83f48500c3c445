// `albaran serve`: starts the service and stops it. Stopping finishes the calls in progress and stops what was started here. With
// several workers this process is their primary, and each worker runs this command too.
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer, Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import pino, { type Logger } from 'pino';
import { aborted, within } from '../aborted.ts';
import type { AddCommand, CommandTools, Interruption } from '../command.ts';
import type { Config } from '../config.ts';
import { loadDemo } from '../demo.ts';
import { Failure, Interrupted } from '../failure.ts';
import { greeting } from '../greeting.ts';
import { databaseOf, type OpenDatabase, oneLine, openDatabase } from '../open-database.ts';
import { LogLines, output } from '../output.ts';

// Time for the health checks of proxies to notice that the process is stopping.
const NOTICE_MS = 1500;
// Time for proxies to stop using their open connections.
const LAST_CALLS_MS = 1000;
const SWEEP_EVERY_MS = 50;

export const addServe: AddCommand = (parent, tools) =>
  parent
    .command('serve')
    .description('runs the service until it is stopped (SIGINT, SIGTERM)')
    .action(() => serve(tools));

async function serve({ config: readConfig, ...interruption }: CommandTools): Promise<void> {
  const config = readConfig();
  using lines = new LogLines();
  const options = {
    level: config.logLevel,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
  };
  const log = pino(options, lines);
  const { stop } = interruption;
  try {
    await run(config, lines, log, interruption);
  } catch (error) {
    // A stop during the start is not an error.
    if (!stop.aborted) throw error;
  }
  if (stop.reason instanceof Interrupted) return log.info('stopped');
  log.fatal({ err: stop.reason }, 'stopped by an unexpected error');
  throw new Failure([]);
}

async function run(config: Config, lines: LogLines, log: Logger, interruption: Interruption): Promise<void> {
  if (cluster.isWorker && config.databaseUrl) {
    // The primary has opened it.
    return answerCalls(config, log, interruption, Promise.resolve(databaseOf(config, config.databaseUrl)));
  }
  const address = await freeAddress(config);
  const tell = (line: string) => log.info(line);
  const opening = openDatabase(config, { adopt: true, log: tell, report: tell, stop: interruption.stop });
  opening.catch(() => {});
  if (config.workers === 1) return answerCalls(config, log, interruption, opening);
  const { runWorkers } = await import('../workers.ts');
  await using opened = await opening;
  await runWorkers({ config, ...address, opened, lines, log, ...interruption });
}

/** Answers calls until `stop`: this process is the service, or one of its workers. */
async function answerCalls(
  config: Config,
  log: Logger,
  interruption: Interruption,
  opening: Promise<OpenDatabase>,
): Promise<void> {
  const { stop, hurry } = interruption;
  // Imported while the database starts.
  const [
    { makeHttp },
    { followSchedule },
    { followWebhooks },
    { scheduledPurge },
    { scheduledSealing },
    { scheduledRenewals },
    { followRegisters },
    { verifactuSettings },
    { openService },
  ] = await Promise.all([
    import('../http.ts'),
    import('../schedule.ts'),
    import('../webhooks.ts'),
    import('../purge-schedule.ts'),
    import('../seal-schedule.ts'),
    import('../renewal-schedule.ts'),
    import('../registers.ts'),
    import('../verifactu-settings.ts'),
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
    cacheBytes: config.cacheBytes,
    baseUrl: config.baseUrl,
    redisUrl: config.redisUrl,
    quotaPerMinute: config.quotaPerMinute,
    failedKeysPerMinute: config.failedKeysPerMinute,
    anonymousPerMinute: config.anonymousPerMinute,
    checkOutputs: config.checkOutputs,
    metrics: config.metricsToken !== undefined,
    webhooks: config.webhooks,
    verifactu: await verifactuSettings(config),
  }).catch(async (error: unknown) => {
    const { isDatabaseError } = await import('../../platform/database.ts');
    const setting = isDatabaseError(error) ? "DATABASE_URL: the database can't be used: " : '';
    throw new Failure(`${setting}${oneLine(error)}`, { cause: error });
  });
  let limit = hurry;
  let schedules: Promise<unknown> | undefined;
  try {
    const { database } = service;
    const demo = config.demo
      ? await loadDemo({ database, directUrl: opened.directUrl }, interruption, { intoEmpty: true })
      : undefined;
    stop.throwIfAborted();
    const { worker } = cluster;
    const primary = worker && new (await import('../worker-messages.ts')).Primary(worker, service.metrics);
    const metricsOfAll = primary && (() => primary.metricsOfAll());
    const http = await makeHttp(service, { ...config, traces: traceRatio !== undefined, stop, metricsOfAll });
    const url = await listen(http, config);
    primary?.sayListening();
    service.baseUrl ||= url;
    if (demo || process.stdout.isTTY) output.say(await greeting(service.baseUrl, database, demo));

    const scheduled = [
      scheduledPurge(service),
      scheduledSealing(service),
      ...(config.renewals ? [scheduledRenewals(service, config.renewals)] : []),
    ];
    const { directUrl } = opened;
    schedules = Promise.all([
      followWebhooks(service, stop),
      followRegisters(service, stop),
      ...scheduled.map((job) => followSchedule({ ...service, directUrl }, job, stop)),
    ]);

    await aborted(stop);
    log.info('stopping');
    service.journal.close();
    limit = AbortSignal.any([hurry, AbortSignal.timeout(config.shutdownTimeoutMs)]);
    if (isSupervised(stop)) await lastCalls(http, limit);
    if (!(await drain(http, limit))) log.warn('calls under way were cut off');
  } finally {
    // When time is up, do not wait for the database any longer.
    const closed = Promise.resolve(schedules).then(() => service.close());
    await Promise.race([closed, aborted(limit)]);
  }
}

/** The logged parts of an error. The driver's errors also hold a whole connection, and row data in their details. */
function describeError(error: Error) {
  const { type, message, stack, code } = pino.stdSerializers.err(error);
  return { type, message, stack, code };
}

/** A supervisor stops processes with SIGTERM, while callers may still send calls. After Ctrl-C a person waits for the end. */
const isSupervised = ({ reason }: AbortSignal) => reason instanceof Interrupted && reason.signal === 'SIGTERM';

/** Serves further calls until callers and proxies have switched to another process. Returns at once if there are no connections. */
async function lastCalls({ server }: FastifyInstance, limit: AbortSignal): Promise<void> {
  const connected = await promisify(server.getConnections.bind(server))();
  if (connected === 0) return;
  await within(NOTICE_MS, limit);
  await untilNothingArrives(limit);
  const gone = once(server, 'close');
  // Stop listening only. The HTTP server's own close() would also close idle connections, on which a proxy may be sending now.
  Server.prototype.close.call(server);
  await Promise.race([gone, within(LAST_CALLS_MS, limit)]);
  await untilNothingArrives(limit);
  server.closeIdleConnections();
}

/** Waits until a turn of the event loop brings no events: closing a connection would lose received data that is not read yet. */
async function untilNothingArrives(limit: AbortSignal): Promise<void> {
  const end = AbortSignal.any([limit, AbortSignal.timeout(LAST_CALLS_MS)]);
  let seen: number;
  await setImmediate();
  do {
    seen = performance.nodeTiming.uvMetricsInfo.events;
    await setImmediate();
  } while (performance.nodeTiming.uvMetricsInfo.events !== seen && !end.aborted);
}

/** Closes the server. Returns whether every call in progress was answered within the limit. */
async function drain(http: FastifyInstance, limit: AbortSignal): Promise<boolean> {
  const closed = http.close();
  // Close keep-alive connections as they become idle.
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

/**
 * Checks that the port is free before anything is started, so that a second server on the machine fails at once. Returns it (any
 * free one for 0) and its URL.
 */
async function freeAddress({ host, port }: Config): Promise<{ port: number; url: string }> {
  const probe = createServer();
  try {
    await once(probe.listen({ host, port }), 'listening');
  } catch (error) {
    throw cannotListen(error, host, port);
  }
  const address = addressOf(probe, host);
  probe.close();
  await once(probe, 'close');
  return address;
}

/** Starts listening. Returns the URL for callers on this machine. */
async function listen(http: FastifyInstance, { host, port }: Config): Promise<string> {
  // Linux gives the connections to the workers. Elsewhere node:cluster does, through the primary.
  const reusePort = cluster.isWorker && process.platform === 'linux';
  const options = { host, port, reusePort };
  await http.listen(options).catch((error: unknown) => {
    throw cannotListen(error, host, port);
  });
  return addressOf(http.server, host).url;
}

/** Where a server listens. */
function addressOf(server: Server, host: string): { port: number; url: string } {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server has no port');
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return { port: bound.port, url: `http://${name.includes(':') ? `[${name}]` : name}:${bound.port}` };
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
