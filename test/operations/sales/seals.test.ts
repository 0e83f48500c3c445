import { createHash } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { exportAccountFile } from '../../../account-file/export.ts';
import { canonicalJson } from '../../helpers/canonical-json.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

// 10 March in Madrid.
const clock = new TestClock('2026-03-09T23:30:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const records: FileRecord[] = [
  {
    coleccion: 'clientes',
    ref: 'nilo',
    id: 1,
    nombre_fiscal: 'Café "Nilo" & hijos',
    cif: 'B12345674',
    poblacion: 'Cádiz',
  },
  { coleccion: 'articulos', ref: 'cable', id: 11, descripcion: 'Cable\tde 2,5 mm', stock: 50 },
];
const sale = {
  cliente: { id: 1 },
  pedido: { obra: 'Obra "grande" \u{1F3D7}', detalles_operacion: 'Primera\nsegunda' },
  detalles: [
    { cantidad: 2, articulo_fk: 11, importe_unitario: 3.333 },
    { cantidad: 1.5, descripcion: 'Mano de obra', importe_unitario: 40, iva: 10, descuento: 5 },
  ],
};

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

interface SealRow {
  record_table: string;
  n: number;
  action: string;
  sealed_at: Date;
  hash: string;
  previous: string | null;
  [column: string]: unknown;
}

const sealsOf = async (company: Company, table: string) => {
  const { rows } = await server.service.database.pool.query<SealRow>(
    `select *, to_char(sealed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from seals
      where account_id = $1 and record_table = $2 order by n`,
    [company.id, table],
  );
  return rows;
};

/** The seals of a chain as anyone would compute them from what they are made over. */
const recomputed = (rows: readonly SealRow[]) => {
  let before: string | null = null;
  return rows.map((row) => {
    const entry = {
      n: Number(row.n),
      tipo: row.record_table,
      anterior: before,
      accion: row.action,
      momento: row.at,
      autor: row.actor,
      puerta: row.door,
      operacion: row.operation,
      documento: row.subject,
      contenido: sha256(String(row.content)),
    };
    before = sha256(canonicalJson(entry));
    expect(canonicalJson(JSON.parse(String(row.content)))).toBe(row.content);
    return before;
  });
};

test('[DOC-01] a document is sealed when it is issued, each after the one before; what is its own is in it', async () => {
  const acme = await server.company(records);
  for (let each = 0; each < 3; each++) expect((await acme.post('/delivery-notes', sale)).status).toBe(200);
  const seals = await sealsOf(acme, 'delivery_notes');
  expect(seals.map(({ n, action }) => [Number(n), action])).toEqual([
    [1, 'issue'],
    [2, 'issue'],
    [3, 'issue'],
  ]);
  expect(seals.map(({ hash }) => hash)).toEqual(recomputed(seals));
  expect(JSON.parse(String(seals[0]?.content))).toMatchObject({
    tipo: 'albaran',
    numero: 'A2026-0001',
    fecha: '2026-03-10',
    concepto: 'Obra "grande" \u{1F3D7}',
    observaciones: 'Primera\nsegunda',
    cliente: { nombre_fiscal: 'Café "Nilo" & hijos', cif: 'B12345674', poblacion: 'Cádiz', pais: '' },
    lineas: [
      { descripcion: 'Cable\tde 2,5 mm', cantidad: '2', importe_unitario: '3.333', importe: '6.67', iva: '21' },
      { descripcion: 'Mano de obra', cantidad: '1.5', descuento: '5', importe: '57.00', iva: '10' },
    ],
    desglose: [
      { iva: '21', base: '6.67', cuota: '1.40' },
      { iva: '10', base: '57.00', cuota: '5.70' },
    ],
    base: '63.67',
    total: '70.77',
  });
});

const statesOf = async (company: Company, table: string) =>
  (await sealsOf(company, table)).map(({ action, content }) => {
    const { numero, motivo, relacionado } = JSON.parse(String(content));
    return [action, numero ?? relacionado ?? motivo];
  });

