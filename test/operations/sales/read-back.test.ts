// All that is stored of a document can be read, and sent again.
import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-03-10T09:00:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo' },
  { coleccion: 'proyectos', ref: 'nave', id: 21, numero: '1', descripcion: 'Nave' },
  { coleccion: 'proyectos', ref: 'patio', id: 22, numero: '2', descripcion: 'Patio' },
  {
    coleccion: 'articulos',
    ref: 'tornillo',
    id: 10,
    descripcion: 'Tornillo',
    stock: 1000,
    precios: [{ tarifa: 1, precio: 0.05 }],
    variaciones: [{ ref: 'zincado', id: 61, descripcion: 'Zincado' }],
    formatos: [{ ref: 'kilo', id: 73, titulo: 'Bolsa a peso', factor: 50, peso_variable: true }],
  },
];
const cuenta = { stock_multiformato: true };

const line = {
  cantidad: 3,
  descripcion: 'Tornillo zincado',
  importe_unitario: 2,
  iva: 10,
  descuento: 5,
  articulo_fk: 10,
  variacion_articulo_fk: 61,
  formatoId: 73,
  cantidad_base_real: 148.5,
  descripcion_ampliada: 'Bolsa de 3 kg',
  startDate: '2026-03-12',
  endDate: '2026-03-14',
};
const pedido = { obra: 'Nave', detalles_operacion: '<b>Frágil</b>', promo_code: 'MARZO' };

interface Line {
  cantidad: number;
  articuloId: string;
  variacionId: string;
  formatoId: string;
  cantidad_base_real: number;
}

test('[W-05] lines and headers answer what was sent; a line sent again with the other sign moves the same stock back', async () => {
  const acme = await server.company(records, { cuenta });
  const stock = async () => (await acme.get('/products/10')).body.data.articulo.stock;
  for (const [path, table] of [
    ['/delivery-notes', 'albaran'],
    ['/invoices', 'factura'],
  ] as const) {
    const before = await stock();
    const body = { cliente: { id: 1 }, pedido: { ...pedido, proyectoId: 21 }, detalles: [line] };
    const created = await acme.post(path, body);
    expect([created.status, created.body.errorMsg]).toEqual([200, '']);
    expect(await stock()).toBe(before - 148.5);
    const { data } = (await acme.get(`${path}/${created.body.data}`)).body;
    const { proyectoId } = (await acme.get('/projects/21')).body.data.proyecto;
    expect(data).toMatchObject({
      tipo: table,
      observaciones: '<b>Frágil</b>',
      promo_code: 'MARZO',
      proyectoId,
      lineas: [
        {
          descripcion: 'Tornillo zincado',
          cantidad: 3,
          importe_unitario: 2,
          descuento: 5,
          iva: 10,
          importe: 5.7,
          cantidad_base_real: 148.5,
          descripcion_ampliada: 'Bolsa de 3 kg',
          startDate: '2026-03-12',
          endDate: '2026-03-14',
          proyectoId,
        },
      ],
    });
    const back = data.lineas.map(({ cantidad, articuloId, variacionId, formatoId, cantidad_base_real }: Line) => ({
      cantidad: -cantidad,
      articulo_fk: articuloId,
      variacion_articulo_fk: variacionId,
      formatoId,
      cantidad_base_real,
    }));
    expect((await acme.post(path, { ...body, detalles: back })).status).toBe(200);
    expect(await stock()).toBe(before);
  }
});

test('[W-05] an invoice answers its VAT by rate, its total and balance, its due dates and its delivery notes', async () => {
  const acme = await server.company(records, { cuenta });
  const detalles = [
    { cantidad: 1, descripcion: 'Obra', importe_unitario: 100, iva: 10 },
    { cantidad: 1, descripcion: 'Material', importe_unitario: 33.33, iva: 21 },
  ];
  const note = await acme.post('/delivery-notes', { cliente: { id: 1 }, pedido, detalles });
  const vencimientos = [
    { fecha: '2026-04-10', importe: 100 },
    { fecha: '2026-05-10', importe: 50.33 },
  ];
  const invoice = await acme.post('/invoices', { albaranes: [note.body.data], vencimientos });
  expect([invoice.status, invoice.body.errorMsg]).toEqual([200, '']);
  const { data } = (await acme.get(`/invoices/${invoice.body.data}`)).body;
  expect(data).toMatchObject({
    base_imponible: 133.33,
    total_con_iva: 150.33,
    desglose_iva: [
      { iva: 21, base: 33.33, cuota: 7 },
      { iva: 10, base: 100, cuota: 10 },
    ],
    saldo: 150.33,
    pagada: false,
    vencimientos: [
      { vencimientoId: expect.any(String), fecha: '2026-04-10', importe: 100, pendiente: 100 },
      { vencimientoId: expect.any(String), fecha: '2026-05-10', importe: 50.33, pendiente: 50.33 },
    ],
    albaranes: [{ tipo: 'albaran', id: note.body.data, numero: 'A2026-0001' }],
  });
  const due = (await acme.get('/treasury/due-dates')).body.data.vencimientos;
  expect(data.vencimientos.map(({ vencimientoId }: { vencimientoId: string }) => vencimientoId)).toEqual(
    due.map(({ vencimientoId }: { vencimientoId: string }) => vencimientoId),
  );
});

