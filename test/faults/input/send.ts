// Sends the requests of `npm run prove:input`: requests over fetch, raw bytes on new connections, and incomplete requests.
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FuzzRequest } from './requests.ts';

/** Concurrent requests. */
export const WIDTH = 8;
const LIMIT_MS = 10_000;
/** Of those who ask what has changed: they may wait for it, 25 s at most. */
const CHANGES_MS = 30_000;
const STALLED = 5;
const STALLED_MS = 120_000;

export interface Response {
  status: number;
  type: string;
  text: string;
  ms: number;
}

/** No answer. */
export class NoAnswer extends Error {}

export const agent = new Agent({ keepAlive: true, maxSockets: WIDTH });

async function sendHttp(url: string, request: FuzzRequest, again = true): Promise<Response> {
  const { hostname, port, host } = new URL(url);
  const { method, path, body, pieces = 1 } = request;
  const given = request.headers.some(([name]) => name.toLowerCase() === 'host');
  const length: [string, string][] = body ? [['Content-Length', String(body.length)]] : [];
  const own: [string, string][] = given ? [] : [['Host', host]];
  const headers = [...own, ...request.headers, ...length].flat();
  const started = performance.now();
  const limit = request.about[0] === 'changes.list' ? CHANGES_MS : LIMIT_MS;
  const sent = httpRequest({ hostname, port, method, path, headers, agent, signal: AbortSignal.timeout(limit) });
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
    // The connection was closed just as it was reused; a body that is too large need not be read.
    if (sent.reusedSocket && again) return sendHttp(url, request, false);
    const known = error instanceof Error ? error : new Error(String(error));
    if (known.name === 'AbortError' || known.name === 'TimeoutError') {
      throw new NoAnswer(`no answer within ${limit} ms`);
    }
    throw new NoAnswer(`no answer: ${known.message}`);
  }
}

/** Raw bytes on a new connection. No answer is fine, if the connection ends. */
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

/** Sends a request in its way. Throws NoAnswer. */
export const sendIt = (url: string, request: FuzzRequest) =>
  request.raw
    ? sendRaw(
        url,
        request.raw,
        request.about.some((text) => text.startsWith('hung up')),
      )
    : sendHttp(url, request);

/** Sends incomplete requests and waits; returns how many connections were closed in time. */
export function stall(url: string): Promise<boolean>[] {
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
