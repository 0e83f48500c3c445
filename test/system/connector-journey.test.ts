// The life of a connection, with a real assistant's SDK and a person in a real browser: register, sign in, choose the company, untick
// writing, call, withdraw, refused.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from '../helpers/world.ts';
import { REDIRECT } from '../oauth/application.ts';
import { Memory } from '../oauth/memory.ts';
import { HOME, makePerson, PASSWORD } from '../pages/browser.ts';
import { CHROMIUM_ARGUMENTS, chromiumPath } from './needs.ts';

let server: Server;
let browser: Awaited<ReturnType<typeof chromium.launch>>;

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: chromiumPath(), args: CHROMIUM_ARGUMENTS });
  server = await startServer();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('[OAU-03] [OAU-06] [MCP-01] a person connects an assistant to one company, for reading, and withdraws it', async () => {
  const first = await server.company([], { cuenta: { nombre: 'Ruiz SL' } });
  const second = await server.company([{ coleccion: 'canales', ref: 'web', titulo: 'Web de Sanz' }], {
    cuenta: { nombre: 'Sanz SA' },
  });
  const { email } = await makePerson(server, [{ accountId: first.id }, { accountId: second.id }]);
  const page = await browser.newPage({ locale: 'es-ES', javaScriptEnabled: false });
  await page.route(`${REDIRECT}*`, (route) => route.fulfill({ body: 'Listo' }));

  const memory = new Memory();
  const connect = async () => {
    const client = new Client({ name: 'journey', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp/', server.url), { authProvider: memory });
    return { client, transport, connected: client.connect(transport) };
  };
  const stranger = await connect();
  await expect(stranger.connected).rejects.toThrow(UnauthorizedError);

  await page.goto(String(memory.address));
  await page.getByLabel('Correo electrónico').fill(email);
  await page.getByLabel('Contraseña').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Autorizar una aplicación' }).waitFor();
  await page.getByLabel('Sanz SA').check();
  expect(await page.getByLabel('Consultar').isDisabled()).toBe(true);
  await page.getByLabel('Escribir en el CRM').uncheck();
  await page.getByRole('button', { name: 'Autorizar' }).click();
  await page.getByText('Listo').waitFor();
  await stranger.transport.finishAuth(new URL(page.url()).searchParams.get('code') ?? '');

  const { client, connected } = await connect();
  await connected;
  const tools = (await client.listTools()).tools.map(({ name }) => name);
  expect(tools).toContain('listar_canales');
  expect(tools).not.toContain('crear_oportunidad');
  const answer = await client.callTool({ name: 'listar_canales', arguments: {} });
  expect(answer.structuredContent).toMatchObject({ canales: [{ canal: 'Web de Sanz' }] });

  await page.goto(`${server.url}${HOME}?company=${second.slug}`);
  const connections = page.getByRole('region', { name: 'Conexiones autorizadas' });
  await connections.getByLabel('Retirar: Asistente').focus();
  await page.keyboard.press('Enter');
  await connections.getByRole('button', { name: 'Sí, retirar el acceso' }).click();
  await page.getByText('Conexión retirada').waitFor();

  await expect(client.callTool({ name: 'listar_canales', arguments: {} })).rejects.toThrow(UnauthorizedError);
  await client.close();
});
