// What every write leaves in the journal: the records that it changed, no more and no fewer.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COLLECTIONS } from '../../../account-file/format.ts';
import { operations } from '../../../bridges/operations.ts';
import { OWNERS } from '../../../platform/journal.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../../helpers/examples.ts';
import { type Company, type Server, startServer, TestClock } from '../../helpers/world.ts';

let server: Server;

beforeAll(async () => {
  server = await startServer({ clock: new TestClock(EXAMPLE_NOW) });
});
afterAll(() => server.stop());

const rowsOf = async <Row extends object>(text: string, values: unknown[]): Promise<Row[]> =>
  (await server.service.database.pool.query<Row>(text, values)).rows;

const OWNED = Object.entries(OWNERS).flatMap(([table, owners]) =>
  owners.map(({ table: owner, column }) => ({ table, owners: owner, column })),
);
const RECORDS = COLLECTIONS.map(({ table }) => table).filter((table) => !(table in OWNERS));

test('[JRN-01] inner records, and whatever else has no read of its own, are shown with the records that name them', () => {
  const inner = COLLECTIONS.flatMap(({ table: owners, children }) =>
    Object.values(children).map(({ table, parent }) => ({ table, owners, column: parent })),
  );
  expect(OWNED).toEqual(expect.arrayContaining(inner));
});

/** Every row of a company, by the record that it is of. */
const STORED = [
  ...RECORDS.map((table) => ({ table, owners: table, column: 'id' })),
  ...OWNED,
  { table: 'accounts', owners: 'accounts', column: 'id' },
]
  .map(
    ({ table, owners, column }) =>
      `select '${owners} ' || ${column} as record, '${table} ' || to_jsonb(t)::text as text from ${table} t
       where ${table === 'accounts' ? 'id' : 'account_id'} = $1 and ${column} is not null`,
  )
  .join(' union all ');

/** Each record, `<table> <id>`, with all that is stored of it. */
async function stored({ id }: Company): Promise<Map<string, string>> {
  const rows = await rowsOf<{ record: string; text: string }>(
    `select record, string_agg(text, ' ' order by text) as text from (${STORED}) r group by record`,
    [id],
  );
  return new Map(rows.map(({ record, text }) => [record, text]));
}

const journal = async ({ id }: Company) =>
  rowsOf<{ n: number; record: string; action: string; operation: string }>(
    `select n, record_table || ' ' || record_id as record, action, operation from journal_entries
     where account_id = $1 order by n`,
    [id],
  );

/** Records that show something else although no row of theirs changed: documents that others were made from. */
const BY_OTHERS: Readonly<Record<string, RegExp>> = {
  crearFactura: /^delivery_notes /,
  crearFacturaCompra: /^purchase_delivery_notes /,
  convertirPresupuesto: /^estimates /,
  rectificarFactura: /^(invoices|delivery_notes) /,
};

// Webhooks and links are no data of the company's: who changed them is in the audit.
const journalled = operations.filter(({ write, path }) => write && !/^webhooks\.|Link$/.test(path));

test.each(journalled.map((operation) => [operation.alias, operation] as const))(
  '[JRN-01] %s journals every record that it changes, once',
  async (alias, operation) => {
    const company = await server.company([...exampleRecords], { cuenta: exampleAccount });
    const [before, written] = await Promise.all([stored(company), journal(company)]);
    const { status, body } = await company.alias(alias, examples[operation.path] ?? {});
    expect([status, body.errorMsg]).toEqual([200, '']);
    const after = await stored(company);
    const rows = (await journal(company)).slice(written.length);

    expect(rows.map(({ n }) => n)).toEqual(rows.map((_, index) => written.length + index + 1));
    expect(new Set(rows.map((row) => row.operation))).toEqual(new Set([alias]));
    const changed = [...after.keys()].filter((key) => after.get(key) !== before.get(key));
    expect(changed.length).toBeGreaterThan(0);
    const shownByOthers = rows.map(({ record }) => record).filter((record) => BY_OTHERS[alias]?.test(record));
    expect(rows.map(({ record }) => record).toSorted()).toEqual(
      [...new Set([...changed, ...shownByOthers])].toSorted(),
    );
    for (const { record, action } of rows) expect([record, action === 'create']).toEqual([record, !before.has(record)]);
  },
);

test('[JRN-01] a call that changes nothing leaves nothing, nor does one that is refused, or repeated under its key', async () => {
  const company = await server.company([...exampleRecords], { cuenta: exampleAccount });
  const { clienteId } = (await company.get('/clients')).body.data.clientes[0];
  const { nombre_fiscal } = (await company.get(`/clients/${clienteId}`)).body.data.cliente;
  const count = (await journal(company)).length;
  expect((await company.put(`/clients/${clienteId}`, { datos: { nombre_fiscal } })).status).toBe(200);
  expect((await company.put(`/clients/${clienteId}`, { datos: {} })).status).toBe(400);
  expect(await journal(company)).toHaveLength(count);
  const twice = [1, 2].map(() =>
    company.put(`/clients/${clienteId}`, { datos: { nombre_fiscal: 'Otro' } }, { 'Idempotency-Key': 'one' }),
  );
  for (const answer of await Promise.all(twice)) expect(answer.status).toBe(200);
  expect(await journal(company)).toHaveLength(count + 1);
});