test('[DOC-01] [W-02] what happens to a document later is a seal of its own in the same chain', async () => {
  const acme = await server.company(records);
  const issued = async (path: string, body: object = sale): Promise<string> => {
    const { status, body: answer } = await acme.post(path, body);
    expect([status, answer.errorMsg]).toEqual([200, '']);
    return answer.data;
  };
  const estimate = await issued('/estimates');
  await acme.put(`/estimates/${estimate}/state`, { estado: 'rechazado' });
  await acme.put(`/estimates/${estimate}/state`, { estado: 'rechazado' });
  await acme.put(`/estimates/${estimate}/state`, { estado: 'pendiente' });
  const invoice = await issued(`/estimates/${estimate}/convert`, { destino: 'factura' });
  const note = await issued('/delivery-notes');
  await issued(`/delivery-notes/${note}/annul`, { motivo: 'Duplicado' });
  await issued(`/invoices/${invoice}/rectify`, { motivo: 'Precio mal' });
  expect(await statesOf(acme, 'estimates')).toEqual([
    ['issue', 'P2026-0001'],
    ['reject', null],
    ['reopen', null],
    ['convert', 'F2026-0001'],
  ]);
  expect(await statesOf(acme, 'delivery_notes')).toEqual([
    ['issue', 'A2026-0001'],
    ['annul', 'Duplicado'],
  ]);
  expect(await statesOf(acme, 'invoices')).toEqual([
    ['issue', 'F2026-0001'],
    ['issue', 'R2026-0001'],
    ['rectify', 'R2026-0001'],
  ]);
  for (const table of ['estimates', 'delivery_notes', 'invoices']) {
    const seals = await sealsOf(acme, table);
    expect(seals.map(({ hash }) => hash)).toEqual(recomputed(seals));
    // Each names the seal of what its document said.
    const subjects = seals.flatMap(({ subject }) => subject ?? []);
    expect(subjects).toEqual(subjects.map(() => seals[0]?.hash));
  }
  const { status, body } = await acme.get(`/documents/factura/${invoice}/history`);
  const origen = { tipo: 'clave', nombre: expect.any(String) };
  expect([status, body.data.historial]).toEqual([
    200,
    [
      {
        momento: '2026-03-10T00:30:00.000+01:00',
        accion: 'emitir',
        origen,
        motivo: null,
        documento: null,
        huella: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      {
        momento: '2026-03-10T00:30:00.000+01:00',
        accion: 'rectificar',
        origen,
        motivo: 'Precio mal',
        documento: { tipo: 'factura', id: expect.any(String), numero: 'R2026-0001' },
        huella: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ],
  ]);
});

test('[DOC-01] the history of a document: 400, 403 and 404', async () => {
  const [acme, other] = await Promise.all([server.company(records), server.company(records)]);
  const { body } = await acme.post('/delivery-notes', sale);
  const path = `/documents/albaran/${body.data}/history`;
  expect((await acme.get(path)).status).toBe(200);
  expect((await acme.get(`/documents/recibo/${body.data}/history`)).body.data).toMatchObject([{ campo: 'tipo' }]);
  expect((await acme.get(`/documents/factura/${body.data}/history`)).status).toBe(404);
  expect((await other.get(path)).status).toBe(404);
  expect((await server.request(`/api/v1${path}`)).status).toBe(401);
});

test('[DOC-01] what was changed behind the service’s back is named', async () => {
  const acme = await server.company(records);
  const notes: string[] = [];
  for (let each = 0; each < 8; each++) notes.push((await acme.post('/delivery-notes', sale)).body.data);
  const verify = async (query: Record<string, unknown> = {}) => (await acme.get('/documents/verify', query)).body.data;
  expect(await verify()).toEqual({
    documentos: 8,
    registros: 8,
    correctos: 8,
    registros_facturacion: null,
    fallos: [],
  });
  expect(await verify({ fecha_inicio: '2026-03-11', fecha_fin: '2026-03-12' })).toMatchObject({ documentos: 0 });
  const change = async (statement: string, ...more: unknown[]) =>
    expect((await server.service.database.pool.query(statement, [acme.id, ...more])).rowCount).toBe(1);
  await change(`update delivery_note_lines set unit_price = 1 where account_id = $1 and position = 1
    and delivery_note_id = (select id from delivery_notes where account_id = $1 and number = 'A2026-0001')`);
  await change(`update delivery_notes set annulled_at = now() where account_id = $1 and number = 'A2026-0002'`);
  await change(`update seals set actor = 'key:1' where account_id = $1 and n = 3`);
  await change(`update seals set content = replace(content, 'Mano', 'Pie') where account_id = $1 and n = 4`);
  await change(`delete from seals where account_id = $1 and n = 6`);
  await change(`delete from seals where account_id = $1 and n = 8`);
  expect(
    (await verify()).fallos.map(({ numero, motivo }: { numero: string; motivo: string }) => [numero, motivo]),
  ).toEqual([
    ['A2026-0003', 'su sello ha cambiado'],
    ['A2026-0004', 'su sello ha cambiado'],
    ['A2026-0007', 'falta el sello anterior de la cadena'],
    ['A2026-0001', 'no dice lo que se selló'],
    ['A2026-0002', 'su anulación no es la que se selló'],
    ['', 'la cadena no llega a su último sello'],
  ]);
  expect(await verify({ tipo: 'factura' })).toEqual({
    documentos: 0,
    registros: 0,
    correctos: 0,
    registros_facturacion: null,
    fallos: [],
  });
});

test('[DOC-01] what an import brings is sealed as imported, again only where it says something else', async () => {
  const acme = await server.company(records);
  const invoice = (precio: number, more: object = {}): FileRecord => ({
    coleccion: 'facturas',
    ref: 'vieja',
    numero: 'V-1',
    fecha: '2020-01-02',
    cliente: 'nilo',
    lineas: [{ descripcion: 'Obra', cantidad: 1, importe_unitario: precio }],
    ...more,
  });
  await acme.load([
    invoice(10),
    { coleccion: 'presupuestos', ref: 'p', fecha: '2020-01-01', cliente: 'nilo', estado: 'aceptado', lineas: [] },
  ]);
  await acme.load([invoice(10)]);
  await acme.load([invoice(11)]);
  await acme.load([
    invoice(11, { anulado_el: '2020-02-01 00:00:00', anulado_por: 'command', motivo_anulacion: 'No era' }),
  ]);
  expect(await statesOf(acme, 'invoices')).toEqual([
    ['import', 'V-1'],
    ['import', 'V-1'],
    ['annul', 'No era'],
  ]);
  expect((await statesOf(acme, 'estimates')).map(([action]) => action)).toEqual(['import', 'accept']);
  expect((await acme.get('/documents/verify')).body.data).toMatchObject({ documentos: 2, correctos: 2, fallos: [] });
});

test('[DOC-01] [W-02] a file may say again what was issued here, what is paid of it too, and nothing else', async () => {
  const acme = await server.company(records);
  const { body } = await acme.post('/invoices', sale);
  const exported: FileRecord[] = [];
  for await (const line of exportAccountFile(server.service.database, acme.id)) exported.push(JSON.parse(line));
  const invoice = exported.find(({ coleccion }) => coleccion === 'facturas');
  const [due] = z.array(z.looseObject({ importe: z.number() })).parse(invoice?.vencimientos);
  await acme.load([{ ...invoice, vencimientos: [{ ...due, cobrado: due?.importe }] } as FileRecord]);
  expect((await acme.get(`/invoices/${body.data}`)).body.data.pagada).toBe(true);
  const refused = acme.load([{ ...invoice, fecha: '2026-03-01' } as FileRecord]);
  await expect(refused).rejects.toThrow('ya está, con otros datos: un documento emitido no se cambia');
  expect((await acme.get('/documents/verify')).body.data).toMatchObject({ correctos: 1, fallos: [] });
});

test('[DOC-01] documents that are issued at once follow each other in one chain', async () => {
  const acme = await server.company(records);
  const answers = await Promise.all(Array.from({ length: 12 }, () => acme.post('/invoices', sale)));
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
  const seals = await sealsOf(acme, 'invoices');
  expect(seals.map(({ n }) => Number(n))).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  expect(seals.map(({ hash }) => hash)).toEqual(recomputed(seals));
  expect((await acme.get('/documents/verify')).body.data).toMatchObject({ correctos: 12, fallos: [] });
});
