// The ids of an input: opened, and asked for in the company. 404, or the 400 of ID-05.
import { CompiledQuery, sql } from 'kysely';
import { type Db, isDivisionByZero, type Late } from '../../../platform/database.ts';
import { type ApiError, badField, fieldName, notFound } from '../../../platform/errors.ts';
import { type Ids, KINDS } from '../../../platform/ids.ts';
import type { NamedRecord } from '../id.ts';
import { type IdSite, pathOf } from './walk.ts';

const unresolved = (site: IdSite) => {
  const name = fieldName(pathOf(site));
  return site.mark.unknown === 'notFound' ? notFound(name) : badField(name, 'no existe en la empresa');
};

/** An id with what it may name: one record, or several where a number stands for more kinds. */
export interface OpenedId extends IdSite {
  named: readonly [NamedRecord, ...NamedRecord[]];
}

/**
 * Sealed or legacy ids become numbers in place. One that can't is a 404, thrown here, or the 400 of ID-05, answered for
 * later: whether the others exist comes first (ENV-09).
 */
export function openIds(
  ids: Ids,
  accountId: number,
  sites: readonly IdSite[],
): { opened: OpenedId[]; refused?: ApiError } {
  const opened: OpenedId[] = [];
  let refused: ApiError | undefined;
  for (const site of sites) {
    const value = site.container[site.key];
    if (value === '' && site.mark.orNone) {
      site.container[site.key] = null;
      continue;
    }
    const { kind, or } = site.mark;
    const [first, ...more] = [kind, ...(or ?? [])].flatMap((kind): NamedRecord[] => {
      const number =
        typeof value === 'string' || typeof value === 'number' ? ids.open(accountId, kind, value) : undefined;
      return number === undefined ? [] : [{ kind, number }];
    });
    if (first) {
      site.container[site.key] = or ? [first, ...more] : first.number;
      opened.push({ ...site, named: [first, ...more] });
    } else if (site.mark.unknown === 'notFound') throw unresolved(site);
    else refused ??= unresolved(site);
  }
  return { opened, refused };
}

/** An id of the input names no record of the company. */
export class MissingRecord extends Error {}

const byKind = (records: readonly NamedRecord[]) =>
  [...Map.groupBy(records, ({ kind }) => kind)].map(([kind, named]) => ({
    kind,
    ids: [...new Set(named.map(({ number }) => number))],
  }));

/** Fails the transaction with MissingRecord unless every id of an input names a record of this company. One statement. */
export async function checkIds(late: Late, accountId: number, opened: readonly OpenedId[]): Promise<void> {
  if (opened.length === 0) return;
  const values: unknown[] = [accountId];
  const [sure, either] = [
    opened.filter(({ named }) => named.length === 1).map(({ named }) => named[0]),
    opened.filter(({ named }) => named.length > 1),
  ];
  const there = byKind(sure).map(({ kind, ids }) => {
    const first = values.push(ids, ids.length) - 1;
    // One by one: a plan for an average company might read all of a large one's records for `any`.
    return `(select count(*) from unnest($${first}::bigint[]) as wanted (id)
      where (select true from ${KINDS[kind].table} r where r.account_id = $1 and r.id = wanted.id)) = $${first + 1}::int`;
  });
  const oneThere = either.map(({ named }) => {
    const found = named.map(
      ({ kind, number }) =>
        `exists (select from ${KINDS[kind].table} r where r.account_id = $1 and r.id = $${values.push(number)}::bigint)`,
    );
    return `(${found.join(' or ')})`;
  });
  const check = CompiledQuery.raw(`select 1 / (${[...there, ...oneThere].join(' and ')})::int`, values);
  await late(() => check).catch((error: unknown) => {
    throw isDivisionByZero(error) ? new MissingRecord() : error;
  });
}

/** What is said of the ids that name no record of this company: a 404, or the 400 of ID-05. */
export async function missingRecord(
  db: Db,
  accountId: number,
  opened: readonly OpenedId[],
): Promise<ApiError | undefined> {
  const selects = byKind(opened.flatMap(({ named }) => named)).map(
    ({ kind, ids }) => sql<{ kind: string; id: number }>`select ${sql.lit(kind)} as kind, r.id
      from ${sql.table(KINDS[kind].table)} r where r.account_id = ${accountId} and r.id = any(${ids}::bigint[])`,
  );
  const { rows } = await sql<{ kind: string; id: number }>`${sql.join(selects, sql` union all `)}`.execute(db);
  const found = new Set(rows.map(({ kind, id }) => `${kind} ${id}`));
  const missing = opened.filter(({ named }) => !named.some(({ kind, number }) => found.has(`${kind} ${number}`)));
  const worst = missing.find(({ mark }) => mark.unknown === 'notFound') ?? missing[0];
  return worst && unresolved(worst);
}
