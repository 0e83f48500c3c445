import { createHash } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

// 10 March in Madrid.
const clock = new TestClock('2026-03-09T23:30:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café "Nilo" & hijos', cif: 'B12345674', poblacion: 'Cádiz' },
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

/** Canonical JSON as RFC 8785 has it, of what holds no numbers but whole ones. */
const canonical = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(canonical).join(',')}]`
    : typeof value === 'object' && value !== null
      ? `{${Object.entries(value)
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`)
          .join(',')}}`
      : JSON.stringify(value);

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
    const content = row.content === null ? null : JSON.parse(String(row.content));
    const entry = {
      n: Number(row.n),
      tipo: row.record_table,
      anterior: before,
      accion: row.action,
      momento: row.at,
      autor: row.actor,
      puerta: row.door,
      operacion: row.operation,
      motivo: row.reason,
      relacionado: row.related,
      documento: row.subject,
      contenido: content,
    };
    before = createHash('sha256').update(canonical(entry)).digest('hex');
    if (row.content !== null) expect(canonical(content)).toBe(row.content);
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
