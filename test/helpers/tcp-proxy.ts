// A network between two parties that a test can cut: what reaches the proxy goes on to the target, until it is told otherwise.
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  port: number;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Takes connections again, at the same port. */
  restore(): Promise<void>;
  /** From now on, what the target answers does not arrive; resolves with the first answer that did not. */
  swallowAnswers(): Promise<void>;
}

export async function tcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let swallowed: (() => void) | undefined;
  const server = createServer((near) => {
    const far = createConnection(target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('data', (bytes) => {
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
    restore: () => listen(port),
    swallowAnswers: () =>
      new Promise((resolve) => {
        swallowed = resolve;
      }),
    [Symbol.asyncDispose]: cut,
  };
}

/** The same database by way of a proxy. */
export async function databaseProxy(url: string): Promise<TcpProxy & { url: string }> {
  const { hostname, port } = new URL(url);
  const proxy = await tcpProxy({ host: hostname, port: Number(port || 5432) });
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(proxy.port);
  return { ...proxy, url: through.href };
}
