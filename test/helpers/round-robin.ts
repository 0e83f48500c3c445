// A proxy in front of several processes.
import { connect, createServer, type Socket } from 'node:net';

export interface Proxy extends AsyncDisposable {
  port: number;
}

/** Gives each new connection to the next service. */
export async function roundRobin(services: readonly { url(): string }[]): Promise<Proxy> {
  const open = new Set<Socket>();
  let next = 0;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const service = services[next++ % services.length];
    const far = connect({ port: Number(new URL(service?.url() ?? '').port), host: '127.0.0.1', allowHalfOpen: true });
    near.pipe(far);
    far.pipe(near);
    for (const socket of [near, far]) {
      open.add(socket);
      // Every error is followed by 'close', which closes the other socket.
      socket.on('error', () => {});
      socket.on('close', () => open.delete(socket));
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.end());
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
