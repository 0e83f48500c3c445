// `albaran key revoke`
import { revokeKey } from '../../platform/identity/api-keys.ts';
import { type AddCommand, commandAuthor } from '../command.ts';
import { Failure } from '../failure.ts';

export const addKeyRevoke: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('revoke')
    .description('revokes an API key at once, on every server; revoking it again changes nothing')
    .argument('<key>', 'the key (ak_...), not its secret')
    .action((key: string) =>
      onDatabase(async ({ database }) => {
        const found = await database.lookup({ api_key: key }, (db) =>
          db.selectFrom('api_keys').select(['account_id', 'id']).where('key', '=', key).executeTakeFirst(),
        );
        if (!found) throw new Failure(`There is no key ${JSON.stringify(key)}`);
        const { account_id: accountId, id } = found;
        const revoked = await database.transaction(accountId, { write: true }, (db) =>
          revokeKey(db, accountId, id, commandAuthor()),
        );
        return {
          json: { id, key, revoked: true, already: !revoked },
          text: revoked ? `${key} is revoked` : `${key} was revoked before`,
        };
      }),
    );
