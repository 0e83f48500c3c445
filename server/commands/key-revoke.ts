// `albaran key revoke`
import { audit } from '../audit.ts';
import type { AddCommand } from '../command.ts';
import { Failure } from '../failure.ts';

export const addKeyRevoke: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('revoke')
    .description('ends an API key at once, on every server; revoking it again changes nothing')
    .argument('<key>', 'the key (ak_...), not its secret')
    .action((key: string) =>
      onDatabase(async ({ database }) => {
        const found = await database.lookup({ api_key: key }, (db) =>
          db.selectFrom('api_keys').select(['account_id', 'id']).where('key', '=', key).executeTakeFirst(),
        );
        if (!found) throw new Failure(`There is no key ${JSON.stringify(key)}`);
        const { account_id: accountId, id } = found;
        const revoked = await database.transaction(accountId, { write: true }, async (db) => {
          const changed = await db
            .updateTable('api_keys')
            .set((eb) => ({ revoked_at: eb.fn('now'), updated_at: eb.fn('now'), version: eb('version', '+', 1) }))
            .where('account_id', '=', accountId)
            .where('id', '=', id)
            .where('revoked_at', 'is', null)
            .executeTakeFirst();
          if (changed.numUpdatedRows === 0n) return false;
          await audit(db, accountId, { operation: 'key revoke', kind: 'apiKey', id });
          return true;
        });
        return {
          json: { id, key, revoked: true, already: !revoked },
          text: revoked ? `${key} is revoked` : `${key} was revoked before`,
        };
      }),
    );
