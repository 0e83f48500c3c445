// `albaran account set`
import { projectTotals, timeEntryDays } from '../../entities/kept/figures.ts';
import { keep } from '../../entities/kept/kept.ts';
import { noteWrite } from '../../platform/audit.ts';
import { type AddCommand, commandAuthor } from '../command.ts';
import { companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';
import { callsPerMinute, timeZone } from './account-options.ts';

interface Options {
  account: string;
  name?: string;
  quota?: number | 'none';
  timeZone?: string;
}

export const addAccountSet: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('set')
    .description('changes a company; what is not named stays as it is')
    .requiredOption('--account <slug>', 'the company')
    .option('--name <name>', 'its name')
    .option('--quota <calls>', 'calls it may make in a minute; "none" for the service’s QUOTA_PER_MINUTE', (text) =>
      text === 'none' ? text : callsPerMinute(text),
    )
    .option('--time-zone <zone>', 'its time zone, an IANA name', timeZone)
    .action(({ account, name, quota, timeZone }: Options) => {
      if (name === undefined && quota === undefined && timeZone === undefined) {
        throw new Failure('Nothing to change: give --name, --quota or --time-zone', { exitCode: 2 });
      }
      return onDatabase(async ({ database }) => {
        const { id } = await companyOf(database, account);
        await database.transaction(id, { write: true }, async (db) => {
          await db
            .updateTable('accounts')
            .set((eb) => ({
              name,
              quota_per_minute: quota === 'none' ? null : quota,
              time_zone: timeZone,
              version: eb('version', '+', 1),
              updated_at: eb.fn<string>('now'),
            }))
            .where('id', '=', id)
            .execute();
          // Days begin at other moments from now on, and with them contracts.
          if (timeZone !== undefined) {
            for (const figure of [timeEntryDays, projectTotals]) await keep(db, id, figure);
          }
          await noteWrite(db, id, commandAuthor(), { operation: 'account set', kind: 'account', id });
        });
        return { json: { id, slug: account }, text: `${account} is changed` };
      });
    });
