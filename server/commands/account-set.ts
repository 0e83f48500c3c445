// `albaran account set`

import { projectTotals, timeEntryDays } from '../../figures/figures.ts';
import { recompute } from '../../figures/rollups.ts';
import { switchAutomaticIssuing } from '../../platform/automatic-issuing.ts';
import { systemClock } from '../../platform/clock.ts';
import { changeOf } from '../../platform/journal.ts';
import { type AddCommand, journalByCommand } from '../command.ts';
import { companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';
import { callsPerMinute, onOrOff, timeZone } from './account-options.ts';

interface Options {
  account: string;
  name?: string;
  quota?: number | 'none';
  timeZone?: string;
  automaticIssuing?: boolean;
}

export const addAccountSet: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('set')
    .description('changes a company’s settings; options that are not given stay unchanged')
    .requiredOption('--account <slug>', 'the company')
    .option('--name <name>', 'its name')
    .option('--quota <calls>', 'calls it may make in a minute; "none" for the service’s QUOTA_PER_MINUTE', (text) =>
      text === 'none' ? text : callsPerMinute(text),
    )
    .option('--time-zone <zone>', 'its time zone, an IANA name', timeZone)
    .option(
      '--automatic-issuing <on|off>',
      'whether its renewals are issued automatically, from the day it is switched on; earlier ones stay due',
      onOrOff,
    )
    .action(({ account, name, quota, timeZone, automaticIssuing }: Options) => {
      if ([name, quota, timeZone, automaticIssuing].every((value) => value === undefined)) {
        throw new Failure('Nothing to change: give --name, --quota, --time-zone or --automatic-issuing', {
          exitCode: 2,
        });
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
          if (automaticIssuing !== undefined) {
            await switchAutomaticIssuing(db, id, automaticIssuing, systemClock.now());
          }
          // These rollups depend on when local days begin.
          if (timeZone !== undefined) {
            for (const rollup of [timeEntryDays, projectTotals]) await recompute(db, id, rollup);
          }
          await journalByCommand(db, id, 'account set', [changeOf('modify', 'account', id)]);
        });
        return { json: { id, slug: account }, text: `${account} is changed` };
      });
    });
