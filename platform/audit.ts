// Who wrote what, by which door, for writes that are no operation: pages and commands.
import type { Door } from './context.ts';
import type { Db } from './database.ts';

export interface Author {
  /** `user:1000000001`, `command`, `albaran renew`, `schedule`. */
  actor: string;
  door: Door;
  requestId: string;
}

export interface Written {
  operation: string;
  kind: 'account' | 'apiKey' | 'user' | 'grant' | 'deliveryNote' | 'employee' | 'contact' | 'client' | 'supplier';
  id: number;
}

/** Notes a write, in the transaction that makes it. */
export async function noteWrite(
  db: Db,
  accountId: number,
  { actor, door, requestId }: Author,
  { operation, kind, id }: Written,
): Promise<void> {
  await db
    .insertInto('audit_records')
    .values({
      account_id: accountId,
      actor,
      door,
      operation,
      record_kind: kind,
      record_id: id,
      request_id: requestId,
    })
    .execute();
}
