// Runs the receiver of docs/integrate.md as it is written, and loses deliveries on the way to it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { WebhookSender } from '../../server/webhooks.ts';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { type Server, startServer } from '../helpers/world.ts';

const PAGE = await readFile(new URL('../../docs/integrate.md', import.meta.url), 'utf8');
const [, PROGRAM = ''] = /```js\n(.*?)```/s.exec(PAGE) ?? [];

const client = z.object({ clienteId: z.string(), nombre_fiscal: z.string() });

let database: OwnDatabase;
let server: Server;
beforeAll(async () => {
  database = await ownDatabase();
  server = await startServer({ alone: true, database: { url: database.url }, webhooks: { allowPrivate: true } });
});
afterAll(async () => {
  await server?.stop();
  await database?.[Symbol.asyncDispose]();
});

/** The page's program, in a process of its own. */
async function startProgram(env: Record<string, string>) {
  const root = resolve(import.meta.dirname, '../..');
  const { PATH = '' } = process.env;
  const child = spawn('node', ['--input-type=module', '-e', PROGRAM], {
    cwd: root,
    env: { PATH, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(createInterface({ input: child.stdout }), 'line');
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

test('[JRN-02] [JRN-05] the page’s receiver has every client, whatever was lost on the way, also after a restored backup', async () => {
  const acme = await server.company([{ coleccion: 'clientes', ref: 'sol', nombre_fiscal: 'Café Sol' }]);
  let program = '';
  let isLosing = false;
  // It stands between: what it loses is answered as if it had arrived.
  await using relay = await startReceiver(async (response, { headers, text }) => {
    if (isLosing) return;
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const passed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
    const answer = await fetch(program, { method: 'POST', headers: passed, body: text });
    response.statusCode = answer.status;
  });
  const { webhookId, secreto } = (await acme.post('/webhooks', { url: relay.url })).body.data;
  await using receiver = await startProgram({
    API: server.url,
    API_KEY: acme.headers['x-api-key'],
    API_SECRET: acme.headers['x-api-secret'],
    WEBHOOK_SECRET: secreto,
  });
  program = receiver.url;
  const sender = new WebhookSender(server.service);
  const sendDue = async () => {
    await sender.poll();
    await sender.idle();
  };
  const copy = async () => z.array(client).parse(await (await fetch(program)).json());
  const namesOf = (clients: { nombre_fiscal: string }[]) => clients.map(({ nombre_fiscal }) => nombre_fiscal).sort();
  const stored = async () => (await acme.get('/clients')).body.data.clientes;
  const newClient = (nombre_fiscal: string) => acme.post('/clients', { datos: { nombre_fiscal } });

  // The first message makes sure that it has read everything.
  await newClient('Luna');
  await sendDue();
  expect(namesOf(await copy())).toEqual(['Café Sol', 'Luna']);

  isLosing = true;
  await newClient('Perdido');
  const [{ clienteId }] = await stored();
  await acme.put(`/clients/${clienteId}`, { datos: { nombre_fiscal: 'Otro nombre' } });
  await sendDue();
  expect(namesOf(await copy())).toEqual(['Café Sol', 'Luna']);
  isLosing = false;
  await acme.post('/product-families', { datos: { titulo: 'Sillas' } });
  await sendDue();
  expect(namesOf(await copy())).toEqual(namesOf(await stored()));
  expect(namesOf(await copy())).toContain('Otro nombre');

  // The same again changes nothing.
  await acme.put(`/webhooks/${webhookId}`, { datos: { desde: 0 } });
  await sendDue();
  expect(namesOf(await copy())).toEqual(namesOf(await stored()));

  await database.admin.query(`update journals set epoch = 'restored' where account_id = $1`, [acme.id]);
  await newClient('Después');
  await sendDue();
  expect(namesOf(await copy())).toEqual(namesOf(await stored()));
  const { entregas } = (await acme.get(`/webhooks/${webhookId}/deliveries`)).body.data;
  expect(new Set(entregas.map(({ estado }: { estado: number }) => estado))).toEqual(new Set([204]));
});
