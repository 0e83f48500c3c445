// `modificado_desde`: what a write changes, of the record that it names or of others.
import { afterAll, expect, test } from 'vitest';
import { KINDS } from '../../platform/ids.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T10:00:00Z'), quotaPerMinute: 1_000_000 });
afterAll(() => server.stop());

const line = { descripcion: 'Silla', cantidad: 2, importe_unitario: 50 };
const records: FileRecord[] = [
  { coleccion: 'tarifas', ref: 't1', tarifa: 1 },
  { coleccion: 'clientes', ref: 'sol', id: 1, nombre_fiscal: 'Café Sol' },
  { coleccion: 'proveedores', ref: 'rio', id: 2, nombre_fiscal: 'Río' },
  {
    coleccion: 'articulos',
    ref: 'silla',
    id: 3,
    descripcion: 'Silla',
    stock: 10,
    formatos: [{ ref: 'caja', titulo: 'Caja', factor: 6 }],
  },
  { coleccion: 'articulos', ref: 'mesa', id: 4, descripcion: 'Mesa', stock: 10 },
  { coleccion: 'cuentas_tesoreria', ref: 'banco', id: 5, titulo: 'Banco', tipo: 'banco' },
  {
    coleccion: 'recurrentes',
    ref: 'cuota',
    id: 6,
    descripcion: 'Cuota',
    cliente: 'sol',
    periodicidad: 'mensual',
    fecha_creacion: '2026-01-01',
    lineas: [line],
  },
];

/** Every record of the company is as it was long ago. */
async function age(company: Company) {
  for (const table of ['product_stocks', ...new Set(Object.values(KINDS).map(({ table }) => table))]) {
    await server.service.database.pool.query(`update ${table} set updated_at = '2020-01-01' where account_id = $1`, [
      company.id,
    ]);
  }
}

async function changedIn(company: Company, path: string, modificado_desde = '2020-01-02'): Promise<string[]> {
  const { status, body } = await company.get(path, { modificado_desde });
  expect([path, status, body.errorMsg]).toEqual([path, 200, '']);
  const rows = Object.values<unknown>(body.data).find(Array.isArray) ?? [];
  return rows.map((row) => row.numero || row.descripcion || row.nombre_fiscal || row.nombre || row.importe);
}

const done = async (answer: Promise<Awaited<ReturnType<Company['post']>>>) => {
  const { status, body } = await answer;
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data;
};
const numberOf = async (company: Company, path: string) => (await company.get(path)).body.data.numero;

test('[DATE-02] a day begins where the company is; an instant is exact', async () => {
  const acme = await server.company(
    ['before', 'at', 'after'].map((nombre) => ({ coleccion: 'contactos', ref: nombre, nombre })),
    { cuenta: { zona_horaria: 'Europe/Madrid' } },
  );
  for (const [name, moment] of [
    ['before', '2026-03-09T22:59:59.999Z'],
    ['at', '2026-03-09T23:00:00Z'],
    ['after', '2026-03-09T23:00:00.001Z'],
  ]) {
    await server.service.database.pool.query(
      'update contacts set updated_at = $3 where account_id = $1 and name = $2',
      [acme.id, name, moment],
    );
  }
  const since = (moment: string) => changedIn(acme, '/crm/contacts', moment);
  expect(await since('2026-03-10')).toEqual(['after', 'at']);
  expect(await since('2026-03-10T00:00:00+01:00')).toEqual(['after', 'at']);
  expect(await since('2026-03-09T23:00:00.001Z')).toEqual(['after']);
  expect(await since('2026-03-11')).toEqual([]);
  expect(await since('')).toEqual(['after', 'at', 'before']);
});

test('[W-04] settling, invoicing, rectifying and annulling change the documents that they say something of', async () => {
  const acme = await server.company(records);
  const pedido = { obra: 'Obra' };
  const [note, other] = [
    await done(acme.post('/delivery-notes', { cliente: { id: 1 }, pedido, detalles: [line] })),
    await done(acme.post('/delivery-notes', { cliente: { id: 1 }, pedido, detalles: [line] })),
  ];
  const noteNumber = await numberOf(acme, `/delivery-notes/${note}`);
  expect(await changedIn(acme, '/delivery-notes')).toHaveLength(2);
  await age(acme);
  expect(await changedIn(acme, '/delivery-notes')).toEqual([]);

  const invoice = await done(acme.post('/invoices', { albaranes: [note] }));
  const number = await numberOf(acme, `/invoices/${invoice}`);
  expect(await changedIn(acme, '/delivery-notes')).toEqual([noteNumber]);
  expect(await changedIn(acme, '/invoices')).toEqual([number]);

  await age(acme);
  const [due] = (await acme.get('/treasury/due-dates', { facturaId: invoice })).body.data.vencimientos;
  await done(acme.post(`/treasury/due-dates/${due.vencimientoId}/settle`, { importe: 1, cuentaId: 5 }));
  expect(await changedIn(acme, '/invoices')).toEqual([number]);
  expect(await changedIn(acme, '/treasury/due-dates')).toEqual([due.importe]);
  expect(await changedIn(acme, '/treasury/movements')).toEqual([1]);
  expect(await changedIn(acme, '/delivery-notes')).toEqual([]);

  await age(acme);
  const rectify = { motivo: 'Devuelto', liberar_albaranes: true, compensar: false };
  const rectifying = await done(acme.post(`/invoices/${invoice}/rectify`, rectify));
  const both = [await numberOf(acme, `/invoices/${rectifying}`), number];
  expect((await changedIn(acme, '/invoices')).toSorted()).toEqual(both.toSorted());
  expect(await changedIn(acme, '/delivery-notes')).toEqual([noteNumber]);

  await age(acme);
  await done(acme.post(`/invoices/${rectifying}/annul`, { motivo: 'Error' }));
  expect((await changedIn(acme, '/invoices')).toSorted()).toEqual(both.toSorted());
  expect(await changedIn(acme, '/delivery-notes')).toEqual([noteNumber]);

  await age(acme);
  await done(acme.post(`/delivery-notes/${other}/annul`, { motivo: 'Error' }));
  expect(await changedIn(acme, '/delivery-notes')).toEqual([await numberOf(acme, `/delivery-notes/${other}`)]);
});

