// Attempts to deliver changes to webhooks, as they are stored.
import { type Expression, sql } from 'kysely';
import type { Db } from '../../../platform/database.ts';

export interface Delivery {
  message: string;
  first_n: number;
  last_n: number;
  attempt: number;
  status: number;
  milliseconds: number;
  error: string | null;
  created_at: string;
}

/** The attempts of a webhook, the newest first. */
export const deliveriesOf = (
  db: Db,
  accountId: number,
  webhookId: number,
  limit: number | Expression<number>,
  offset: number | Expression<number>,
) =>
  sql<Delivery>`
    select message, first_n, last_n, attempt, status, milliseconds, error, created_at from webhook_deliveries
    where account_id = ${accountId} and webhook_id = ${webhookId}
    order by id desc limit ${limit} offset ${offset}`.execute(db);
