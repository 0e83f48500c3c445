import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL', cif: 'B1', email: 'c@c.es' },
  { coleccion: 'articulos', ref: 'a', descripcion: 'Cable' },
  {
    coleccion: 'presupuestos',
    ref: 'p',
    id: 44,
    numero: 'P2026-0007',
    fecha: '2026-03-01',
    concepto: 'Reforma',
    cliente: 'cli',
    lineas: [
      { descripcion: 'Cable', cantidad: 3, importe_unitario: 1.115, articulo: 'a' },
      { descripcion: 'Mano de obra', cantidad: 2.5, importe_unitario: 30, descuento: 15, iva: 10 },
    ],
  },
  { coleccion: 'presupuestos', ref: 'vacio', id: 45, fecha: '2026-03-02', cliente: 'cli', lineas: [] },
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

test('[EST-01] by number or sealed id: header, counterpart, lines, and their sum', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/estimates/44');
  expect(status).toBe(200);
  expect(body.data).toEqual({
    tipo: 'presupuesto',
    presupuestoId: expect.any(String),
    numero: 'P2026-0007',
    fecha: '2026-03-01',
    concepto: 'Reforma',
    contraparte: { clienteId: expect.any(String), nombre_fiscal: 'Cliente SL', cif: 'B1', email: 'c@c.es' },
    base_imponible: 67.1,
    estado: 'pendiente',
    valido_hasta: null,
    num_lineas: 2,
    observaciones: '',
    promo_code: '',
    proyectoId: null,
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
      },
    ],
  });
  expect((await acme.get(`/estimates/${body.data.presupuestoId}`)).body).toEqual(body);
  expect((await acme.get('/estimates/45')).body.data).toMatchObject({
    numero: '',
    concepto: '',
    base_imponible: 0,
    num_lineas: 0,
    lineas: [],
  });
});

test('[EST-01] [TEN-01] not in the account: 404', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const { presupuestoId } = (await acme.get('/estimates/44')).body.data;
  for (const id of [presupuestoId, 44]) expect((await other.get(`/estimates/${id}`)).status).toBe(404);
  expect((await acme.get('/estimates/46')).status).toBe(404);
});
