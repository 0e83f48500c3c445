// `albaran account create`
import { createAccount } from '../../account-file/new-account.ts';
import { type AddCommand, fields } from '../command.ts';
import { findCompany } from '../companies.ts';
import { Failure } from '../failure.ts';
import { callsPerMinute, slug, timeZone } from './account-options.ts';

interface Options {
  name: string;
  slug: string;
  quota?: number;
  timeZone?: string;
}

export const addAccountCreate: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('create')
    .description('creates a company with only the records that every company has')
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--slug <slug>', 'what commands call it: lower case letters, digits and dashes', slug)
    .option('--quota <calls>', 'calls it may make in a minute (default: QUOTA_PER_MINUTE)', callsPerMinute)
    .option('--time-zone <zone>', 'its time zone, an IANA name (default: Europe/Madrid)', timeZone)
    .action((options: Options) =>
      onDatabase(async ({ database }) => {
        if (await findCompany(database, options.slug)) {
          throw new Failure(`There is a company with the slug ${JSON.stringify(options.slug)} already`);
        }
        const created = await createAccount(database, { ...options, quotaPerMinute: options.quota });
        return { json: created, text: fields({ ...created }) };
      }),
    );
