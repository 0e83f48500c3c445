// Shapes: the JSON that PostgreSQL writes of a row is what the row holds, and what the shape's schema says.

import fc from 'fast-check';
import { type Expression, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../platform/database.ts';
import { price } from '../../routers/catalogue/product.ts';
import { jsonArray, jsonRecord } from '../../routers/shared/pages.ts';
import {
  always,
  arrayOf,
  decimalOf,
  enumOf,
  flagOf,
  idOf,
  plainOf,
  type RowOf,
  shape,
  textOf,
  wholeOf,
} from '../../routers/shared/shape.ts';
import { type OwnDatabase, ownDatabase, tenantsOf } from '../helpers/own-database.ts';

let own: OwnDatabase;
let database: Database;
beforeAll(async () => {
  own = await ownDatabase();
  database = await tenantsOf(own);
});
afterAll(async () => {
  await database.close();
  await own[Symbol.asyncDispose]();
});

const contact = shape({
  tipo: always("l'Hospitalet"),
  contactoId: idOf('contact', 'k.id as contact_id'),
  nombre: textOf('k.name'),
  empresa: { titulo: textOf('k.company').orNull() },
  alta: plainOf('k.since'),
  importe: decimalOf('k.amount').orNull(),
  visitas: wholeOf('visits'),
  activo: flagOf('k.active'),
  estado: enumOf('k.state', { abierta: 'open', cerrada: 'closed' }).orNull(),
});

type Contact = RowOf<typeof contact>;

/** A row as a query would find it. */
const rowOf = (row: Contact) => sql<Contact>`select ${row.contact_id}::bigint as contact_id, ${row.name}::text as name,
  ${row.company}::text as company, ${row.since}::date as since, ${row.amount}::numeric as amount,
  ${row.visits}::bigint as visits, ${row.active}::boolean as active, ${row.state}::text as state`;

/** The JSON text of a record; ids stand in it between tabs. */
const read = (row: Expression<Contact>) =>
  database.transaction(1, {}, async (db) =>
    (await jsonRecord(db, row, contact))?.text.replace(/\t\d+:(\d+)\t/g, '"$1"'),
  );

const ANA: Contact = {
  contact_id: 7,
  name: 'Ana',
  company: 'Obras "Sur"',
  since: '2026-01-31',
  amount: 12.5,
  visits: 3,
  active: true,
  state: 'open',
};

test('a row becomes the object that the shape declares, in its order', async () => {
  expect(await read(rowOf(ANA))).toBe(
    `{"tipo":"l'Hospitalet","contactoId":"7","nombre":"Ana","empresa":{"titulo":"Obras \\"Sur\\""},"alta":"2026-01-31",` +
      '"importe":12.5,"visitas":3,"activo":true,"estado":"abierta"}',
  );
});

test('[ENV-08] what is null is "" where it is a text or an id, and null where the shape says so', async () => {
  const nothing = { ...ANA, contact_id: null, name: null, company: null, since: null, amount: null, state: null };
  expect(await read(rowOf(nothing))).toBe(
    `{"tipo":"l'Hospitalet","contactoId":"","nombre":"","empresa":{"titulo":null},"alta":"","importe":null,` +
      '"visitas":3,"activo":true,"estado":null}',
  );
});

test('every row is read back as it is, and fits the schema', async () => {
  const text = fc.option(fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', '')));
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        contact_id: fc.integer({ min: 1 }),
        name: text,
        company: text,
        since: fc.constantFrom('2024-02-29', '1999-12-31'),
        amount: fc.option(fc.integer().map((units) => units / 1000)),
        visits: fc.nat(),
        active: fc.boolean(),
        state: fc.option(fc.constantFrom('open', 'closed')),
      }),
      async (row: Contact) => {
        const found = JSON.parse((await read(rowOf(row))) ?? '');
        expect(contact.schema.parse(found)).toEqual({
          tipo: "l'Hospitalet",
          contactoId: String(row.contact_id),
          nombre: row.name ?? '',
          empresa: { titulo: row.company },
          alta: row.since,
          importe: row.amount,
          visitas: row.visits,
          activo: row.active,
          estado: row.state && { open: 'abierta', closed: 'cerrada' }[row.state],
        });
      },
    ),
    { numRuns: 50 },
  );
});

test('a text can hold no id: its tabs are escaped', async () => {
  expect(await read(rowOf({ ...ANA, name: '\t18:1\t' }))).toContain('"nombre":"\\t18:1\\t"');
});

test('a list inside a record keeps its order; without elements it is empty', async () => {
  const item = shape({ numero: wholeOf('n') });
  const list = shape({ lista: arrayOf(item, 'items') });
  const record = (numbers: number[]) => {
    const items = sql<RowOf<typeof item>>`select n from unnest(${numbers}::int[]) with ordinality t(n, i) order by i`;
    return database.transaction(1, {}, async (db) =>
      (await jsonRecord(db, sql<RowOf<typeof list>>`select ${jsonArray(items, item)} as items`, list))?.parse(),
    );
  };
  expect(await record([3, 1, 2])).toEqual({ lista: [{ numero: 3 }, { numero: 1 }, { numero: 2 }] });
  expect(await record([])).toEqual({ lista: [] });
});

test('the prices stored with a product are written as their shape is', async () => {
  const entries = sql<RowOf<typeof price>>`
    select * from (values (1, 5.5, 6.66), (2, 4, null), (10, 0, 0)) as t(number, price, price_with_vat)`;
  const { rows } = await database.transaction(1, {}, (db) =>
    sql<{ stored: string; shown: string }>`
      select '[' || price_entries('{"1": [5.50, 6.66], "10": [0, 0], "2": [4, null]}') || ']' as stored,
        ${jsonArray(entries, price)} as shown`.execute(db),
  );
  expect(rows[0]?.stored).toBe(rows[0]?.shown);
});
