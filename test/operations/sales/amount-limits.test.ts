// W-08: limits of the amounts of lines and documents, in every write with lines and in the account file.
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z') });
afterAll(() => server.stop());

const LINE = 'el importe de la línea no puede pasar de ±1.000.000.000';
const SUM = 'la suma de los importes no puede pasar de ±100.000.000.000, sin IVA ni con él';

const records: FileRecord[] = [
  { coleccion: 'tarifas', ref: 't2', tarifa: 2 },
  { coleccion: 'clientes', ref: 'cli', id: 1, nombre_fiscal: 'Cliente SL', tarifa: 2 },
  {
    coleccion: 'articulos',
    ref: 'oro',
    id: 10,
    descripcion: 'Oro',
    iva: 0,
    precios: [
      { tarifa: 1, precio: 500_000_000.01 },
      { tarifa: 2, precio: 10_000_000 },
    ],
    formatos: [{ ref: 'caja', id: 71, titulo: 'Caja', factor: 100, defecto_venta: true }],
  },
];
const body = (detalles: object[], more: object = {}) => ({
  cliente: { id: 1 },
  pedido: { obra: 'Obra' },
  detalles,
  ...more,
});
const own = (importe_unitario: number, more: object = {}) => ({
  descripcion: 'Cosa',
  cantidad: 1,
  importe_unitario,
  iva: 0,
  ...more,
});
const hundred = Array.from({ length: 100 }, () => own(1e9));

/** The number of documents and lines of the company. */
const count = async ({ id }: Company) => {
  const tables = [
    'recurrings',
    'recurring_lines',
    'delivery_notes',
    'delivery_note_lines',
    'invoices',
    'invoice_lines',
  ];
  const { rows } = await server.service.database.pool.query<{ n: number }>(
    tables.map((table) => `select count(*)::int as n from ${table} where account_id = $1`).join(' union all '),
    [id],
  );
  return rows.reduce((sum, { n }) => sum + n, 0);
};

test.for(['/recurring-invoices', '/delivery-notes', '/invoices'])(
  '[W-08] %s takes what is within the limits, and names what is not',
  async (path) => {
    const acme = await server.company(records);
    const refused = async (detalles: object[]) => {
      const { status, body: answer } = await acme.post(path, body(detalles));
      expect(status).toBe(400);
      return answer.data;
    };
    expect(await refused([own(1), own(1e12, { cantidad: 1e12 })])).toEqual([
      { campo: 'detalles[1].importe_unitario', mensaje: LINE },
    ]);
    expect(await refused([own(1e9 + 0.01), own(-1e9 - 0.01)])).toHaveLength(2);
    expect(await refused([...hundred, own(0.01)])).toEqual([{ campo: 'detalles', mensaje: SUM }]);
    expect(await refused([...hundred.slice(1), own(1e9, { iva: 0.01 })])).toEqual([
      { campo: 'detalles', mensaje: SUM },
    ]);
    expect(await count(acme)).toBe(0);
    expect((await acme.post(path, body(hundred))).body).toMatchObject({ errorMsg: '' });
    expect((await acme.post(path, body([own(-1e9)]))).body).toMatchObject({ errorMsg: '' });
    const today = { fecha_inicio: '2026-03-10', fecha_fin: '2026-12-31' };
    expect((await acme.get('/treasury/forecast', today)).status).toBe(200);
  },
);

test('[W-08] a price that was not sent counts: of the list of the client, by the format', async () => {
  const acme = await server.company(records, { cuenta: { stock_multiformato: true } });
  const refused = { data: [{ campo: 'detalles[0].cantidad', mensaje: LINE }] };
  for (const path of ['/delivery-notes', '/invoices']) {
    // 10,000,000 a unit, 100 in a box.
    expect((await acme.post(path, body([{ articulo_fk: 10, cantidad: 1 }]))).status).toBe(200);
    expect((await acme.post(path, body([{ articulo_fk: 10, cantidad: 1.000001 }]))).body).toMatchObject(refused);
    const newClient = { cliente: { nombre_fiscal: 'Otro' } };
    expect((await acme.post(path, body([{ articulo_fk: 10, cantidad: 1 }], newClient))).body).toMatchObject(refused);
  }
  expect((await acme.get('/clients')).body.data.total_clientes).toBe(1);
  // A recurring uses list 1, without formats.
  expect((await acme.post('/recurring-invoices', body([{ articulo_fk: 10, cantidad: 1.9 }]))).status).toBe(200);
  expect((await acme.post('/recurring-invoices', body([{ articulo_fk: 10, cantidad: 2 }]))).body).toMatchObject(
    refused,
  );
});

