// `npm run prove:input`: what nobody should send, to a service that must answer all of it.
//
//   npm run prove:input                             100,000 requests, of a new seed
//   npm run prove:input -- --seed 7 --requests 500  a run that can be repeated
//   npm run prove:input -- --seed 7 --only 123      one request of it, with its answer
//
// Each answer has to come in time, be no 5xx, have its door's shape and tell nothing of the inside; a 400 has to name a
// parameter or say what is malformed. At the end the service still runs, has logged no error and holds no more memory.
// Exit 1 otherwise; what fails is printed as a command that repeats it.
import { randomInt } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { operations } from '../../bridges/operations.ts';
import { exampleAccount, exampleRecords } from '../helpers/examples.ts';
import { places } from '../helpers/places.ts';
import { resultOf } from './doors.ts';
import type { Memory } from './inside.ts';
import { type FuzzRequest, makeRequest, openApi, type Shape } from './requests.ts';
import { inParallel, newApiKey, newCompany, openStand, type ServiceProcess, startService, table } from './stand.ts';

const WIDTH = 8;
const LIMIT_MS = 10_000;
/** Bytes of address and headers, about as many as Node reads. */
const MOST_HEAD = 16_000;
/** How often memory is looked at. */
const PARTS = 10;
/** What may come on top of what the service held after the first tenth: caches that fill up. */
const MOST_GROWTH = { heap: 24 * 2 ** 20, rss: 96 * 2 ** 20 };
/** In a run so long, connections that say half a request and then nothing are waited for: the service gives them a minute. */
const LONG_RUN = 50_000;
const STALLED = 5;
const STALLED_MS = 120_000;
const SHOWN = 5;

const { values: options } = parseArgs({
  options: { seed: { type: 'string' }, requests: { type: 'string', default: '100000' }, only: { type: 'string' } },
});
const seed = options.seed === undefined ? randomInt(2 ** 31) : Number(options.seed);
const total = Number(options.requests);

interface Response {
  status: number;
  type: string;
  text: string;
  ms: number;
}

/** What is not an answer. */
class NoAnswer extends Error {}

const agent = new Agent({ keepAlive: true, maxSockets: WIDTH });

async function sendHttp(url: string, request: FuzzRequest, again = true): Promise<Response> {
  const { hostname, port, host } = new URL(url);
  const { method, path, body, pieces = 1 } = request;
  const given = request.headers.some(([name]) => name.toLowerCase() === 'host');
  const length: [string, string][] = body ? [['Content-Length', String(body.length)]] : [];
  const own: [string, string][] = given ? [] : [['Host', host]];
  const headers = [...own, ...request.headers, ...length].flat();
  const started = performance.now();
  const sent = httpRequest({ hostname, port, method, path, headers, agent, signal: AbortSignal.timeout(LIMIT_MS) });
  const answered = new Promise<Response>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', async (response) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString();
        const type = response.headers['content-type'] ?? '';
        resolve({ status: response.statusCode ?? 0, type, text, ms: performance.now() - started });
      } catch (error) {
        reject(error);
      }
    });
  });
  answered.catch(() => {});
  if (body && pieces > 1) {
    const size = Math.ceil(body.length / pieces);
    for (let from = 0; from < body.length; from += size) {
      await wait(20);
      sent.write(body.subarray(from, from + size));
    }
    sent.end();
  } else sent.end(body);
  try {
    return await answered;
  } catch (error) {
    // A connection that was closed as it was taken up again; of a body too large, the service need not hear the end.
    if (sent.reusedSocket && again) return sendHttp(url, request, false);
    const known = error instanceof Error ? error : new Error(String(error));
    if (known.name === 'AbortError' || known.name === 'TimeoutError') {
      throw new NoAnswer(`no answer within ${LIMIT_MS} ms`);
    }
    throw new NoAnswer(`no answer: ${known.message}`);
  }
}

