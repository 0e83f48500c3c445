// Export is complete: importing it makes the same company, and exporting that gives the same bytes.
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { demoCompany } from '../../account-file/demo/index.ts';
import { exportAccountFile } from '../../account-file/export.ts';
import { importAccountFile } from '../../account-file/import.ts';
import { JPEG } from '../documents/pictures.ts';
import { startServer } from '../helpers/world.ts';
import { arbitraryCompany } from './arbitrary-company.ts';
import { linesOf, openCompanies } from './companies.ts';
import { SAMPLE } from './sample.ts';

const companies = await openCompanies();
afterAll(() => companies[Symbol.asyncDispose]());

/** Exports a company with these lines, and exports a second one that imported the first export. */
async function twice(lines: Iterable<string>) {
  const [acme, other] = [await companies.company(), await companies.company()];
  await acme.importLines(lines);
  const first = await acme.export();
  await other.importLines(first);
  return { acme, other, first, second: await other.export() };
}

test('the demo company exported, imported into an empty one and exported again is the same file', async () => {
  const today = Temporal.PlainDate.from('2026-03-10');
  const lines = [...demoCompany({ today })].map((record) => JSON.stringify(record));
  const { first, second } = await twice(lines);
  expect(first).toHaveLength(lines.length);
  expect(second.join('\n') === first.join('\n')).toBe(true);
}, 60_000);