test('[W-02] so do purchase invoices their notes', async () => {
  const acme = await server.company(records);
  const bought = { proveedor: { id: 2 }, numero: 'AC-1', detalles: [line] };
  const note = await done(acme.post('/purchase-delivery-notes', bought));
  await age(acme);
  const invoice = await done(
    acme.post('/purchase-invoices', { proveedor: { id: 2 }, numero: 'FC-1', fecha: '2026-03-09', albaranes: [note] }),
  );
  expect(await changedIn(acme, '/purchase-delivery-notes')).toEqual(['AC-1']);
  await age(acme);
  await done(acme.post(`/purchase-invoices/${invoice}/annul`, { motivo: 'Error' }));
  expect(await changedIn(acme, '/purchase-invoices')).toEqual(['FC-1']);
  expect(await changedIn(acme, '/purchase-delivery-notes')).toEqual(['AC-1']);
});

test('[EST-01] each conversion changes the estimate, also one that was accepted before', async () => {
  const acme = await server.company(records);
  const estimate = await done(
    acme.post('/estimates', { cliente: { id: 1 }, pedido: { obra: 'Obra' }, detalles: [{ ...line, cantidad: 3 }] }),
  );
  const { numero, lineas } = (await acme.get(`/estimates/${estimate}`)).body.data;
  for (let time = 0; time < 2; time++) {
    await age(acme);
    const lines = [{ lineaId: lineas[0].lineaId, cantidad: 1 }];
    await done(acme.post(`/estimates/${estimate}/convert`, { destino: 'albaran', lineas: lines }));
    expect(await changedIn(acme, '/estimates')).toEqual([numero]);
  }
});

test('[W-01] new formats, variations and stock change the article; what is the same already changes nothing', async () => {
  const acme = await server.company(records);
  const { formatos } = (await acme.get('/products/3')).body.data.articulo;
  const changes: [datos: object, changed: string[]][] = [
    [{ formatos: [{ titulo: 'Palé', factor: 60 }] }, ['Silla']],
    [{ formatos: [{ formatoId: formatos[0].formatoId, titulo: 'Cajón' }] }, ['Silla']],
    [{ formatos: [{ formatoId: formatos[0].formatoId, titulo: 'Cajón' }] }, []],
    [{ variaciones: [{ descripcion: 'Roja' }] }, ['Silla']],
    [{ descripcion: 'Silla' }, []],
  ];
  for (const [datos, changed] of changes) {
    await age(acme);
    await done(acme.put('/products/3', { datos }));
    expect(await changedIn(acme, '/products'), JSON.stringify(datos)).toEqual(changed);
  }
  const { variaciones } = (await acme.get('/products/3')).body.data.articulo;
  for (const changed of [['Silla'], []]) {
    await age(acme);
    const renamed = [{ variacionId: variaciones[0].variacionId, descripcion: 'Azul' }];
    await done(acme.put('/products/3', { datos: { variaciones: renamed } }));
    expect(await changedIn(acme, '/products')).toEqual(changed);
  }
  await age(acme);
  await done(acme.post('/products/4/stock', { cantidad: 1, motivo: 'Entrada' }));
  expect(await changedIn(acme, '/products')).toEqual(['Mesa']);
  const { body } = await acme.get('/products', { modificado_desde: '2020-01-02', busqueda: 'mesa' });
  expect(body.data).toMatchObject({ total_articulos: 1, num_paginas: 1 });
});

test('[W-01] other lines change a recurring service', async () => {
  const acme = await server.company(records);
  await age(acme);
  expect(await changedIn(acme, '/recurring-invoices')).toEqual([]);
  await done(acme.put('/recurring-invoices/6', { datos: { detalles: [{ ...line, iva: 21 }] } }));
  expect(await changedIn(acme, '/recurring-invoices')).toEqual(['Cuota']);
});

test('an import changes the records of which only a part is another one', async () => {
  const acme = await server.company(records);
  await age(acme);
  const [, , , chair] = records;
  const importing = (record: unknown) => acme.post('/imports', { registros: [record] });
  await done(importing(chair));
  expect(await changedIn(acme, '/products')).toEqual([]);
  await done(importing({ ...chair, formatos: [{ ref: 'caja', titulo: 'Caja', factor: 12 }] }));
  expect(await changedIn(acme, '/products')).toEqual(['Silla']);
});