/** Bytes on a connection of their own. No answer is one too, as long as the connection ends. */
async function sendRaw(url: string, raw: Buffer, hangUp: boolean): Promise<Response> {
  const started = performance.now();
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  const closed = new Promise<boolean>((resolve) => {
    socket.on('close', () => resolve(true));
    socket.on('error', () => resolve(true));
  });
  socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
  socket.write(raw);
  const soon = wait(hangUp ? 15 : 150, false);
  if (!(await Promise.race([closed, soon]))) {
    if (hangUp) socket.destroy();
    else socket.end();
  }
  const ended = await Promise.race([closed, wait(LIMIT_MS, false, { ref: false })]);
  socket.destroy();
  if (!ended) throw new NoAnswer(`the connection was still open after ${LIMIT_MS} ms`);
  const text = Buffer.concat(chunks).toString();
  const [head = '', ...body] = text.split('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
  return { status, type: '', text: body.join('\r\n\r\n'), ms: performance.now() - started };
}

const sendIt = (url: string, request: FuzzRequest) =>
  request.raw
    ? sendRaw(
        url,
        request.raw,
        request.about.some((text) => text.startsWith('hung up')),
      )
    : sendHttp(url, request);

/** Of a 400 that is about no one parameter: what is malformed. */
const MALFORMED =
  /JSON|dirección|Content-Length|HTTP|cabeceras|demasiados niveles|lote|no llegó entera|mensaje|petición no es válida|ninguna variante/i;
/** Of a tool that may not be used, or that takes no arguments. */
const OF_THE_CALL = /^(Esta herramienta|Hay argumentos)/;
/** What stands in no answer, and in no request either. */
const INSIDE =
  /node_modules|\.ts:\d|\bat \w+ \(|violates|syntax error at or near|invalid input syntax|SQLSTATE|ECONN|kysely/i;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const namesFields = (fields: unknown): boolean =>
  Array.isArray(fields) &&
  fields.length > 0 &&
  fields.every((field) => isObject(field) && typeof field.campo === 'string' && field.campo !== '');

/** What is wrong with an answer; nothing, where it is as it should be. */
function problemOf(request: FuzzRequest, { status, text }: Response): string | undefined {
  if (status >= 500) return `a ${status}`;
  if (INSIDE.test(text)) return 'tells of the inside';
  if (request.method === 'HEAD') return text === '' ? undefined : 'HEAD with a body';
  // Too long to be read: no door has seen it.
  const unread = status === 400 && headLength(request) > MOST_HEAD && text.includes('demasiado largas');
  return SHAPES[unread ? 'envelope' : request.shape](status, text, request);
}

const headLength = ({ path, headers }: FuzzRequest) =>
  headers.reduce((length, [name, value]) => length + name.length + value.length + 4, path.length);

/** The names that a refusal of this operation may have to tell. */
const namesIn = new Map(
  operations.map(({ path, input }) => [
    path,
    [...places(input)].flatMap(({ path: steps }) => steps.filter((step) => typeof step === 'string')),
  ]),
);

const SHAPES: Record<Shape, (status: number, text: string, request: FuzzRequest) => string | undefined> = {
  any: () => undefined,
  envelope(status, text) {
    const body = parsed(text);
    if (!isObject(body) || Object.keys(body).join() !== 'errorCode,errorMsg,data') return 'no envelope';
    const { errorCode, errorMsg, data } = body;
    if (errorCode !== status || typeof errorMsg !== 'string') return 'an envelope that says otherwise';
    if (status === 200 ? errorMsg !== '' : errorMsg === '') return 'a message that does not fit';
    if (status === 400 && !namesFields(data) && !MALFORMED.test(errorMsg)) return 'a 400 that names nothing';
    return undefined;
  },
  tRPC(_status, text) {
    const body = parsed(text);
    for (const one of [body].flat()) {
      if (!isObject(one) || !('result' in one || 'error' in one)) return 'no answer of tRPC';
      if (!isObject(one.error)) continue;
      const { json } = one.error;
      const { message, data } = isObject(json) ? json : {};
      if (!isObject(data) || typeof message !== 'string' || message === '')
        return 'an error of tRPC without its fields';
      if (data.httpStatus === 400 && !namesFields(data.fields) && !MALFORMED.test(message))
        return 'a 400 that names nothing';
    }
    return undefined;
  },
  MCP(status, text, { about: [path = ''] }) {
    if (text === '') return status === 202 ? undefined : 'no answer of the connector';
    const lines = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data);
    for (const body of lines.length > 0 ? lines : [text]) {
      for (const one of [parsed(body)].flat()) {
        if (!isObject(one) || one.jsonrpc !== '2.0') return 'no answer of JSON-RPC';
        if ('error' in one) {
          if (!isObject(one.error) || typeof one.error.message !== 'string')
            return 'an error of JSON-RPC without its message';
        } else {
          const { isError, content = [] } = resultOf(body) ?? {};
          const told = content[0]?.text ?? '';
          if (!isError) continue;
          if (told.startsWith('Error interno')) return 'an error of ours';
          const names = [...(namesIn.get(path) ?? []), 'clave_idempotencia', 'X-Max-Lag'];
          const says = names.some((name) => told.includes(name)) || MALFORMED.test(told) || OF_THE_CALL.test(told);
          if (!says) return 'a refusal that names nothing';
        }
      }
    }
    return undefined;
  },
};

/** The request as a command, for a service with the examples' company and its key. */
function asCommand({ method, path, headers, body, raw }: FuzzRequest): string {
  if (raw) return `echo ${raw.toString('base64')} | base64 -d | nc 127.0.0.1 3000`;
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const shown = headers.map(([name, value]) => {
    if (name === 'x-api-key') return '-H "X-API-KEY: $ALBARAN_KEY"';
    if (name === 'x-api-secret') return '-H "X-API-SECRET: $ALBARAN_SECRET"';
    return `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`;
  });
  const command = ['curl -sS --path-as-is', `-X ${method}`, quoted(`http://127.0.0.1:3000${path}`), ...shown].join(' ');
  if (!body) return command;
  return `echo ${body.toString('base64')} | base64 -d | ${command} --data-binary @-`;
}

/** Half a request each, and then nothing: how many were hung up on in time. */
function stall(url: string): Promise<boolean>[] {
  const { hostname, port } = new URL(url);
  return Array.from({ length: STALLED }, async (_, index) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {});
    socket.resume();
    const head = 'POST /consultarClientes HTTP/1.1\r\nHost: a\r\n';
    socket.write(index % 2 === 0 ? head : `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a`);
    const closed = new Promise<boolean>((resolve) => socket.on('close', () => resolve(true)));
    const inTime = await Promise.race([closed, wait(STALLED_MS, false, { ref: false })]);
    socket.destroy();
    return inTime;
  });
}

