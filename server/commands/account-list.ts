// `albaran account list`
import { type AddCommand, table } from '../command.ts';
import { companies } from '../companies.ts';

export const addAccountList: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('list')
    .description('lists the companies')
    .action(() =>
      onDatabase(async ({ database }) => {
        const accounts = (await Array.fromAsync(companies(database))).map((company) => ({
          id: company.id,
          slug: company.slug,
          name: company.name,
          timeZone: company.time_zone,
          quotaPerMinute: company.quota_per_minute,
          automaticIssuingSince: company.automatic_issuing_since,
        }));
        const rows = accounts.map((account) => [
          String(account.id),
          account.slug,
          account.name,
          account.timeZone,
          account.quotaPerMinute === null ? 'default' : String(account.quotaPerMinute),
          account.automaticIssuingSince ?? 'off',
        ]);
        return {
          json: { accounts },
          text:
            rows.length > 0
              ? table(['ID', 'SLUG', 'NAME', 'TIME ZONE', 'QUOTA', 'AUTOMATIC ISSUING'], rows)
              : 'No companies',
        };
      }, 'current'),
    );
