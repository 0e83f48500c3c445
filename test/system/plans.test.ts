// PostgreSQL's plans for the operations, on a tenth of the measured company: they use indexes, for large tables too, and are the same
// with row-level security.
import pg from 'pg';
import { expect, test } from 'vitest';
import { newKey } from '../../bench/caller.ts';
import { addCompany, SLUG } from '../../bench/databases.ts';
import { ownDatabase } from '../helpers/own-database.ts';
import { recordStatements, type Statement } from '../helpers/statements.ts';
import { type FileRecord, startServer } from '../helpers/world.ts';

const SCALE = 0.4;
/** No operation reads a whole table with at least this many rows. */
const LARGE = 2_000;
/** Small companies beside the large one: a generic plan assumes an average company. */
const NEIGHBOURS = 30;
const NEIGHBOUR: FileRecord[] = [
  { coleccion: 'clientes', ref: 'ruiz', nombre_fiscal: 'Ruiz SL' },
  { coleccion: 'articulos', ref: 'cable', descripcion: 'Cable' },
  { coleccion: 'empleados', ref: 'ana', nombre: 'Ana' },
  { coleccion: 'fichajes', empleado: 'ana', entrada: { fecha: '2025-03-03', hora: '09:00', metodo: 'web' } },
  { coleccion: 'funnels', ref: 'ventas', titulo: 'Ventas', etapas: [{ ref: 'nuevo', titulo: 'Nuevo' }] },
];
/** Rows that a scan in a generic plan may read and discard. */
const LOOKED_AT = 1_000;
const IMPORT_MS = 180_000;
/** The PostgreSQL version of plans.txt: another may plan differently. */
const VERSION = 18;

const MONTH = 'fecha_inicio=2025-03-01&fecha_fin=2025-03-31';
const READS = [
  `/employees/times?${MONTH}`,
  `/employees/times?${MONTH}&cursor=NEXT`,
  `/employees/times?${MONTH}&empleadoId=1`,
  '/employees/1/contract',
  `/employees/1/work-calendar?${MONTH}`,
  `/time-off?${MONTH}`,
  '/employees',
  '/crm/opportunities',
  '/crm/loss-reasons?funnel_fk=1',
  '/crm/contacts?email=lead77@example.com',
  '/crm/contacts?busqueda=persona%2077',
  '/products',
  '/products?cursor=NEXT',
  '/products?busqueda=inox%20m3%20modelo',
  '/products/77',
  `/products/77/availability?${MONTH}`,
  '/products/77/stock-movements',
  `/products/77/stock-movements?${MONTH}`,
  '/price-lists?articuloId=77',
  '/clients',
  '/clients?cursor=NEXT',
  '/clients?busqueda=cliente%2077',
  '/clients/7',
  '/delivery-notes',
  '/delivery-notes?cursor=NEXT',
  `/delivery-notes?${MONTH}&clienteId=7`,
  '/delivery-notes/NOTE',
  '/invoices?pagada=false',
  '/invoices?busqueda=f2025-0077',
  `/recurring/renewals?${MONTH}`,
  `/recurring/new?${MONTH}`,
  `/purchase-delivery-notes?${MONTH}`,
  `/purchase-invoices?${MONTH}`,
  `/reports/purchases?${MONTH}&agrupar=proveedor`,
  `/reports/sales?${MONTH}&agrupar=articulo`,
  `/reports/results?${MONTH}&agrupar=proyecto`,
  '/projects',
  `/projects?${MONTH}`,
  '/projects/7',
  `/projects/7/times?${MONTH}`,
  '/tasks',
  '/tasks?cursor=NEXT',
  '/treasury/accounts',
  `/treasury/movements?${MONTH}`,
  `/treasury/due-dates?${MONTH}`,
];

const WRITES: [path: string, body: object][] = [
  ['/projects', { datos: { descripcion: 'Cubierta', clienteId: 7 } }],
  ['/product-families', { datos: { titulo: 'Cubiertas' } }],
  [
    '/crm/opportunities',
    { datos: { funnel_fk: 1, etapa_fk: 101, descripcion: 'Cubierta', email_contacto: 'lead77@example.com' } },
  ],
  [
    '/delivery-notes',
    {
      cliente: { id: 7 },
      pedido: { obra: 'Cubierta' },
      detalles: [{ cantidad: 2, articulo_fk: 77 }],
    },
  ],
  ['/estimates', { cliente: { id: 7 }, pedido: { obra: 'Cubierta' }, detalles: [{ cantidad: 2, articulo_fk: 77 }] }],
  ['/estimates/ESTIMATE/convert', { destino: 'albaran' }],
  ['/products/77/stock', { cantidad: 1, motivo: 'Entrada' }],
  [
    '/purchase-delivery-notes',
    { proveedor: { nombre_fiscal: 'Hilados' }, detalles: [{ cantidad: 2, articulo_fk: 77 }] },
  ],
  [
    '/purchase-invoices',
    {
      proveedor: { nombre_fiscal: 'Hilados' },
      numero: 'X-1',
      fecha: '2025-03-03',
      detalles: [{ cantidad: 2, articulo_fk: 77 }],
    },
  ],
];

