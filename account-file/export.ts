// Writes a company as an account file: the collections in the order of format.ts, page by page, from one snapshot.
import { pictureOf } from '../documents/company-logo.ts';
import type { Database, Db } from '../platform/database.ts';
import { accountRecord, readAccount } from './account.ts';
import type { Children, Collection } from './collection.ts';
import type { Fields, Reading, Row } from './fields.ts';
import { COLLECTIONS } from './format.ts';
import { LocalTimes } from './local-times.ts';
import { rows } from './statements.ts';

/**
 * The lines of the company's account file, without line ends. All of them come from one snapshot: the transaction is open until
 * the reader finishes or stops early. Memory does not grow with the company.
 */
export async function* exportAccountFile(database: Database, accountId: number): AsyncGenerator<string> {
  // The transaction pushes pages while the generator pulls them: a stream with room for one page connects them.
  const { readable, writable } = new TransformStream<string[], string[]>();
  const writer = writable.getWriter();
  const exported = database
    .transaction(accountId, { snapshot: true }, async (db) => {
      for await (const page of pages(db, accountId)) await writer.write(page);
    })
    .then(
      () => writer.close(),
      (error: unknown) => writer.abort(error),
    );
  try {
    for await (const page of readable) yield* page;
  } finally {
    // A reader that stops early cancels the stream: ignore the transaction's error about it.
    await exported.catch(() => {});
  }
}

async function* pages(db: Db, accountId: number): AsyncGenerator<string[]> {
  const account = await readAccount(db, accountId);
  const logo = account.logo === null ? undefined : await pictureOf(db, accountId, account.logo);
  yield [JSON.stringify(accountRecord(account, logo))];
  const times = new LocalTimes(account.time_zone);
  for (const collection of COLLECTIONS) {
    const { name, table, fields, exported, pageSize } = collection;
    const statement = `select ${selected(fields)} from ${table} t
      where t.account_id = $1 and t.id > $2 ${exported ? `and ${exported}` : ''} order by t.id limit ${pageSize}`;
    for (let last: number | undefined = 0; last !== undefined; ) {
      const page: ExportedRow[] = await rows<ExportedRow>(db, statement, [accountId, last]);
      const inner = await innerRecords(db, accountId, collection, page, times);
      if (page.length > 0) {
        yield page.map((row) => {
          const ref = row.ref ?? `@${row.id}`;
          const values = valuesOf(fields, row, { times, parent: undefined });
          return JSON.stringify({ coleccion: name, ref, id: row.id, ...values, ...inner(row) });
        });
      }
      last = page.length < pageSize ? undefined : page.at(-1)?.id;
    }
  }
}

interface ExportedRow extends Row {
  id: number;
  ref: string | null;
}

const selected = (fields: Fields) =>
  [
    't.id',
    't.ref',
    ...Object.values(fields).flatMap(({ columns, select }) =>
      select
        ? Object.entries(select).map(([alias, sql]) => `${sql} as ${alias}`)
        : columns.map((column) => `t.${column}`),
    ),
  ].join(', ');

const valuesOf = (fields: Fields, row: Row, reading: Reading) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.read(row, reading)]));

/** Reads the inner records of a page. Returns a function that gives a record's lists. */
async function innerRecords(
  db: Db,
  accountId: number,
  { children }: Collection,
  page: readonly ExportedRow[],
  times: LocalTimes,
) {
  const ids = page.map(({ id }) => id);
  const read = async ({ table, parent, fields }: Children) => {
    const list = await rows<ExportedRow & { parent: number }>(
      db,
      `select t.${parent} as parent, ${selected(fields)} from ${table} t
       where t.account_id = $1 and t.${parent} = any($2::bigint[]) order by t.${parent}, t.position, t.id`,
      [accountId, ids],
    );
    return Map.groupBy(list, (row) => row.parent);
  };
  const lists = await Promise.all(
    Object.entries(children).map(async ([name, inner]) => ({
      name,
      fields: inner.fields,
      byParent: ids.length > 0 ? await read(inner) : new Map<number, ExportedRow[]>(),
    })),
  );
  return (parent: ExportedRow) =>
    Object.fromEntries(
      lists.map(({ name, fields, byParent }) => [
        name,
        (byParent.get(parent.id) ?? []).map((row) => ({
          ref: row.ref,
          id: row.id,
          ...valuesOf(fields, row, { times, parent }),
        })),
      ]),
    );
}
