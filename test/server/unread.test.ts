// Callers that don't read their answers.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SlowReaders } from '../../server/unread.ts';
import { type Company, type FileRecord, type Server, startServer } from '../helpers/world.ts';

const GIVE_UP_AFTER_MS = 30_000;
/** More than the kernel buffers for a connection; so are four answers of TOOLS. */
const LARGE = 'x'.repeat(32 * 1024 ** 2);

/** Both ends of a connection; the caller's end is paused until told to read. */
async function connection() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const caller = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1').pause();
  const [service]: [Socket] = await once(server, 'connection').then(([socket]) => [socket]);
  service.on('error', () => {});
  caller.on('error', () => {});
  return {
    caller,
    service,
    [Symbol.dispose]() {
      caller.destroy();
      service.destroy();
      server.close();
    },
  };
}

/** Reads some bytes and waits until the sender can write more. */
async function readSome({ caller, service }: Awaited<ReturnType<typeof connection>>) {
  const enough = caller.bytesRead + 8 * 1024 ** 2;
  const { promise, resolve } = Promise.withResolvers<void>();
  const read = () => {
    if (caller.bytesRead < enough) return;
    caller.off('data', read).pause();
    resolve();
  };
  caller.on('data', read).resume();
  await promise;
  // Reading made room, which the sender notices in its next event loop turn.
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  expect(service.destroyed).toBe(false);
}

describe('[FAIR-05] an answer is given up', () => {
  const lines: string[] = [];
  const readers = () => new SlowReaders(GIVE_UP_AFTER_MS, pino({}, { write: (line: string) => void lines.push(line) }));

  test('when nothing of it is taken for 30 s, with a line in the log', async () => {
    const slow = readers();
    using pair = await connection();
    slow.add(pair.service);
    pair.service.write(LARGE);
    await new Promise(setImmediate);
    slow.check(1000);
    slow.check(1000 + GIVE_UP_AFTER_MS - 1);
    expect(pair.service.destroyed).toBe(false);
    slow.check(1000 + GIVE_UP_AFTER_MS);
    expect(pair.service.destroyed).toBe(true);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 30,
        msg: 'an answer that nobody reads was given up',
        bytes: expect.any(Number),
      }),
    ]);
  });

  test('but not while some of it is taken now and then, though all of it is one piece', async () => {
    const slow = readers();
    using pair = await connection();
    slow.add(pair.service);
    pair.service.write(LARGE);
    await new Promise(setImmediate);
    slow.check(0);
    await readSome(pair);
    slow.check(GIVE_UP_AFTER_MS);
    slow.check(2 * GIVE_UP_AFTER_MS - 1);
    expect(pair.service.destroyed).toBe(false);
    await readSome(pair);
    slow.check(2 * GIVE_UP_AFTER_MS);
    expect(pair.service.destroyed).toBe(false);
    slow.check(3 * GIVE_UP_AFTER_MS);
    expect(pair.service.destroyed).toBe(true);
  });

  test('nor on a connection on which nothing waits to be read, however long', async () => {
    const slow = readers();
    using pair = await connection();
    slow.add(pair.service);
    slow.check(0);
    slow.check(100 * GIVE_UP_AFTER_MS);
    pair.service.write('event: ping\n\n');
    await vi.waitFor(() => expect(pair.service.writableLength).toBe(0));
    slow.check(200 * GIVE_UP_AFTER_MS);
    slow.check(300 * GIVE_UP_AFTER_MS);
    expect(pair.service.destroyed).toBe(false);
  });
});

const listTools = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/list' });
const TOOLS = Array.from({ length: 50 }, (_, id) => listTools(id));

