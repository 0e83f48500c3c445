// A receiver of webhooks on this machine.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { z } from 'zod';

export interface Received {
  headers: IncomingHttpHeaders;
  /** The body as it came. */
  text: string;
  /** The header `webhook-id`. */
  id: string;
  epoca: string;
  cambios: { n: number; tipo: string; id: string | null; accion: string }[];
}

const body = z.object({
  type: z.literal('cambios'),
  timestamp: z.iso.datetime({ offset: true }),
  data: z.object({
    epoca: z.string(),
    cambios: z.array(z.object({ n: z.int(), tipo: z.string(), id: z.string().nullable(), accion: z.string() }).loose()),
  }),
});

/** `answer` decides what each message is answered; by default 204. */
export async function startReceiver(answer: (response: ServerResponse, received: Received) => unknown = () => {}) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    request.setEncoding('utf8');
    let text = '';
    for await (const part of request) text += part;
    const { data } = body.parse(JSON.parse(text));
    const one = { headers: request.headers, text, id: String(request.headers['webhook-id']), ...data };
    received.push(one);
    response.statusCode = 204;
    if ((await answer(response, one)) !== KEEP_WAITING) response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/cambios`,
    port: address.port,
    received,
    /** The numbers of the changes that came, in order. */
    numbers: () => received.flatMap(({ cambios }) => cambios.map(({ n }) => n)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What an `answer` returns that leaves its caller waiting. */
export const KEEP_WAITING = Symbol('keep waiting');
