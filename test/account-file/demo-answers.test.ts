import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { demoCompany } from '../../account-file/demo/index.ts';
import { importAccountFile } from '../../account-file/import.ts';
import { type Operation, operations } from '../../bridges/operations.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';

const TODAY = '2026-03-10';
let server: Server;
let demo: Company;

beforeAll(async () => {
  server = await startServer({ clock: new TestClock(`${TODAY}T10:00:00Z`) });
  demo = await server.company();
  const records = demoCompany({ today: Temporal.PlainDate.from(TODAY) });
  await importAccountFile(
    server.service.database,
    demo.id,
    Iterator.from(records).map((record) => JSON.stringify(record)),
    { now: server.service.clock.now() },
  );
});
afterAll(() => server.stop());

/** Typical first questions: the last three months, and the first record there is where an id is needed. */
function firstQuestion({ input, routes }: Operation): Record<string, unknown> {
  const asked = Object.keys(input.shape);
  const needed = routes[0]?.parameters ?? [];
  // Without dates if they are not required: the record may be old.
  const anytime = needed.length > 0 && z.safeParse(input.shape.fecha_inicio ?? z.never(), undefined).success;
  return {
    ...(asked.includes('fecha_inicio') && !anytime ? { fecha_inicio: '2026-01-01', fecha_fin: '2026-03-31' } : {}),
    ...(asked.includes('agrupar') ? { agrupar: 'mes' } : {}),
    ...Object.fromEntries(needed.map((name) => [name, 1])),
  };
}

/** All lists of an answer, at any depth. An empty list shows nothing. */
const listsIn = (value: unknown): unknown[][] =>
  Array.isArray(value)
    ? [value, ...value.slice(0, 3).flatMap(listsIn)]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(listsIn)
      : [];

// The demo company sends nothing to anybody, its documents are as they were sealed, and no operator supplies it with registers.
const shown = operations.filter(
  ({ write, path }) =>
    !write && !path.startsWith('webhooks.') && path !== 'documents.verify' && path !== 'documents.register',
);

test.each(shown.map((operation) => [operation.path, operation] as const))(
  'the demo company has something to show for %s',
  async (_, operation) => {
    const question = firstQuestion(operation);
    // These have no numbers of their own.
    for (const [name, path, list] of [
      ['proveedorId', '/suppliers', 'proveedores'],
      ['recurrenteId', '/recurring-invoices', 'recurrentes'],
      ['albaranCompraId', '/purchase-delivery-notes', 'documentos'],
      ['facturaCompraId', '/purchase-invoices', 'facturas'],
    ] as const) {
      if (name in question) question[name] = (await demo.get(path, { por_pagina: 1 })).body.data[list][0][name];
    }
    if ('tipo' in question) question.tipo = 'factura';
    if ('ref' in question) Object.assign(question, { coleccion: 'clientes', ref: 'cli-1' });
    const { status, body } = await demo.alias(operation.alias, question);
    expect([status, body.errorMsg]).toEqual([200, '']);
    const lists = listsIn(body.data);
    // An id alone has 25 characters.
    expect(JSON.stringify(body.data).length).toBeGreaterThan('ref' in question ? 24 : 60);
    if (lists.length > 0) expect(Math.max(...lists.map(({ length }) => length))).toBeGreaterThan(0);
  },
);

test('[PRO-01] the demo company has articles to order, and no service among them', async () => {
  const { body } = await demo.get('/products', { bajo_minimo: true, por_pagina: 500 });
  const families: string[] = body.data.articulos.map(({ familia }: { familia: { titulo: string } }) => familia.titulo);
  expect(families.length).toBeGreaterThan(10);
  expect(families).not.toContain('Mano de obra y servicios');
});