/** Sends a POST to the connector several times and reads no answer. */
function postUnread(
  { url }: Server,
  { headers }: Company,
  message: unknown,
  { times = 1, more = {} }: { times?: number; more?: Record<string, string> } = {},
): Socket {
  const { port } = new URL(url);
  const body = JSON.stringify(message);
  const all = {
    Host: `127.0.0.1:${port}`,
    ...headers,
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...more,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const socket = connect(Number(port), '127.0.0.1').pause();
  socket.on('error', () => {});
  socket.write(`POST /mcp HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`.repeat(times));
  return socket;
}

test('[FAIR-05] the server gives up what is not read, and leaves a subscription alone on which nothing happens', async () => {
  const lines: string[] = [];
  await using server = await startServer({ alone: true, giveUpAfterMs: 300, logTo: (line) => lines.push(line) });
  const acme = await server.company();
  const method = 'subscriptions/listen';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const subscription = postUnread(
    server,
    acme,
    { jsonrpc: '2.0', id: 1, method, params: { _meta, notifications: {} } },
    { more: { 'MCP-Protocol-Version': '2026-07-28', 'MCP-Method': method } },
  ).resume();
  const [first] = await once(subscription, 'data');
  expect(String(first)).toContain('text/event-stream');

  const connections = () => new Promise<number>((resolve) => server.http.server.getConnections((_, n) => resolve(n)));
  const slow = [postUnread(server, acme, TOOLS, { times: 4 }), postUnread(server, acme, TOOLS, { times: 4 })];
  const given = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => /nobody reads/.test(msg));
  await vi.waitFor(() => expect(given()).toHaveLength(2), { timeout: 10_000 });
  expect(given()).toEqual(
    Array.from({ length: 2 }, () => expect.objectContaining({ level: 30, account: acme.id, route: '/mcp' })),
  );
  await vi.waitFor(async () => expect(await connections()).toBe(1));
  expect(subscription.destroyed).toBe(false);
  for (const socket of [...slow, subscription]) socket.destroy();
});

describe('[FAIR-05] one company leaves so much unread', () => {
  const note = 'x'.repeat(60_000);
  const records: FileRecord[] = [
    { coleccion: 'empleados', ref: 'ana', nombre: 'Ana' },
    ...Array.from({ length: 60 }, (_, minute) => {
      const entrada = { fecha: '2026-01-12', hora: `09:${String(minute).padStart(2, '0')}`, metodo: 'web' };
      return { coleccion: 'fichajes', empleado: 'ana', entrada, observaciones: note };
    }),
    { coleccion: 'funnels', ref: 'ventas', titulo: 'Ventas', etapas: [{ ref: 'nuevo', titulo: 'Nuevo' }] },
  ];
  const JANUARY = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31', por_pagina: 10 };
  const WHY = 'La empresa tiene demasiadas respuestas sin leer';
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ alone: true, giveUpAfterMs: 20_000, unreadBytes: 1_000_000 });
  });
  afterAll(() => server.stop());

  test('and is refused long answers by every door until it has read some; others are served', async () => {
    const [acme, other] = await Promise.all([server.company(records), server.company(records)]);
    const everything = { name: 'consultar_fichajes', arguments: { ...JANUARY, por_pagina: 60 } };
    const unread = postUnread(server, acme, { ...listTools(1), method: 'tools/call', params: everything });
    // Compressed they would be short.
    const plain = { 'accept-encoding': 'identity' };
    const rest = () => acme.get('/employees/times', JANUARY, plain);
    await vi.waitFor(async () => expect((await rest()).status).toBe(429), { timeout: 10_000 });
    const refused = await rest();
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refused.body).toEqual({ errorCode: 429, errorMsg: WHY, data: null });

    const input = encodeURIComponent(JSON.stringify({ json: JANUARY }));
    const trpc = await server.request(`/trpc/timeEntries.list?input=${input}`, {
      headers: { ...acme.headers, ...plain },
    });
    expect([trpc.status, JSON.stringify(trpc.body)]).toEqual([429, expect.stringContaining(WHY)]);
    const mcp = await server.request('/mcp', {
      method: 'POST',
      headers: {
        ...acme.headers,
        ...plain,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(listTools(7)),
    });
    expect([mcp.status, mcp.body]).toMatchObject([429, { id: 7, error: { message: WHY } }]);

    expect((await acme.get('/account')).status).toBe(200);
    expect((await other.get('/employees/times', JANUARY, plain)).status).toBe(200);
    unread.destroy();
    await vi.waitFor(async () => expect((await rest()).status).toBe(200), { timeout: 10_000 });
  });
});
