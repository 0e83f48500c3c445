import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const line = (more: object = {}) => ({ descripcion: 'Cable', cantidad: 3, importe_unitario: 1.115, ...more });
const note = (id: number, fecha: string, more: object = {}): FileRecord => ({
  coleccion: 'albaranes',
  ref: `a${id}`,
  id,
  numero: `A-${id}`,
  fecha,
  cliente: 'nilo',
  lineas: [line()],
  ...more,
});
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B1', email: 'c@nilo.es' },
  { coleccion: 'clientes', ref: 'zoe', id: 2, nombre_fiscal: 'Zoe' },
  { coleccion: 'proyectos', ref: 'nave', id: 21, numero: '1', descripcion: 'Nave' },
  { coleccion: 'proyectos', ref: 'patio', id: 22, numero: '2', descripcion: 'Patio' },
  { coleccion: 'articulos', ref: 'cable', descripcion: 'Cable' },
  note(11, '2026-01-31', {
    concepto: 'Entrega',
    lineas: [line({ articulo: 'cable' }), line({ cantidad: 2.5, importe_unitario: 30, descuento: 15, iva: 10 })],
    proyecto: 'nave',
  }),
  note(12, '2026-02-01', { cliente: 'zoe', revisado: false }),
  note(14, '2026-02-28', { lineas: [line(), line({ proyecto: 'nave' }), line({ proyecto: 'patio' })] }),
  note(13, '2026-02-28', { lineas: [], proyecto: 'patio' }),
  note(15, '2026-03-01', { numero: null, lineas: [line({ cantidad: -1 })] }),
  {
    coleccion: 'facturas',
    ref: 'f',
    fecha: '2026-03-05',
    cliente: 'nilo',
    // One matching line of two is enough.
    lineas: [line({ proviene_albaranes: true, albaran: 'a11' }), line()],
  },
];
const numbers = (body: { data: { documentos: { numero: string }[] } }) =>
  body.data.documentos.map(({ numero }) => numero);

/** What a line without these answers. */
const plain = {
  variacionId: null,
  formatoId: null,
  cantidad_base_real: null,
  descripcion_ampliada: null,
  startDate: null,
  endDate: null,
  recargo: 0,
  exencion: null,
};

test('[EST-01] each as the note itself shows it, with its project, and whether it is reviewed and invoiced', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/delivery-notes', { facturado: true });
  expect(status).toBe(200);
  const header = {
    albaranId: expect.stringMatching(/^[a-z][\w-]{22}$/),
    numero: 'A-11',
    fecha: '2026-01-31',
    concepto: 'Entrega',
    contraparte: { clienteId: expect.any(String), nombre_fiscal: 'Café Nilo', cif: 'B1', email: 'c@nilo.es' },
    base_imponible: 67.1,
    facturado: true,
    anulado: false,
  };
  const { proyectoId } = (await acme.get('/projects', { busqueda: 'nave' })).body.data.proyectos[0];
  expect(body.data).toEqual({
    suma_base: 67.1,
    total_albaranes: 1,
    pagina: 1,
    por_pagina: 100,
    num_paginas: 1,
    cursor: null,
    documentos: [{ ...header, proyectoId, revisado: true }],
  });
  const [{ albaranId }] = body.data.documentos;
  const read = await acme.get(`/delivery-notes/${albaranId}`);
  expect(read.body.data).toEqual({
    ...header,
    motivo_anulacion: '',
    tipo: 'albaran',
    albaranId,
    observaciones: '',
    promo_code: '',
    proyectoId,
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
        proyectoId,
      },
      {
        lineaId: expect.any(String),
        descripcion: 'Cable',
        cantidad: 2.5,
        importe_unitario: 30,
        descuento: 15,
        iva: 10,
        importe: 63.75,
        articuloId: null,
        ...plain,
        proyectoId,
      },
    ],
  });
  expect((await acme.get('/delivery-notes/11')).body).toEqual(read.body);
  expect((await acme.get('/delivery-notes', { clienteId: 2 })).body.data.documentos).toMatchObject([
    { proyectoId: null, revisado: false, facturado: false },
  ]);
  expect((await acme.get('/delivery-notes/13')).body.data).toMatchObject({ facturado: false, lineas: [] });
});