/** Tables that are read whole, by call, with the reason. */
const WHOLE: Record<string, string[]> = {
  // Lists answer the sums of all that they select.
  'GET /delivery-notes': ['all of delivery_note_lines', 'all of delivery_notes'],
  'GET /delivery-notes?cursor=NEXT': ['all of delivery_note_lines', 'all of delivery_notes'],
  // The amount due of each invoice is computed from its lines too.
  'GET /invoices?pagada=false': ['all of invoice_due_dates', 'all of invoice_lines', 'all of invoices'],
  // Each recurring service may renew in the month.
  [`GET /recurring/renewals?${MONTH}`]: ['all of recurring_lines', 'all of recurrings'],
  // A balance is the sum of all movements.
  'GET /treasury/accounts': ['all of treasury_movements'],
};

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: Node[];
  /** Of an executed statement; per loop. */
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  'Actual Loops'?: number;
}

/** What a plan reads: an index, or a table and how. */
function readsOf(node: Node): string[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, Plans: inner = [] } = node;
  const own = index ? [index] : type === 'Seq Scan' ? [`all of ${table}`] : [];
  return [...own, ...inner.flatMap(readsOf)];
}

/** The most rows that a scan of an executed plan read. */
function lookedAt(node: Node): number {
  const {
    'Actual Rows': found = 0,
    'Rows Removed by Filter': others = 0,
    'Actual Loops': loops = 0,
    Plans = [],
  } = node;
  const own = node['Node Type'].endsWith('Scan') ? (found + others) * loops : 0;
  return Math.max(own, ...Plans.map(lookedAt));
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value));
  const elements = value.map((element) => (element === null ? 'null' : JSON.stringify(String(element))));
  return pg.escapeLiteral(`{${elements.join(',')}}`);
}

/** The plan of a statement in a transaction that begins with these statements, executed or not. */
async function planned(
  client: pg.Client,
  opening: string,
  { text, values }: Statement,
  { run = false } = {},
): Promise<Node> {
  await client.query(opening);
  try {
    await client.query(`prepare looked_at as ${text}`);
    const given = values.length > 0 ? `(${values.map(literal).join(', ')})` : '';
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `explain (format json, analyze ${run}) execute looked_at${given}`,
    );
    const [row] = rows;
    if (!row) throw new Error('EXPLAIN answered nothing');
    return row['QUERY PLAN'][0].Plan;
  } finally {
    await client.query('rollback; deallocate all');
  }
}

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

test('[TEN-02] operations read by indexes, and by the same ones without row-level security', {
  timeout: IMPORT_MS,
}, async () => {
  await using database = await ownDatabase();
  const { directUrl, admin } = database;
  await addCompany(directUrl, SLUG, SCALE, () => {});
  await using server = await startServer({ database: { url: directUrl } });
  for (let n = 1; n <= NEIGHBOURS; n++) await server.company(NEIGHBOUR);
  await admin.query('vacuum analyze');
  const headers = await newKey(directUrl);
  const statements = recordStatements(server.service);
  const { rows } = await admin.query<{ table: string; index: string }>(
    `select t.relname as table, i.relname as index from pg_class t
     join pg_index x on x.indrelid = t.oid join pg_class i on i.oid = x.indexrelid where t.reltuples > ${LARGE}`,
  );
  const whole = new Set(rows.map(({ table }) => `all of ${table}`));
  const large = new Set([...whole, ...rows.map(({ index }) => index)]);
  expect([...whole]).toEqual(expect.arrayContaining(['all of time_entries', 'all of delivery_note_lines']));

  const plans: Record<string, string[]> = {};
  const calls = [
    ...READS.map((path) => ['GET', path, undefined] as const),
    ...WRITES.map(([path, body]) => ['POST', path, JSON.stringify(body)] as const),
  ];
  const { body: notes } = await server.request('/api/v1/delivery-notes?por_pagina=1', { headers });
  const noteId = notes.data.documentos[0].albaranId;
  let estimateId = '';
  /** Of the page before. */
  let cursor = '';
  for (const [method, path, body] of calls) {
    statements.take();
    const answer = await server.request(
      `/api/v1${path.replace('NOTE', noteId).replace('ESTIMATE', estimateId).replace('NEXT', cursor)}`,
      {
        method,
        body: body ?? null,
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      },
    );
    expect([path, answer.status, answer.body.errorMsg]).toEqual([path, 200, '']);
    if (path === '/estimates') estimateId = answer.body.data;
    cursor = answer.body.data?.cursor ?? '';
    let opening = 'begin';
    const bound: string[] = [];
    const free: string[] = [];
    for (const statement of statements.take()) {
      if (statement.text.startsWith('begin')) opening = statement.text;
      else if (/^\s*(select|with|insert|update)\b/.test(statement.text)) {
        bound.push(...readsOf(await planned(admin, opening, statement)));
        free.push(...readsOf(await planned(admin, opening.replace('set local role albaran_app; ', ''), statement)));
        if (/force_generic_plan/.test(opening) && /^\s*select\b/.test(statement.text)) {
          const rows = lookedAt(await planned(admin, opening, statement, { run: true }));
          expect.soft(rows, `${path}: ${statement.text}`).toBeLessThanOrEqual(LOOKED_AT);
        }
      }
    }
    const [reads, without] = [bound, free].map((names) => sorted(names.filter((name) => large.has(name))));
    plans[`${method} ${path}`] = reads ?? [];
    expect.soft(reads, `${path}: with row-level security, and without`).toEqual(without);
    expect
      .soft(
        reads?.filter((name) => whole.has(name)),
        `${path}: read whole`,
      )
      .toEqual(WHOLE[`${method} ${path}`] ?? []);
  }
  const { rows: versions } = await admin.query<{ major: number }>(
    `select current_setting('server_version_num')::int / 10000 as major`,
  );
  if (versions[0]?.major === VERSION) {
    await expect(`${JSON.stringify(plans, null, 2)}\n`).toMatchFileSnapshot('plans.txt');
  }
});