test('[W-08] an invoice of delivery notes is within the limits too; what is stored beyond them is read', async () => {
  const acme = await server.company(records);
  const note = async (detalles: object[]) => (await acme.post('/delivery-notes', body(detalles))).body.data;
  const [one, other, old] = [await note(hundred), await note([own(0.01)]), await note([own(5)])];
  const invoice = (...albaranes: string[]) => acme.post('/invoices', { albaranes });
  expect((await invoice(one, other)).body.data).toEqual([{ campo: 'albaranes', mensaje: SUM }]);
  const before = await count(acme);
  await server.service.database.pool.query(
    'update delivery_note_lines set unit_price = 1e24 where account_id = $1 and unit_price = 5',
    [acme.id],
  );
  expect((await invoice(old)).body.data).toEqual([{ campo: 'albaranes', mensaje: LINE }]);
  expect(await count(acme)).toBe(before);
  expect((await acme.get(`/delivery-notes/${old}`)).body.data).toMatchObject({ base_imponible: 1e24 });
  const sales = await acme.get('/reports/sales', { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' });
  expect(sales.body.data.total_ventas).toBeGreaterThan(9e23);
  expect((await invoice(one)).status).toBe(200);
});

test('[W-08] amounts of other writes are bounded as sums are', async () => {
  const acme = await server.company([
    ...records,
    { coleccion: 'funnels', ref: 'f', id: 1, titulo: 'F', etapas: [{ ref: 'e', id: 2, titulo: 'E' }] },
    { coleccion: 'oportunidades', ref: 'o', id: 3, titulo: 'O', funnel: 'f', etapa: 'e' },
  ]);
  const close = (valor_cierre: number) => acme.put('/crm/opportunities/3/close', { resultado: 'ganado', valor_cierre });
  expect((await close(1e11)).status).toBe(200);
  expect((await close(-1e11)).status).toBe(200);
  expect((await close(1e11 + 0.01)).body.data).toMatchObject([{ campo: 'valor_cierre' }]);
  expect((await close(1e300)).body.data).toMatchObject([{ campo: 'valor_cierre' }]);
  const due = (importe: number) =>
    acme.post('/invoices', body([own(5)], { vencimientos: [{ fecha: '2026-04-01', importe }] }));
  expect((await due(1e11 + 0.01)).body.data).toMatchObject([{ campo: 'vencimientos[0].importe' }]);
  expect((await due(5)).status).toBe(200);
});

test('[W-08] the account file takes no more, and says in which line and field', async () => {
  const acme = await server.company(records);
  const line = (importe_unitario: number, more: object = {}) => ({
    descripcion: 'x',
    cantidad: 1,
    importe_unitario,
    ...more,
  });
  const documents = (lineas: object[]): FileRecord[] => [
    { coleccion: 'proveedores', ref: 'pro', nombre_fiscal: 'Proveedor' },
    { coleccion: 'presupuestos', ref: 'p', fecha: '2026-01-01', cliente: 'cli', lineas },
    {
      coleccion: 'recurrentes',
      ref: 'r',
      descripcion: 'R',
      cliente: 'cli',
      periodicidad: 'anual',
      fecha_creacion: '2026-01-01',
      lineas,
    },
    { coleccion: 'albaranes', ref: 'a', fecha: '2026-01-01', cliente: 'cli', lineas },
    { coleccion: 'facturas', ref: 'f', fecha: '2026-01-01', cliente: 'cli', lineas },
    { coleccion: 'albaranes_compra', ref: 'ac', fecha: '2026-01-01', proveedor: 'pro', lineas },
    { coleccion: 'facturas_compra', ref: 'fc', numero: '1', fecha: '2026-01-01', proveedor: 'pro', lineas },
  ];
  const problems = async (lineas: object[]) => {
    const refused: { problems: object[] } = await acme.load(documents(lineas)).then(
      () => ({ problems: [] }),
      (error) => error,
    );
    return refused.problems;
  };
  const collections = ['presupuestos', 'recurrentes', 'albaranes', 'facturas', 'albaranes_compra', 'facturas_compra'];
  expect(await problems([line(1e12, { cantidad: 1e12 })])).toEqual(
    collections.flatMap((coleccion) => [
      expect.objectContaining({
        line: expect.any(Number),
        coleccion,
        campo: 'lineas[0].importe_unitario',
        mensaje: LINE,
      }),
      expect.objectContaining({ coleccion, campo: 'lineas', mensaje: SUM }),
    ]),
  );
  const many = Array.from({ length: 100 }, () => line(1e9));
  expect(await problems(many)).toMatchObject(
    collections.map((coleccion) => ({ coleccion, campo: 'lineas', mensaje: SUM })),
  );
  expect(await problems(many.map((one) => ({ ...one, iva: 0 })))).toEqual([]);
  expect(await problems([line(1, { cantidad: 1e9 }), line(-1e9), line(5, { descuento: -100, cantidad: 1e8 })])).toEqual(
    [],
  );
});
