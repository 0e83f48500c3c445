// An HTTP proxy that adds credentials to each request, for programs that can't send them.
import { once } from 'node:events';
import { createServer, request } from 'node:http';

export interface HeaderProxy extends AsyncDisposable {
  url: string;
}

/**
 * Forwards requests with these headers added. Replaces the proxy's own name in Host and Origin by the target's; forwards a
 * foreign one unchanged, so that the target can refuse it.
 */
export async function headerProxy(targetUrl: string, added: Record<string, string>): Promise<HeaderProxy> {
  const target = new URL(targetUrl);
  const server = createServer((near, answer) => {
    const { host, origin } = near.headers;
    const headers = {
      ...near.headers,
      ...added,
      ...(host === own.host && { host: target.host }),
      ...(origin === own.origin && { origin: target.origin }),
    };
    const { hostname, port } = target;
    const far = request({ hostname, port, method: near.method, path: near.url, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.on('error', () => answer.destroy());
      response.pipe(answer);
    });
    far.on('error', () => answer.destroy());
    answer.on('close', () => far.destroy());
    near.pipe(far);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  const own = new URL(`http://127.0.0.1:${address.port}`);
  return {
    url: own.origin,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
