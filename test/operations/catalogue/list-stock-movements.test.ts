import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T22:30:15Z') });
afterAll(() => server.stop());

const moved = (id: number, fecha: string, cantidad: number, more: object = {}): FileRecord => ({
  ...{ coleccion: 'movimientos_stock', ref: `m${id}`, id, articulo: 'hilo', fecha, cantidad, ...more },
});
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'bar', id: 1, nombre_fiscal: 'Bar' },
  { coleccion: 'articulos', ref: 'hilo', id: 2, descripcion: 'Hilo', stock: 12.5 },
  { coleccion: 'articulos', ref: 'grua', id: 3, descripcion: 'Grúa', modo: 'alquiler', stock: 2 },
  {
    ...{ coleccion: 'albaranes', ref: 'a', id: 4, numero: 'A2026-0007', fecha: '2026-02-01', cliente: 'bar' },
    lineas: [{ ref: 'l', descripcion: 'Hilo', cantidad: 2, importe_unitario: 1, articulo: 'hilo' }],
  },
  { coleccion: 'albaranes', ref: 'b', id: 5, fecha: '2026-02-01', cliente: 'bar', lineas: [] },
  moved(11, '2026-02-01 10:00:00', -2, { albaran: 'a', linea: 'l' }),
  moved(12, '2026-02-28 23:59:59', -0.5, { albaran: 'b' }),
  moved(14, '2026-03-01 00:00:00', 5),
  moved(13, '2026-03-01 00:00:00', 1),
];
const list = async (company: Company, query: object = {}, id: string | number = 2) =>
  (await company.get(`/products/${id}/stock-movements`, { ...query })).body.data;
const quantities = async (company: Company, query: object = {}, id: string | number = 2): Promise<number[]> =>
  (await list(company, query, id)).movimientos.map(({ cantidad }: { cantidad: number }) => cantidad);

test('[PAG-02] [DLV-03] newest first, each with its delivery note; they add up to the stock', async () => {
  const acme = await server.company(records);
  const { movimientos, ...totals } = await list(acme);
  expect(totals).toEqual({ total_movimientos: 5, pagina: 1, por_pagina: 100, num_paginas: 1, cursor: null });
  const none = { movimientoId: expect.stringMatching(/^[\w-]{23}$/), motivo: '', documento: null };
  const notes = (await acme.get('/delivery-notes')).body.data.documentos;
  const [b, a] = notes.map(({ albaranId, numero }: Record<string, string>) => ({
    tipo: 'albaran',
    id: albaranId,
    numero,
  }));
  expect(movimientos).toEqual([
    { ...none, fecha: '2026-03-01 00:00:00', cantidad: 5 },
    { ...none, fecha: '2026-03-01 00:00:00', cantidad: 1 },
    { ...none, fecha: '2026-02-28 23:59:59', cantidad: -0.5, documento: b },
    { ...none, fecha: '2026-02-01 10:00:00', cantidad: -2, documento: a },
    { ...none, fecha: '2026-02-01 10:00:00', cantidad: 9, motivo: 'Existencias iniciales' },
  ]);
  expect([a.numero, b.numero]).toEqual(['A2026-0007', '']);
  expect((await acme.get(`/delivery-notes/${a.id}`)).status).toBe(200);
  const pages = [1, 2, 3, 4].map((pagina) => quantities(acme, { pagina, por_pagina: 2 }));
  expect(await Promise.all(pages)).toEqual([[5, 1], [-0.5, -2], [9], []]);
  expect(await list(acme, {}, 3)).toMatchObject({ total_movimientos: 0, movimientos: [] });
});

test('[DLV-03] imported movements name an invoice or a purchase delivery note, and why stock was adjusted', async () => {
  const acme = await server.company([
    ...records,
    { coleccion: 'proveedores', ref: 'hilados', nombre_fiscal: 'Hilados SA' },
    { coleccion: 'facturas', ref: 'f', id: 6, numero: 'F-1', fecha: '2026-03-02', cliente: 'bar', lineas: [] },
    {
      coleccion: 'albaranes_compra',
      ref: 'c',
      id: 7,
      numero: 'C-1',
      fecha: '2026-03-02',
      proveedor: 'hilados',
      lineas: [],
    },
    moved(15, '2026-03-02 10:00:00', -1, { factura: 'f' }),
    moved(16, '2026-03-03 10:00:00', 20, { albaran_compra: 'c' }),
    moved(17, '2026-03-04 10:00:00', -0.25, { motivo: 'Recuento' }),
  ]);
  const id = expect.stringMatching(/^[\w-]{23}$/);
  expect((await list(acme, { fecha_inicio: '2026-03-02' })).movimientos).toMatchObject([
    { cantidad: -0.25, motivo: 'Recuento', documento: null },
    { cantidad: 20, motivo: '', documento: { tipo: 'albaran_compra', id, numero: 'C-1' } },
    { cantidad: -1, motivo: '', documento: { tipo: 'factura', id, numero: 'F-1' } },
  ]);
});

test('[DATE-02] the range counts the company’s days, both ends', async () => {
  const acme = await server.company(records);
  const february = { fecha_inicio: '2026-02-28', fecha_fin: '2026-02-28' };
  expect(await quantities(acme, february)).toEqual([-0.5]);
  expect(await quantities(acme, { fecha_inicio: '2026-03-01' })).toEqual([5, 1]);
  expect(await list(acme, { fecha_fin: '2026-02-01' })).toMatchObject({ total_movimientos: 2 });
  expect(await quantities(acme, { fecha_inicio: '2026-03-02' })).toEqual([]);
  const bad = await acme.get('/products/2/stock-movements', { fecha_inicio: '2026-02-30' });
  expect([bad.status, bad.body.data]).toMatchObject([400, [{ campo: 'fecha_inicio' }]]);
});

test('[DLV-03] what a document sells is the newest, an invoice too', async () => {
  const acme = await server.company(records);
  const sale = { cliente: { id: 1 }, pedido: { obra: 'Obra' }, detalles: [{ cantidad: 3, articulo_fk: 2 }] };
  const { data: albaranId } = (await acme.post('/delivery-notes', sale)).body;
  const [note] = (await list(acme)).movimientos;
  expect(note).toMatchObject({
    ...{ fecha: '2026-03-10 23:30:15', cantidad: -3 },
    documento: { tipo: 'albaran', id: albaranId, numero: 'A2026-0008' },
  });
  const invoiced = await acme.post('/invoices', { ...sale, detalles: [{ cantidad: 1, articulo_fk: 2 }] });
  const documento = { tipo: 'factura', id: invoiced.body.data, numero: 'F2026-0001' };
  expect((await list(acme)).movimientos[0]).toMatchObject({ cantidad: -1, motivo: '', documento });
  const { stock } = (await acme.get('/products/2')).body.data.articulo;
  expect((await quantities(acme)).reduce((sum, one) => sum + one, 0)).toBe(stock);
});

test('[AUTH-01] [TEN-01] a read-only key reads them, nobody does without one, another company’s product is a 404', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const path = '/api/v1/products/2/stock-movements';
  expect((await server.request(path, { headers: await acme.newKey(true) })).status).toBe(200);
  expect((await server.request(path)).status).toBe(401);
  const { articuloId } = (await acme.get('/products/2')).body.data.articulo;
  for (const id of [articuloId, 2, 99, 'x']) {
    const { status, body } = await other.get(`/products/${id}/stock-movements`);
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('articuloId')]);
  }
});
