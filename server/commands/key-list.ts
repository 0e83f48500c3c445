// `albaran key list`
import { type AddCommand, table } from '../command.ts';
import { companyOf } from '../companies.ts';

export const addKeyList: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('list')
    .description('lists the API keys of a company, including revoked and expired ones')
    .requiredOption('--account <slug>', 'the company')
    .action(({ account }: { account: string }) =>
      onDatabase(async ({ database }) => {
        const { id: accountId } = await companyOf(database, account);
        const rows = await database.transaction(accountId, {}, (db) =>
          db
            .selectFrom('api_keys')
            .select(['id', 'key', 'name', 'can_write', 'created_at', 'expires_at', 'last_used_at', 'revoked_at'])
            .where('account_id', '=', accountId)
            .orderBy('id')
            .execute(),
        );
        const keys = rows.map((row) => ({
          id: row.id,
          key: row.key,
          name: row.name,
          readOnly: !row.can_write,
          createdAt: moment(row.created_at),
          expiresAt: moment(row.expires_at),
          lastUsedAt: moment(row.last_used_at),
          revokedAt: moment(row.revoked_at),
        }));
        const now = Temporal.Now.instant();
        const isPast = (at: string) => Temporal.Instant.compare(at, now) <= 0;
        const lines = keys.map((key) => [
          String(key.id),
          key.key,
          key.name,
          key.readOnly ? 'read' : 'read, write',
          key.revokedAt ? 'revoked' : key.expiresAt && isPast(key.expiresAt) ? 'expired' : 'live',
          key.expiresAt ?? '',
          key.lastUsedAt ?? '',
        ]);
        return {
          json: { keys },
          text:
            keys.length > 0 ? table(['ID', 'KEY', 'NAME', 'MAY', 'STATE', 'EXPIRES', 'LAST USED'], lines) : 'No keys',
        };
      }, 'current'),
    );

/** PostgreSQL's timestamp as ISO 8601 in UTC, to the second. */
const moment = (text: string | null) =>
  text === null
    ? null
    : Temporal.Instant.from(text).round({ smallestUnit: 'second', roundingMode: 'floor' }).toString();
