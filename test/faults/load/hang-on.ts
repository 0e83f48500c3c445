// Callers that hold connections without sending whole requests.
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { CONNECTIONS } from './client.ts';

/** Callers that send half a request slowly, nothing at all, or too much. Returns how their connections ended. */
export async function hangOn(port: number, headers: Record<string, string>, milliseconds: number) {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const begin = (length: number) =>
    `POST /api/v1/crm/contacts HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${head.join('')}Content-Length: ${length}\r\n\r\n`;
  const sockets: Socket[] = [];
  const told: string[] = [];
  const open = (first: string) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.setEncoding('utf8').on('data', (text: string) => told.push(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? ''));
    socket.on('error', () => {});
    if (first) socket.write(first);
    sockets.push(socket);
    return socket;
  };
  const slow = Array.from({ length: 50 }, () => open(begin(500)));
  for (let count = 0; count < CONNECTIONS; count++) open('');
  const until = performance.now() + milliseconds;
  const tooMuch = 'x'.repeat(64 * 1024);
  while (performance.now() < until) {
    for (const socket of slow) if (socket.writable) socket.write(' ');
    const large = open(begin(8 * 1024 * 1024));
    large.write(tooMuch);
    await wait(100);
  }
  const held = slow.filter(({ destroyed }) => !destroyed).length;
  for (const socket of sockets) socket.destroy();
  return { slow: held, tooLarge: told.filter((status) => status === '413').length };
}