test('so is any company, and importing its own export changes nothing in it', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryCompany, async (records) => {
      const { acme, first, second } = await twice(linesOf(records));
      expect(second).toEqual(first);
      const before = await acme.dump();
      expect(await acme.importLines(first)).toMatchObject({ created: 0, changed: 0 });
      expect(await acme.dump()).toEqual(before);
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 60_000);

test('collections come in the order of the format, records by number, with every field', async () => {
  const acme = await companies.company({ quotaPerMinute: 600 });
  await acme.import([...SAMPLE, { coleccion: 'empleados', ref: 'leo', id: 2, nombre: 'Leo' }]);
  const exported = (await acme.export()).map((text) => JSON.parse(text));
  const order = [...new Set(SAMPLE.map(({ coleccion }) => coleccion))];
  expect([...new Set(exported.map(({ coleccion }) => coleccion))]).toEqual(order);
  expect(exported[0]).toEqual({
    coleccion: 'cuenta',
    ref: 'acme',
    id: null,
    formato: 2,
    nombre: 'Acme, S.L.',
    cif: 'B12345674',
    zona_horaria: 'Europe/Madrid',
    stock_multiformato: true,
    cuota_por_minuto: 600,
    emision_automatica: true,
    razon_social: 'Acme Suministros, S.L.',
    direccion: 'Calle Mayor, 1',
    cp: '11001',
    poblacion: 'Cádiz',
    provincia: 'Cádiz',
    pais: 'España',
    email: 'acme@example.com',
    iban: 'ES9121000418450200051332',
    color: '#0f766e',
    regimen_iva: 'caja',
    logo: { tipo_mime: 'image/jpeg', contenido: JPEG.toString('base64') },
    series: { albaran: null, factura: 'FAC-', rectificativa: null, presupuesto: '2/PRE/' },
  });
  expect(exported.filter(({ coleccion }) => coleccion === 'empleados')).toEqual([
    {
      coleccion: 'empleados',
      ref: 'leo',
      id: 2,
      nombre: 'Leo',
      apellidos: null,
      email: null,
      activo: true,
      departamento: null,
    },
    {
      coleccion: 'empleados',
      ref: 'ana',
      id: 11,
      nombre: 'Ana',
      apellidos: 'Núñez',
      email: 'Ana@acme.example',
      activo: true,
      departamento: 'taller',
    },
  ]);
});

test('what was left out comes back as it counts: defaults, computed prices, due dates', async () => {
  const acme = await companies.company();
  await acme.import(SAMPLE);
  const [hilo] = await acme.exported('articulos');
  expect(hilo).toMatchObject({
    precios: [
      { tarifa: 1, precio: 1.005, precio_con_iva: 1.2 },
      { tarifa: 2, precio: 0.9, precio_con_iva: null },
    ],
    stock: 40.5,
  });
  const [, factura] = await acme.exported('facturas');
  expect(factura?.vencimientos).toMatchObject([{ fecha: '2026-02-01', importe: 69.8, cobrado: 0 }]);
  const [albaran] = await acme.exported('albaranes');
  expect(albaran).toMatchObject({
    observaciones: '<p>En obra</p>\n',
    proyecto: 'nave',
    lineas: [{ proyecto: null }, {}],
  });
  // The opening movement is derived from the stock.
  expect(await acme.exported('movimientos_stock')).toMatchObject([
    { ref: 'm1', cantidad: -198.5, linea: 'l1', factura: null, motivo: null },
    { ref: 'm2', cantidad: -1, factura: 'f1', albaran: null },
    { ref: 'm3', cantidad: 1, albaran_compra: 'c1', motivo: 'Recuento' },
  ]);
});

test('records that the service made travel too, under the ref @<id>', async () => {
  await using server = await startServer();
  const { database } = server.service;
  const hilo = {
    coleccion: 'articulos',
    ref: 'hilo',
    id: 5,
    descripcion: 'Hilo',
    stock: 10,
    precios: [{ tarifa: 1, precio: 0.123457 }],
    formatos: [{ ref: 'b', titulo: 'Bobina', factor: 333.333333, defecto_venta: true }],
  };
  const bar = { coleccion: 'clientes', ref: 'bar', id: 1, nombre_fiscal: 'Bar' };
  const funnel = { coleccion: 'funnels', ref: 'f', id: 1, titulo: 'F', etapas: [{ ref: 'e', id: 1, titulo: 'E' }] };
  const acme = await server.company([bar, hilo, funnel], { cuenta: { stock_multiformato: true } });
  const pedido = { obra: ' Obra ', detalles_operacion: '<p>\n Portal 3 </p>', promo_code: '' };
  const detalles = [
    { articulo_fk: 5, cantidad: 0.000003, descripcion_ampliada: ' ' },
    { descripcion: 'Porte', cantidad: 1, importe_unitario: 9 },
  ];
  const writes = [
    ['/delivery-notes', { cliente: { id: 1 }, pedido, detalles }],
    ['/delivery-notes', { cliente: { cif: 'B-1', nombre_fiscal: 'Nuevo', email: 'a@b.example' }, pedido, detalles }],
    ['/recurring-invoices', { cliente: { cif: 'B1' }, pedido, detalles }],
    ['/invoices', { cliente: { id: 1 }, pedido, detalles }],
    [
      '/crm/opportunities',
      { datos: { funnel_fk: 1, etapa_fk: 1, descripcion: 'Nave', email_contacto: 'rita@nilo.example' } },
    ],
    [
      '/products',
      {
        datos: {
          descripcion: 'Cable',
          formatos: [{ titulo: 'Rollo', factor: 50 }],
          variaciones: [{ descripcion: 'Azul' }],
        },
      },
    ],
    ['/products/5/stock', { recuento: 7.5, motivo: 'Recuento' }],
  ] as const;
  const created = async (path: string, body: object): Promise<string> => {
    const answer = await acme.post(path, body);
    expect(answer.body).toMatchObject({ errorCode: 200 });
    return answer.body.data;
  };
  for (const [path, body] of writes) await created(path, body);
  const purchase = { proveedor: { cif: 'A1', nombre_fiscal: 'Hilados' }, detalles };
  const [kept, gone] = [
    await created('/purchase-delivery-notes', purchase),
    await created('/purchase-delivery-notes', purchase),
  ];
  const bill = { proveedor: { cif: 'A1' }, numero: 'X', fecha: '2026-01-02' };
  await created('/purchase-invoices', { ...bill, albaranes: [kept] });
  await created(`/purchase-delivery-notes/${gone}/annul`, { motivo: 'Duplicado' });

  const first = await Array.fromAsync(exportAccountFile(database, acme.id));
  const move = first.map((text) => JSON.parse(text)).find(({ coleccion }) => coleccion === 'movimientos_stock');
  // More decimals than the file allows in entered numbers.
  expect(move).toMatchObject({ ref: `@${move.id}`, cantidad: -0.000999999999, linea: expect.stringMatching(/^@\d+$/) });
  expect(await importAccountFile(database, acme.id, first)).toMatchObject({ created: 0, changed: 0 });

  const other = await server.company();
  await importAccountFile(database, other.id, first);
  expect(await Array.fromAsync(exportAccountFile(database, other.id))).toEqual(first);
  // Assigned ids follow the imported ones.
  const [[, note]] = writes;
  expect((await other.post('/delivery-notes', note)).body).toMatchObject({ errorCode: 200 });
});

test('an export is one moment of the company, though others write meanwhile', async () => {
  const acme = await companies.company();
  const machine = (ref: string) => ({ coleccion: 'maquinas', ref, titulo: ref });
  await acme.import(Array.from({ length: 2000 }, (_, index) => machine(`m${index}`)));
  const lines = exportAccountFile(companies.database, acme.id);
  await lines.next();
  await acme.import([machine('late')]);
  const rest = await Array.fromAsync(lines);
  expect(rest.filter((text) => text.includes('"maquinas"'))).toHaveLength(2000);
  expect(rest.join()).not.toContain('late');
});

test('whoever stops reading an export ends its transaction', async () => {
  const acme = await companies.company();
  await acme.import(SAMPLE);
  for (let time = 0; time < 20; time++) {
    for await (const text of exportAccountFile(companies.database, acme.id)) {
      expect(text).toContain('"cuenta"');
      break;
    }
  }
  // All of the pool's ten connections are free again.
  const reads = Array.from({ length: 10 }, () =>
    companies.database.transaction(acme.id, {}, (db) =>
      db.selectFrom('accounts').select('id').where('id', '=', acme.id).execute(),
    ),
  );
  expect(await Promise.all(reads)).toHaveLength(10);
});

test('an export of a company that is not there fails', async () => {
  await expect(Array.fromAsync(exportAccountFile(companies.database, 999_999_999))).rejects.toThrow('no company');
});
