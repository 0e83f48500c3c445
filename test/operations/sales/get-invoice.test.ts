import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL', cif: 'B1', email: 'c@c.es' },
  { coleccion: 'articulos', ref: 'a', descripcion: 'Cable' },
  {
    coleccion: 'albaranes',
    ref: 'al',
    id: 33,
    fecha: '2026-02-01',
    cliente: 'cli',
    lineas: [{ descripcion: 'Cable', cantidad: 3, importe_unitario: 1.115, articulo: 'a' }],
  },
  {
    coleccion: 'facturas',
    ref: 'f',
    id: 44,
    numero: 'F2026-0007',
    fecha: '2026-03-01',
    concepto: 'Reforma',
    cliente: 'cli',
    lineas: [
      {
        descripcion: 'Cable',
        cantidad: 3,
        importe_unitario: 1.115,
        articulo: 'a',
        proviene_albaranes: true,
        albaran: 'al',
      },
      { descripcion: 'Mano de obra', cantidad: 2.5, importe_unitario: 30, descuento: 15, iva: 10 },
    ],
  },
  { coleccion: 'facturas', ref: 'vacia', id: 45, fecha: '2026-03-02', cliente: 'cli', lineas: [] },
];

/** What a line without these answers. */
const plain = {
  variacionId: null,
  formatoId: null,
  cantidad_base_real: null,
  descripcion_ampliada: null,
  startDate: null,
  endDate: null,
  proyectoId: null,
  recargo: 0,
  exencion: null,
};

test('[EST-01] by number or sealed id: header, counterpart, lines and which of them came from a note', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/invoices/44');
  expect(status).toBe(200);
  expect(body.data).toEqual({
    motivo_rectificacion: '',
    rectifica: null,
    rectificada_por: [],
    tipo: 'factura',
    facturaId: expect.any(String),
    tipo_factura: 'F1',
    numero: 'F2026-0007',
    fecha: '2026-03-01',
    concepto: 'Reforma',
    contraparte: { clienteId: expect.any(String), nombre_fiscal: 'Cliente SL', cif: 'B1', email: 'c@c.es' },
    observaciones: '',
    promo_code: '',
    proyectoId: null,
    base_imponible: 67.1,
    total_con_iva: 74.18,
    retencion: null,
    a_pagar: 74.18,
    desglose_iva: [
      { iva: 21, recargo: 0, exencion: null, base: 3.35, cuota: 0.7, cuota_recargo: 0 },
      { iva: 10, recargo: 0, exencion: null, base: 63.75, cuota: 6.38, cuota_recargo: 0 },
    ],
    saldo: 74.18,
    pagada: false,
    anulada: false,
    motivo_anulacion: '',
    vencimientos: [{ vencimientoId: expect.any(String), fecha: '2026-03-01', importe: 74.18, pendiente: 74.18 }],
    albaranes: [{ tipo: 'albaran', id: expect.any(String), numero: '' }],
    num_lineas: 2,
    lineas: [
      {
        lineaId: expect.any(String),
        descripcion: 'Cable',
        cantidad: 3,
        importe_unitario: 1.115,
        descuento: 0,
        iva: 21,
        importe: 3.35,
        articuloId: expect.any(String),
        ...plain,
        proviene_albaranes: 1,
      },
      {
        lineaId: expect.any(String),
        descripcion: 'Mano de obra',
        cantidad: 2.5,
        importe_unitario: 30,
        descuento: 15,
        iva: 10,
        importe: 63.75,
        articuloId: null,
        ...plain,
        proviene_albaranes: 0,
      },
    ],
  });
  expect((await acme.get(`/invoices/${body.data.facturaId}`)).body).toEqual(body);
  const empty = { numero: '', concepto: '', base_imponible: 0, num_lineas: 0, lineas: [] };
  expect((await acme.get('/invoices/45')).body.data).toMatchObject(empty);
});

test('[TEN-01] [ID-01] not in the account, or another kind of record: 404', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const { facturaId } = (await acme.get('/invoices/44')).body.data;
  for (const id of [facturaId, 44]) expect((await other.get(`/invoices/${id}`)).status).toBe(404);
  const { albaranId } = (await acme.get('/delivery-notes/33')).body.data;
  for (const id of [albaranId, 33, 46]) expect((await acme.get(`/invoices/${id}`)).status).toBe(404);
});