test('[W-07] the sale counts for the project of the order, or for that of the line', async () => {
  const acme = await server.company(records, { cuenta });
  const sales = async (id: number) => (await acme.get(`/projects/${id}`)).body.data.proyecto.economico.ventas;
  const detalles = [
    { cantidad: 1, descripcion: 'Obra', importe_unitario: 100 },
    { cantidad: 1, descripcion: 'Otra', importe_unitario: 7, proyectoId: 22 },
  ];
  const body = { cliente: { id: 1 }, pedido: { ...pedido, proyectoId: 21 }, detalles };
  expect((await acme.post('/delivery-notes', body)).status).toBe(200);
  expect((await acme.post('/invoices', body)).status).toBe(200);
  expect([await sales(21), await sales(22)]).toEqual([200, 14]);
  // Counted as a sale by its note already.
  const note = await acme.post('/delivery-notes', body);
  expect((await acme.post('/invoices', { albaranes: [note.body.data], pedido: { proyectoId: 22 } })).status).toBe(200);
  expect([await sales(21), await sales(22)]).toEqual([300, 21]);
  const unknown = await acme.post('/delivery-notes', { ...body, pedido: { ...pedido, proyectoId: 999 } });
  expect([unknown.status, unknown.body.errorMsg]).toEqual([404, expect.stringContaining('pedido.proyectoId')]);
});

test('[W-07] another series of the company has its own last number', async () => {
  const acme = await server.company(records, { cuenta });
  const detalles = [{ cantidad: 1, descripcion: 'Obra', importe_unitario: 100 }];
  const post = (path: string, fecha: string) =>
    acme.post(path, { cliente: { id: 1 }, pedido: { ...pedido, fecha }, detalles });
  for (const path of ['/delivery-notes', '/invoices', '/estimates']) {
    await acme.load([], { ...cuenta, series: null });
    const statuses = [(await post(path, '2026-03-05')).status, (await post(path, '2026-03-04')).status];
    await acme.load([], { ...cuenta, series: { albaran: 'A/', factura: 'A/A', presupuesto: 'A-' } });
    for (const day of ['02', '01', '02', '03', '02']) statuses.push((await post(path, `2026-03-${day}`)).status);
    expect(statuses).toEqual([200, 400, 200, 400, 200, 200, 400]);
    await acme.load([], { ...cuenta, series: null });
    expect([(await post(path, '2026-03-04')).status, (await post(path, '2026-03-05')).status]).toEqual([400, 200]);
  }
});

test('[W-07] a document may be of an earlier day, but not of one to come, nor before the last number of its series', async () => {
  const acme = await server.company(records, { cuenta });
  for (const path of ['/delivery-notes', '/invoices']) {
    const detalles = [{ cantidad: 1, descripcion: 'Obra', importe_unitario: 100 }];
    const post = (fecha?: string) =>
      acme.post(path, { cliente: { id: 1 }, pedido: { ...pedido, ...(fecha && { fecha }) }, detalles });
    const read = async (fecha?: string) => {
      const created = await post(fecha);
      expect([created.status, created.body.errorMsg]).toEqual([200, '']);
      const { numero, fecha: dated } = (await acme.get(`${path}/${created.body.data}`)).body.data;
      return `${numero.slice(1)} ${dated}`;
    };
    expect(await read('2026-03-02')).toBe('2026-0001 2026-03-02');
    expect(await read('2026-03-02')).toBe('2026-0002 2026-03-02');
    expect(await read('2026-03-05')).toBe('2026-0003 2026-03-05');
    // A series begins with each year.
    expect(await read('2025-12-31')).toBe('2025-0001 2025-12-31');
    const refused = [await post('2026-03-04'), await post('2026-03-11'), await post('2025-12-30')];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
    const last = 'no puede ser anterior a la del último número de la serie';
    expect(refused.map(({ body }) => body.errorMsg)).toEqual([
      `El parámetro pedido.fecha no es válido: ${last}`,
      'El parámetro pedido.fecha no es válido: no puede ser posterior a hoy',
      `El parámetro pedido.fecha no es válido: ${last}`,
    ]);
    expect(await read()).toBe('2026-0004 2026-03-10');
  }
  const due = (await acme.get('/treasury/due-dates')).body.data.vencimientos;
  expect(due.map(({ fecha }: { fecha: string }) => fecha)).toEqual([
    '2025-12-31',
    '2026-03-02',
    '2026-03-02',
    '2026-03-05',
    '2026-03-10',
  ]);
});
