// The pages in a real browser: a person's way through them, and axe's accessibility rules on each.
import { readFile } from 'node:fs/promises';
import axe from 'axe-core';
import { chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { png } from '../documents/pictures.ts';
import { addApart } from '../helpers/apart.ts';
import { type Company, type Server, startServer } from '../helpers/world.ts';
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

const COMPANY = '/settings/company';

interface View {
  colorScheme?: 'light' | 'dark';
  width?: number;
  locale?: string;
  javaScriptEnabled?: boolean;
}

/** A new browser for a person, with the errors of its pages. */
async function openPage({ width = 1280, locale = 'es-ES', ...options }: View = {}) {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    locale,
    baseURL: server.url,
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // The browser logs every failed response; a form with errors is one.
    if (!/the server responded with a status of 4\d\d/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** An invoice of a company with everything that one may have, and a link to it. */
async function linkOf(company: Company): Promise<{ url: string }> {
  const { body } = await company.post('/invoices', {
    cliente: { nombre_fiscal: 'Café Nilo, S.L.', cif: 'B12345674', email: 'compras@nilo.example' },
    pedido: {
      obra: 'Comedor',
      detalles_operacion: '<p>Con <b>ascensor</b></p><ul><li>Con cita<ul><li>Por la mañana</li></ul></li></ul>',
    },
    detalles: [
      {
        cantidad: 2,
        descripcion: 'Mesa extensible',
        descripcion_ampliada: 'De roble\n180 cm',
        importe_unitario: 412.5,
        descuento: 5,
      },
      { cantidad: 1, descripcion: 'Una'.repeat(80), importe_unitario: 999_999_999.99, iva: 10 },
    ],
  });
  await company.post(`/invoices/${body.data}/rectify`, { motivo: 'Precio mal' });
  return (await company.post(`/documents/factura/${body.data}/link`, {})).body.data;
}

async function signIn(page: Page, email: string, password = PASSWORD) {
  await page.getByLabel('Correo electrónico').fill(email);
  await page.getByLabel('Contraseña').fill(password);
  await page.keyboard.press('Enter');
}

test('a person signs in, makes a key, sees its secret once, revokes it, changes the password and leaves, without a script', async () => {
  const company = await server.company();
  const { email } = await makePerson(server, [{ accountId: company.id }]);
  await using opened = await openPage({ javaScriptEnabled: false });
  const { page, complaints } = opened;
  await page.goto(HOME);
  await signIn(page, email, 'not it');
  await expect.poll(() => page.getByRole('alert').textContent()).toBe('El correo o la contraseña no son correctos');
  await signIn(page, email);
  await page.getByRole('heading', { name: 'Integraciones' }).waitFor();

  await page.getByLabel('Nombre').fill('Tienda web');
  await page.getByRole('button', { name: 'Crear la clave' }).click();
  const created = page.getByRole('region', { name: 'Clave creada' });
  const [key = '', secret = ''] = await created.locator('code').allTextContents();
  const call = async () =>
    (await server.request('/api/v1/products', { headers: { 'x-api-key': key, 'x-api-secret': secret } })).status;
  expect(await call()).toBe(200);
  await page.reload();
  expect(await created.count()).toBe(0);
  expect(await page.content()).not.toContain(secret);

  const keys = page.getByRole('region', { name: 'Claves de la API' });
  // Confirmed first, by keyboard as well as by mouse.
  await keys.getByLabel('Revocar: Tienda web').focus();
  await page.keyboard.press('Enter');
  await keys.getByRole('button', { name: 'Sí, revocar la clave' }).click();
  await page.getByText('Clave revocada').waitFor();
  expect(await call()).toBe(401);

  await page.getByRole('link', { name: 'Contraseña' }).click();
  const other = 'siete gatos dormidos';
  await page.getByLabel('Contraseña actual').fill(PASSWORD);
  await page.getByLabel('Contraseña nueva').fill(other);
  await page.getByLabel('Repita la nueva').fill(other);
  await page.getByRole('button', { name: 'Cambiar la contraseña' }).click();
  await page.getByText('Contraseña cambiada').waitFor();
  await page.getByRole('button', { name: 'Salir' }).click();
  await page.getByText('Ha salido').waitFor();
  await page.goto(HOME);
  await signIn(page, email, other);
  await page.getByRole('heading', { name: 'Integraciones' }).waitFor();
  expect(complaints).toEqual([]);
});

test('[JRN-05] a person creates a webhook, sees its secret once, stops and deletes it, without a script', async () => {
  const company = await server.company();
  const { email } = await makePerson(server, [{ accountId: company.id }]);
  await using opened = await openPage({ javaScriptEnabled: false });
  const { page, complaints } = opened;
  await page.goto(HOME);
  await signIn(page, email);
  const webhooks = page.getByRole('region', { name: 'Webhooks' });
  await webhooks.getByLabel('Dirección (https://)').fill('https://localhost/');
  await webhooks.getByRole('button', { name: 'Crear el webhook' }).click();
  await webhooks.getByText('no puede llevar a una red privada').waitFor();
  await webhooks.getByLabel('Dirección (https://)').fill('https://example.com/cambios');
  await webhooks.getByRole('button', { name: 'Crear el webhook' }).click();
  const secret = page.getByRole('region', { name: 'Secreto del webhook' }).locator('code');
  expect(await secret.textContent()).toMatch(/^whsec_/);
  await page.reload();
  expect(await secret.count()).toBe(0);
  await webhooks.getByText('Al día').waitFor();
  await webhooks.getByLabel('Parar: https://example.com/cambios').click();
  await webhooks.getByText('Parado').waitFor();
  await webhooks.getByLabel('Eliminar: https://example.com/cambios').focus();
  await page.keyboard.press('Enter');
  await webhooks.getByRole('button', { name: 'Sí, eliminar el webhook' }).click();
  await webhooks.getByText('Ninguno todavía.').waitFor();
  expect(complaints).toEqual([]);
});

test('[DOC-03] an administrator fills in the fiscal data, chooses a logo and a colour and sees an example, without a script', async () => {
  const company = await server.company();
  const { email } = await makePerson(server, [{ accountId: company.id }]);
  await using opened = await openPage({ javaScriptEnabled: false });
  const { page, complaints } = opened;
  await page.goto(HOME);
  await signIn(page, email);
  await page.getByRole('link', { name: 'Datos fiscales' }).click();
  await page.getByLabel('Razón social').fill('Cuadra Obras, S.L.');
  await page.getByLabel('NIF').fill('B12345678');
  await page.getByLabel('IBAN').fill('ES91 2100 0418 4502 0005 1332');
  await page.getByRole('button', { name: 'Guardar los datos' }).click();
  await page.getByText('No es un NIF').waitFor();
  expect(await page.getByLabel('Razón social').inputValue()).toBe('Cuadra Obras, S.L.');
  await page.getByLabel('NIF').fill('B12345674');
  await page.getByRole('button', { name: 'Guardar los datos' }).click();
  await page.getByText('Datos guardados').waitFor();

  const look = page.getByRole('region', { name: 'Logotipo y color' });
  await look.getByText('Sin logotipo.').waitFor();
  const choose = (name: string, buffer: Buffer) =>
    look.getByLabel('Logotipo', { exact: true }).setInputFiles({ name, mimeType: 'image/png', buffer });
  await choose('logo.png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
  await look.getByRole('button', { name: 'Guardar el aspecto' }).click();
  await look.getByText('Se esperaba una imagen PNG o JPEG').waitFor();
  await choose('logo.png', LOGO);
  await look.locator('#color').fill('#7c3aed');
  await look.getByRole('button', { name: 'Guardar el aspecto' }).click();
  await page.getByText('Aspecto guardado').waitFor();
  expect(await look.getByRole('img', { name: 'El logotipo' }).getAttribute('src')).toContain(LOGO.toString('base64'));
  expect(await look.locator('#color').inputValue()).toBe('#7c3aed');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    look.getByRole('link', { name: 'Una factura de ejemplo' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('ejemplo.pdf');
  const file = await readFile(await download.path(), 'latin1');
  expect(file.split('/Subtype /Image').length - 1).toBe(2);

  await look.getByLabel('Quitar el logotipo').check();
  await look.getByRole('button', { name: 'Guardar el aspecto' }).click();
  await look.getByText('Sin logotipo.').waitFor();
  expect(complaints).toEqual([]);
});

/** A square on a clear ground. */
const LOGO = png({
  width: 160,
  height: 48,
  sample: (at, row) => {
    const [across, channel] = [Math.floor(at / 4), at % 4];
    const inside = across < 48 || (row > 18 && row < 30);
    return inside ? ([15, 118, 110, 255][channel] ?? 0) : 0;
  },
});

/** The violations that axe finds on the page, with their elements. */
async function violations(page: Page): Promise<string[]> {
  // Evaluated past the page's policy, which allows no scripts.
  await page.evaluate(axe.source);
  return page.evaluate<string[]>(`axe.run(document).then(({ violations }) =>
    violations.map(({ id, impact, nodes }) => impact + ' ' + id + ' at ' + nodes.map(({ target }) => target).join(', ')))`);
}

/** Calls of the company's key and of its connection. */
async function activityOf(accountId: number, today: Temporal.PlainDate): Promise<{ key: string; connection: string }> {
  const { pool } = server.service.database;
  const idOf = async (table: string) =>
    (await pool.query<{ id: number }>(`select id from ${table} where account_id = $1 order by id limit 1`, [accountId]))
      .rows[0]?.id;
  const [key, grant] = [await idOf('api_keys'), await idOf('grants')];
  const counts = Array.from({ length: 30 }, (_, index) => ({
    day: today.subtract({ days: index }).toString(),
    calls: (index * 7919) % 900,
  })).flatMap((each) =>
    [`key:${key}`, `token:${grant}`].flatMap((actor) => [
      { account_id: accountId, actor, operation: 'consultarMovimientosTesoreria', status: 200, ...each },
      { account_id: accountId, actor, operation: 'consultarClientes', status: 429, ...each, calls: each.calls % 100 },
    ]),
  );
  const calls = Array.from({ length: 100 }, (_, index) => ({
    ...{ account_id: accountId, actor: `token:${grant}`, operation: 'consultarClientes', request_id: 'r' },
    answered_rows: index % 9 === 0 ? null : index,
  }));
  await server.service.database.transaction(accountId, { write: true }, async (db) => {
    await db.insertInto('call_counts').values(counts).execute();
    await db.insertInto('assistant_calls').values(calls).execute();
  });
  return { key: `keys/${key}`, connection: `connections/${grant}` };
}

test('[DOC-03] whoever has a link reads the document and downloads its PDF, without a script or signing in', async () => {
  const { url } = await linkOf(await server.company());
  await using opened = await openPage({ javaScriptEnabled: false });
  const { page, complaints } = opened;
  await page.goto(url);
  await page.getByRole('heading', { name: 'Factura F' }).waitFor();
  await page.getByRole('row', { name: 'Mesa extensible' }).getByRole('cell', { name: '783,75' }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Descargar PDF' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^Factura F\d{4}-0001\.pdf$/);
  expect(complaints).toEqual([]);
});

test.each([
  { colorScheme: 'light', width: 1280, locale: 'es-ES' },
  { colorScheme: 'dark', width: 1280, locale: 'en-GB' },
  { colorScheme: 'light', width: 360, locale: 'en-GB' },
  { colorScheme: 'dark', width: 360, locale: 'es-ES' },
] as const)('every page is accessible, fits and complains of nothing: %j', async (view) => {
  const [company, other] = [await server.company(), await server.company()];
  const { id, email } = await makePerson(server, [{ accountId: company.id }, { accountId: other.id, role: 'member' }]);
  await addApart(server.service.database, company.id, [{ coleccion: 'webhooks' }]);
  await server.service.database.transaction(company.id, { write: true }, (db) =>
    db
      .insertInto('grants')
      .values({
        account_id: company.id,
        user_id: id,
        client_id: 'client',
        client_name: 'Un asistente de nombre bastante largo',
        redirect_host: 'assistant.example',
        can_write: true,
        resource: `${server.url}/mcp`,
        expires_at: '2999-01-01T00:00:00Z',
      })
      .execute(),
  );
  const yesterday = Temporal.Now.plainDateISO('Europe/Madrid').subtract({ days: 1 }).toString();
  await server.service.database.transaction(company.id, { write: true }, (db) =>
    db.insertInto('quota_days').values({ account_id: company.id, day: yesterday, calls: 1_234_567 }).execute(),
  );
  await using opened = await openPage(view);
  const { page, complaints } = opened;
  const look = async (name: string) => {
    expect(await violations(page), name).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(view.width);
    const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(Number(/\d+/.exec(background)?.[0]) > 128, name).toBe(view.colorScheme === 'light');
    expect(complaints, name).toEqual([]);
  };
  const submit = (section?: string) =>
    page
      .locator(
        `main form${section ? `[aria-labelledby="${section}"]` : ':not([action*="/webhooks"])'} button:not(.danger)`,
      )
      .click();

  await page.goto((await linkOf(company)).url);
  await look('a document');
  await page.goto('/d/none');
  await look('a link that shows nothing');
  await page.goto('/signin');
  await look('sign in');
  await page.locator('#email').fill(email);
  await page.locator('#password').fill('not it');
  await submit();
  await page.locator('.notice.bad').waitFor();
  await look('sign in, refused');
  await page.locator('#password').fill(PASSWORD);
  await submit();
  await page.waitForURL('**/companies');
  await look('companies');
  await page.locator(`a[href$="${company.slug}"]`).first().click();
  await page.locator('#keys').waitFor();
  await page.locator('#name').fill('Tienda');
  await submit();
  await page.locator('#new-key').waitFor();
  expect(await page.locator('.days tr').count()).toBe(7);
  for (const summary of await page.locator('summary').all()) await summary.click();
  await look('integrations, all open');
  const day = Temporal.Now.plainDateISO('Europe/Madrid');
  const actors = await activityOf(company.id, day);
  for (const [name, path] of Object.entries(actors)) {
    await page.goto(`${HOME}/${path}?company=${company.slug}`);
    for (const summary of await page.locator('summary').all()) await summary.click();
    await look(`activity of a ${name}`);
  }
  await page.goto(`${HOME}?company=${other.slug}`);
  await look('integrations, empty');
  await page.goto(`${COMPANY}?company=${company.slug}`);
  await page.locator('#razon_social').fill('Una empresa de razón social bastante larga y comunidad de bienes');
  await page.locator('#cif').fill('B12345678');
  await page.locator('#email').fill('nada');
  await submit('data');
  await page.locator('.problem').first().waitFor();
  await look('fiscal data, refused');
  await page.locator('#cif').fill('B12345674');
  await page.locator('#email').fill('administracion@example.com');
  await submit('data');
  await page.locator('.notice.good').waitFor();
  await page.locator('#logo').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: LOGO });
  await submit('look');
  await page.locator('.logo').waitFor();
  await look('fiscal data');
  await page.goto(`${COMPANY}?company=${other.slug}`);
  await look('fiscal data, of a member');
  await page.goto('/settings/password');
  await page.locator('#actual').fill('x');
  await page.locator('#nueva').fill('x');
  await page.locator('#repetida').fill('y');
  await submit();
  await page.locator('.problem').waitFor();
  await look('password, refused');
  await page.goto(`${HOME}?company=nobody`);
  await look('not found');
});
