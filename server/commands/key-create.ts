// `albaran key create`
import { createKey } from '../../platform/identity/api-keys.ts';
import { type AddCommand, commandAuthor, fields, plainDate } from '../command.ts';
import { companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';

export const addKeyCreate: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('create')
    .description('creates an API key; its secret is shown only once')
    .requiredOption('--account <slug>', 'the company')
    .option('--name <name>', 'what it is for', 'command')
    .option('--read-only', 'the key can only read')
    .option('--expires <date>', 'the last day it works, YYYY-MM-DD, in the company’s time zone', plainDate)
    .action((options: { account: string; name: string; readOnly?: boolean; expires?: Temporal.PlainDate }) =>
      onDatabase(async ({ database }) => {
        const { id, time_zone } = await companyOf(database, options.account);
        const expiresAt = options.expires?.add({ days: 1 }).toZonedDateTime(time_zone).toInstant();
        if (expiresAt && Temporal.Instant.compare(expiresAt, Temporal.Now.instant()) <= 0) {
          throw new Failure(`--expires: ${options.expires} is over`, { exitCode: 2 });
        }
        const created = await database.transaction(id, { write: true }, (db) =>
          createKey(db, id, { ...options, expiresAt }, commandAuthor()),
        );
        return { json: created, text: `${fields({ ...created })}\n\nThe secret is not kept: note it down now.` };
      }),
    );