interface Failure {
  number: number;
  request: FuzzRequest;
  told: string;
}

async function main(): Promise<boolean> {
  console.log(`seed ${seed}, ${total.toLocaleString('en')} requests`);
  await using stand = await openStand();
  const company = await newCompany(stand, exampleRecords, exampleAccount);
  await using service = await startService(stand);
  const credentials = await newApiKey(stand, company);
  const document = openApi.parse(await (await fetch(`${service.url}/api/v1/openapi.json`)).json());
  const make = (number: number) => makeRequest(seed, number, document, credentials);
  if (options.only !== undefined) return await showOne(service, make(Number(options.only)));

  const failures = new Map<string, Failure[]>();
  const statuses = new Map<string, Map<string, number>>();
  let slowest = 0;
  const memory: Memory[] = [];
  const stalled = total >= LONG_RUN ? stall(service.url) : [];
  const started = performance.now();
  const fail = (problem: string, failure: Failure) =>
    failures.set(problem, [...(failures.get(problem) ?? []), failure]);

  async function one(number: number): Promise<void> {
    const request = make(number);
    try {
      const response = await sendIt(service.url, request);
      slowest = Math.max(slowest, response.ms);
      const door = request.raw ? 'bytes' : request.shape === 'any' ? 'elsewhere' : doorOf(request);
      const counts = statuses.get(door) ?? new Map<string, number>();
      statuses.set(door, counts);
      const name = response.status === 0 ? 'hung up' : String(response.status);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      const problem = problemOf(request, response);
      if (problem) fail(problem, { number, request, told: `${response.status} ${response.text.slice(0, 300)}` });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      // A body too large need not be heard to its end, and a method that was not read can be no HEAD.
      const tooLarge = (request.body?.length ?? 0) >= 2 ** 20;
      const unread = request.method === 'HEAD' && headLength(request) > MOST_HEAD;
      if (!tooLarge && !unread) fail(error.message, { number, request, told: '' });
    }
  }

  for (let part = 0; part < PARTS && service.alive(); part++) {
    const from = Math.floor((total * part) / PARTS);
    const to = Math.floor((total * (part + 1)) / PARTS);
    await inParallel(
      WIDTH,
      Array.from({ length: to - from }, (_, index) => () => one(from + index)),
    );
    if (service.alive()) memory.push(await service.memory());
    if (total >= LONG_RUN) console.log(`${to.toLocaleString('en')} sent, ${megabytes(memory.at(-1)?.heap)} MB of heap`);
  }
  const seconds = (performance.now() - started) / 1000;
  const alive = service.alive();
  const hungUpOn = (await Promise.all(stalled)).filter((inTime) => inTime).length;
  agent.destroy();
  await service.stop();
  const errors = service.log.filter((line) => /"level":(50|60)/.test(line));

  for (const [problem, all] of failures) {
    console.log(`\n${problem}: ${all.length}`);
    for (const { number, request, told } of all.slice(0, SHOWN)) {
      console.log(`  --only ${number}: ${request.about.join(', ')}\n  ${told}\n  ${asCommand(request).slice(0, 3000)}`);
    }
  }
  for (const line of errors.slice(0, SHOWN)) console.log(`logged as an error: ${line.slice(0, 600)}`);

  const [first, last] = [memory[0], memory.at(-1)];
  const growth = first && last ? { heap: last.heap - first.heap, rss: last.rss - first.rss } : { heap: 0, rss: 0 };
  const failed = [...failures.values()].reduce((sum, all) => sum + all.length, 0);
  const classes = ['200', '400', '401', '403', '404', '405', '409', '413', '415', '422', 'other'];
  const rows = [...statuses].sort().map(([door, counts]) => {
    const known = classes.map((name) => counts.get(name) ?? 0);
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    known[classes.length - 1] = all - known.reduce((sum, count) => sum + count, 0);
    return [door, all, ...known];
  });
  const stalledText = stalled.length === 0 ? 'not tried in so short a run' : `${hungUpOn} of ${stalled.length}`;
  console.log(`
${table([['door', 'requests', ...classes], ...rows])}

${table([
  ['', 'found'],
  ['requests', total],
  ['requests a second', Math.round(total / seconds)],
  ['slowest answer, ms', Math.round(slowest)],
  ['wrong answers, or none', failed],
  ['errors in the log', errors.length],
  ['half requests hung up on', stalledText],
  ['heap after the first tenth, MB', megabytes(first?.heap)],
  ['heap at the end, MB', megabytes(last?.heap)],
  ['resident after the first tenth, MB', megabytes(first?.rss)],
  ['resident at the end, MB', megabytes(last?.rss)],
])}
`);
  const grown = growth.heap > MOST_GROWTH.heap || growth.rss > MOST_GROWTH.rss;
  const holds = alive && failed === 0 && errors.length === 0 && hungUpOn === stalled.length && !grown;
  if (!alive) console.log('The service is gone.');
  if (grown) console.log('Memory grew.');
  console.log(holds ? `Input holds. Seed ${seed}.` : `Input does not hold. Seed ${seed}.`);
  return holds;
}

const megabytes = (bytes = 0) => Math.round(bytes / 2 ** 20);

const doorOf = ({ shape, path }: FuzzRequest) =>
  shape !== 'envelope' ? shape : path.startsWith('/api/v1') ? 'v1' : 'v0';

async function showOne(service: ServiceProcess, request: FuzzRequest): Promise<boolean> {
  console.log(`${request.about.join(', ')}\n${asCommand(request)}\n`);
  const response = await sendIt(service.url, request);
  const problem = problemOf(request, response);
  console.log(`${response.status} ${response.text}\n\n${problem ?? 'as it should be'}`);
  await service.stop();
  for (const line of service.log) if (/"level":(50|60)/.test(line)) console.log(line);
  agent.destroy();
  return problem === undefined;
}

process.exitCode = (await main()) ? 0 : 1;
