// The docs page in a real browser: every operation, no external requests, every width, light and dark.
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApiDocument } from '../../bridges/openapi.ts';
import { type Server, startServer } from '../helpers/world.ts';
import { CHROMIUM_ARGUMENTS, chromiumPath } from './needs.ts';

interface Document {
  paths: Record<string, Record<string, unknown>>;
}

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

/** The page after rendering, with its errors and its requests to other hosts. */
async function openDocs(options: { colorScheme?: 'light' | 'dark'; width?: number; hash?: string } = {}) {
  const { colorScheme = 'light', width = 1280, hash = '' } = options;
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  const strangers: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${server.url}/`) && !request.url().startsWith('data:'))
      strangers.push(request.url());
  });
  const response = await page.goto(`${server.url}/docs${hash}`);
  await page.getByRole('heading', { name: 'Albaran' }).waitFor();
  return { page, complaints, strangers, response, [Symbol.asyncDispose]: () => context.close() };
}

test('shows every operation, complains of nothing and asks no other host for anything', async () => {
  await using docs = await openDocs();
  const { page, complaints, strangers } = docs;
  const closed = page.locator('aside li button[aria-expanded="false"]');
  while ((await closed.count()) > 0) await closed.first().click();

  const document: Document = JSON.parse(JSON.stringify(openApiDocument()));
  const expected = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()}${path}`),
  );
  const links = await page
    .locator('aside a[href]')
    .evaluateAll((anchors) => anchors.map((anchor) => anchor.getAttribute('href') ?? ''));
  const shown = links.map(decodeURIComponent);
  expect(expected.filter((operation) => !shown.some((link) => link.endsWith(`/${operation}`)))).toEqual([]);
  expect(complaints).toEqual([]);
  expect(strangers).toEqual([]);
});

test('lets a reader try an operation with a key, leaving out what is optional', async () => {
  const company = await server.company([{ coleccion: 'articulos', descripcion: 'Tornillo M8' }]);
  await using docs = await openDocs({ hash: '#tag/catálogo/GET/api/v1/products' });
  const { page, complaints, strangers } = docs;
  const credentials = page.getByPlaceholder('QUxM');
  await credentials.nth(0).fill(company.headers['x-api-key']);
  await credentials.nth(1).fill(company.headers['x-api-secret']);
  await page.getByRole('button', { name: 'Probar solicitud (get /api/v1/products)' }).click();
  const answered = page.waitForResponse((response) => response.url().includes('/api/v1/products'));
  await page.getByRole('button', { name: 'Enviar' }).first().click();
  const { data } = await (await answered).json();
  expect(data.articulos).toMatchObject([{ descripcion: 'Tornillo M8' }]);
  expect(complaints).toEqual([]);
  expect(strangers).toEqual([]);
});

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const)('is readable in %s at a width of %d', async (colorScheme, width) => {
  await using docs = await openDocs({ colorScheme, width });
  const { page, complaints } = docs;
  const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
  const [red = 0] = (/\d+/.exec(background) ?? []).map(Number);
  expect(red > 128).toBe(colorScheme === 'light');
  expect(wide).toBeLessThanOrEqual(width);
  expect(complaints).toEqual([]);
});

test('runs under a policy of its own path alone: no foreign host, no inline script', async () => {
  await using docs = await openDocs();
  const policy = docs.response?.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  for (const path of ['/', '/api/v1/openapi.json', '/docs/scalar.js', '/docs/nothing']) {
    const { headers } = await server.request(path);
    expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
  }
});
