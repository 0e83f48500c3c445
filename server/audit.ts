// What a command wrote, noted in the transaction that wrote it.
import { randomUUID } from 'node:crypto';
import type { Db } from '../platform/database.ts';

export const audit = (
  db: Db,
  accountId: number,
  { operation, kind, id }: { operation: string; kind: 'account' | 'apiKey'; id: number },
) =>
  db
    .insertInto('audit_records')
    .values({
      account_id: accountId,
      actor: 'command',
      door: 'command',
      operation,
      record_kind: kind,
      record_id: id,
      request_id: randomUUID(),
    })
    .execute();
