// How the rows of a list come from the database: as one JSON value with their number, which costs this process less than half of
// what rows do, and one statement.
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { limit, offset, type Page } from './schemas.ts';

/**
 * A page of a list: how many records `selected` has, and the rows that `shown` makes of them, in its order. Numbers, texts, dates
 * and booleans are what they would be as rows; an instant has a `T` before its time, which Temporal reads just the same.
 */
export async function pageOfRows<Tables, Table extends keyof Tables, Row>(
  db: Db,
  selected: SelectQueryBuilder<Tables, Table, object>,
  shown: SelectQueryBuilder<Tables, never, Row>,
  page: Page,
): Promise<{ total: number; rows: Row[] }> {
  const { rows } = await sql<{ total: number; page: Row[] }>`
    select (${selected.select((eb) => eb.fn.countAll().as('total'))}) as total,
      (select coalesce(json_agg(page), '[]') from (${shown.limit(limit(page)).offset(offset(page))}) as page) as page`.execute(
    db,
  );
  const [{ total, page: found } = { total: 0, page: [] }] = rows;
  return { total, rows: found };
}