test('[PAG-02] newest first, then by id; [DATE-01] both ends of the range are in it', async () => {
  const acme = await server.company(records);
  const list = async (query: object) => numbers((await acme.get('/delivery-notes', { ...query })).body);
  expect(await list({})).toEqual(['', 'A-14', 'A-13', 'A-12', 'A-11']);
  expect(await list({ fecha_inicio: '2026-02-01', fecha_fin: '2026-02-28' })).toEqual(['A-14', 'A-13', 'A-12']);
  expect(await list({ fecha_fin: '2026-01-31' })).toEqual(['A-11']);
  const page = await acme.get('/delivery-notes', { pagina: 2, por_pagina: 2 });
  expect(page.body.data).toMatchObject({ total_albaranes: 5, num_paginas: 3 });
  expect(numbers(page.body)).toEqual(['A-13', 'A-12']);
});

test('by client, by project of the note or of a line, and by whether they are invoiced', async () => {
  const acme = await server.company(records);
  const list = async (query: object) => numbers((await acme.get('/delivery-notes', { ...query })).body);
  expect(await list({ clienteId: 2 })).toEqual(['A-12']);
  expect(await list({ proyectoId: 21 })).toEqual(['A-14', 'A-11']);
  expect(await list({ proyectoId: 22 })).toEqual(['A-14', 'A-13']);
  expect(await list({ facturado: true })).toEqual(['A-11']);
  expect(await list({ facturado: false })).toEqual(['', 'A-14', 'A-13', 'A-12']);
  expect(await list({ facturado: false, proyectoId: 21 })).toEqual(['A-14']);
  expect((await acme.get('/delivery-notes', { facturado: 'x' })).body.data).toMatchObject([{ campo: 'facturado' }]);
});

test('by its exact number, and by text in the number, the concept or the client, however it is written', async () => {
  const acme = await server.company([...records, note(16, '2026-03-02', { numero: 'A-1', concepto: 'Baño  Ñandú' })]);
  const list = async (query: object) => numbers((await acme.get('/delivery-notes', { ...query })).body);
  expect(await list({ numero: 'A-1' })).toEqual(['A-1']);
  expect(await list({ numero: 'a-1' })).toEqual([]);
  expect(await list({ busqueda: 'a-1' })).toEqual(['A-1', 'A-14', 'A-13', 'A-12', 'A-11']);
  expect(await list({ busqueda: 'BANO nandu' })).toEqual(['A-1']);
  expect(await list({ busqueda: 'zoe' })).toEqual(['A-12']);
  expect(await list({ busqueda: 'cafe nilo', proyectoId: 21 })).toEqual(['A-14', 'A-11']);
  expect(await list({ busqueda: '%' })).toEqual([]);
});

test('[W-02] the sum is of the whole selection, whatever the page; what was annulled is only in the list', async () => {
  const annulled = { anulado_el: '2026-03-05 10:00:00', motivo_anulacion: 'Error' };
  const acme = await server.company([...records, note(16, '2026-03-02', annulled)]);
  const list = async (query: object) => (await acme.get('/delivery-notes', { ...query })).body.data;
  expect(await list({ por_pagina: 1, pagina: 9 })).toMatchObject({
    suma_base: 79.38,
    total_albaranes: 6,
    documentos: [],
  });
  expect(await list({ proyectoId: 21, facturado: false })).toMatchObject({ suma_base: 10.05 });
  expect(await list({ numero: 'A-16' })).toMatchObject({ suma_base: 0, documentos: [{ base_imponible: 3.35 }] });
});

test('[TEN-01] another company’s note, client and project are not found', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const [{ albaranId, contraparte, proyectoId }] = (await acme.get('/delivery-notes', { facturado: true })).body.data
    .documentos;
  expect((await other.get('/delivery-notes')).body.data.documentos).toEqual([]);
  for (const id of [albaranId, 11]) expect((await other.get(`/delivery-notes/${id}`)).status).toBe(404);
  for (const clienteId of [contraparte.clienteId, 1])
    expect((await other.get('/delivery-notes', { clienteId })).status).toBe(404);
  for (const id of [proyectoId, 21]) expect((await other.get('/delivery-notes', { proyectoId: id })).status).toBe(404);
});
