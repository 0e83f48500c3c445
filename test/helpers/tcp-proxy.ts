// A TCP proxy whose connections a test can cut, and whose round trips it can count.
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  port: number;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Accepts connections again, on the same port, and lets answers through. */
  restore(): Promise<void>;
  /** Drops the target's answers from now on; resolves at the first one. */
  swallowAnswers(): Promise<void>;
  /** Freezes existing connections without closing them, as if a machine vanished; new connections work. */
  strand(): void;
  /** How many times so far someone has spoken first, or after an answer. */
  trips(): number;
}

export async function tcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const open = new Set<Socket>();
  const stranded = new WeakSet<Socket>();
  let swallowed: (() => void) | undefined;
  let trips = 0;
  const server = createServer((near) => {
    const far = createConnection(target);
    let last = far;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('data', (bytes) => {
        if (stranded.has(from)) return;
        if (from === near && last === far) trips++;
        last = from;
        if (from === far && swallowed) swallowed();
        else to.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const cut = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  await listen(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  const { port } = address;
  return {
    port,
    cut,
    restore() {
      swallowed = undefined;
      return listen(port);
    },
    swallowAnswers: () =>
      new Promise((resolve) => {
        swallowed = resolve;
      }),
    strand() {
      for (const socket of open) stranded.add(socket);
    },
    trips: () => trips,
    [Symbol.asyncDispose]: cut,
  };
}

/** The URL of the same database through a proxy. */
export async function databaseProxy(url: string): Promise<TcpProxy & { url: string }> {
  const { hostname, port } = new URL(url);
  const proxy = await tcpProxy({ host: hostname, port: Number(port || 5432) });
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(proxy.port);
  return { ...proxy, url: through.href };
}
