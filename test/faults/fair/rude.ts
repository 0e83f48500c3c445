// The aggressive callers, each at full speed on a thread until stopped; `workerData` chooses one. It posts the number of answers by
// status; 0 means a broken connection.
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

export interface Target {
  caller: CallerName;
  url: string;
  /** Of keys of the large company: one read-write, one read-only. */
  headers: Record<string, string>;
  readOnly: Record<string, string>;
  /** The signed address of its attachment. */
  link: string;
}

export type Answers = Record<number, number>;

interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const CONNECTOR = { ...JSON_TYPE, accept: 'application/json, text/event-stream' };
const MEBIBYTE_OF_ZEROS = `[0${',0'.repeat(524_000)}]`;
const today = Temporal.Now.plainDateISO();
const range = (days: number) => `fecha_inicio=${today}&fecha_fin=${today.add({ days })}`;

/** The callers: number of connections, and what each sends again and again. */
const CALLS = {
  'tRPC batches of 50 pages of invoices, 5 connections': ({ headers }) => {
    const input = JSON.stringify(
      Object.fromEntries(Array.from({ length: 50 }, (_, at) => [at, { json: { por_pagina: 100 } }])),
    );
    const path = `/trpc/${Array(50).fill('invoices.list').join(',')}?batch=1&input=${encodeURIComponent(input)}`;
    return { connections: 5, sent: { path, headers } };
  },
  'planning of all the staff, 4 connections': ({ headers }) => ({
    connections: 4,
    sent: { path: `/api/v1/planning?${range(91)}`, headers },
  }),
  'planning of 20 people, 4 connections': ({ headers }) => ({
    connections: 4,
    sent: { path: `/api/v1/planning?${range(91)}&por_pagina=20`, headers },
  }),
  'renewals of five years, 4 connections': ({ headers }) => ({
    connections: 4,
    sent: { path: `/api/v1/recurring/renewals?${range(1825)}`, headers },
  }),
  'renewals of a year, 4 connections': ({ headers }) => ({
    connections: 4,
    sent: { path: `/api/v1/recurring/renewals?${range(365)}`, headers },
  }),
  'treasury forecast of a year, 4 connections': ({ headers }) => ({
    connections: 4,
    sent: { path: `/api/v1/treasury/forecast?${range(365)}`, headers },
  }),
  'batches of 100 lists of tools, 2 connections': ({ headers }) => ({
    connections: 2,
    sent: { method: 'POST', path: '/mcp/', headers: { ...headers, ...CONNECTOR }, body: listsOfTools(100) },
  }),
  'batches of 50 lists of tools, 2 connections': ({ headers }) => ({
    connections: 2,
    sent: { method: 'POST', path: '/mcp/', headers: { ...headers, ...CONNECTOR }, body: listsOfTools(50) },
  }),
  'writes by a key that may not, 20 connections': ({ readOnly }) => ({
    connections: 20,
    sent: {
      method: 'POST',
      path: '/api/v1/crm/contacts',
      headers: { ...readOnly, ...JSON_TYPE },
      body: '{"datos":{}}',
    },
  }),
  'registrations of 1 MB without credentials': () => ({
    connections: 1,
    sent: { method: 'POST', path: '/oauth/register', headers: JSON_TYPE, body: MEBIBYTE_OF_ZEROS },
  }),
  'sign-ins of 1 MB without credentials': () => ({
    connections: 1,
    sent: { method: 'POST', path: '/signin', headers: JSON_TYPE, body: MEBIBYTE_OF_ZEROS },
  }),
  '80,000 unknown properties, 2 connections': ({ headers }) => {
    const body = JSON.stringify(Object.fromEntries(Array.from({ length: 80_000 }, (_, number) => [`p${number}`, 0])));
    return {
      connections: 2,
      sent: { method: 'POST', path: '/consultarClientes', headers: { ...headers, ...JSON_TYPE }, body },
    };
  },
} satisfies Record<string, (target: Target) => { connections: number; sent: Sent }>;

const listsOfTools = (many: number) =>
  JSON.stringify(Array.from({ length: many }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list', params: {} })));

/** Requests whose answers are read slowly or never, on a new connection whenever one ends. */
const UNREAD = {
  '60 who never read batches of lists of tools': ({ headers }) => ({
    connections: 60,
    bytesASecond: 0,
    sent: { method: 'POST', path: '/mcp/', headers: { ...headers, ...CONNECTOR }, body: listsOfTools(50) },
  }),
  '25 slow readers of an attachment': ({ link }) => ({
    connections: 25,
    bytesASecond: 20_000,
    sent: { path: new URL(link).pathname },
  }),
} satisfies Record<string, (target: Target) => { connections: number; bytesASecond: number; sent: Sent }>;

export type CallerName = keyof typeof CALLS | keyof typeof UNREAD;
export const CALLERS = [...Object.keys(CALLS), ...Object.keys(UNREAD)] as CallerName[];

const answers: Answers = {};
const note = (status: number) => {
  answers[status] = (answers[status] ?? 0) + 1;
};

/** Calls one after another on each connection; answers are read and dropped. */
async function callAgain(port: number, { connections, sent }: { connections: number; sent: Sent }): Promise<never> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { method = 'GET', path, headers = {}, body } = sent;
  const once = () =>
    new Promise<void>((resolve) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const asked = request(
        { host: '127.0.0.1', port, agent, method, path, headers: { ...headers, ...length } },
        (answer) => {
          note(answer.statusCode ?? 0);
          answer.on('error', () => {}).on('close', resolve);
          answer.resume();
        },
      );
      asked.on('error', () => {
        note(0);
        setTimeout(resolve, 10);
      });
      asked.end(body);
    });
  const forever = async (): Promise<never> => {
    for (;;) await once();
  };
  return Promise.race(Array.from({ length: connections }, forever));
}

async function leaveUnread(
  port: number,
  how: { connections: number; bytesASecond: number; sent: Sent },
): Promise<never> {
  const { method = 'GET', path, headers = {}, body = '' } = how.sent;
  const all = { host: '127.0.0.1', ...headers, ...(body && { 'content-length': String(Buffer.byteLength(body)) }) };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const message = `${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`;
  const open = (): Socket => {
    const socket = connect({ port, host: '127.0.0.1' });
    let first = true;
    socket.on('data', (bytes: Buffer) => {
      if (first) note(Number(/^HTTP\/1.1 (\d+)/.exec(bytes.toString('latin1', 0, 20))?.[1] ?? 0));
      first = false;
      socket.pause();
      // A refused caller tries again, with a limit.
      if (how.bytesASecond > 0) setTimeout(() => socket.resume(), (bytes.length / how.bytesASecond) * 1000);
    });
    socket.on('error', () => {});
    socket.write(message);
    return socket;
  };
  const sockets = Array.from({ length: how.connections }, open);
  for (;;) {
    await wait(200);
    sockets.forEach((socket, at) => {
      if (!socket.destroyed && !socket.readableEnded) return;
      note(0);
      sockets[at] = open();
    });
  }
}

if (parentPort) {
  const target: Target = workerData;
  const port = Number(new URL(target.url).port);
  parentPort.on('message', () => {
    parentPort?.postMessage(answers);
    process.exit(0);
  });
  const name = target.caller;
  if (name in UNREAD) await leaveUnread(port, UNREAD[name as keyof typeof UNREAD](target));
  else await callAgain(port, CALLS[name as keyof typeof CALLS](target));
}
