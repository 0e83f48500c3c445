// `albaran import`
import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { linesOf } from '../../account-file/lines.ts';
import { systemClock } from '../../platform/clock.ts';
import type { DueSummary } from '../../routers/shared/renewals/issue-renewals.ts';
import { type AddCommand, counted } from '../command.ts';
import { companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';

export const addImport: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('import')
    .description('imports an account file into a company: all of it, or nothing if there is any error')
    .argument('<file>', 'the file; - for standard input')
    .requiredOption('--account <slug>', 'the company')
    .action((file: string, { account }: { account: string }) =>
      onDatabase(async ({ database }) => {
        const { AccountFileError, importAccountFile } = await import('../../account-file/import.ts');
        const { sentence } = await import('../../account-file/problems.ts');
        const { summariseDue } = await import('../../routers/shared/renewals/issue-renewals.ts');
        const { daysOf } = await import('../renewals.ts');
        const { id } = await companyOf(database, account);
        const input = addAbortSignal(interruption.stop, file === '-' ? process.stdin : createReadStream(file));
        try {
          const result = await importAccountFile(
            database,
            id,
            counted(readLines(input, file), interruption, 'Importing'),
          );
          // Read the company again: the import may have changed its time zone.
          const days = daysOf(await companyOf(database, account), systemClock.now());
          const due = await summariseDue({ database, accountId: id, ...days, since: 'entered' });
          const { records, created, changed, notices } = result;
          const summary = `${records} records: ${created} new, ${changed} changed`;
          return { json: { ...result, due }, text: [...notices, summary, sentenceOf(due, account)].join('\n') };
        } catch (error) {
          if (!(error instanceof AccountFileError)) throw error;
          const { problems, total } = error;
          const summary = `Nothing was imported: ${total} ${total === 1 ? 'problem' : 'problems'}`;
          const rest = total > problems.length ? `, of which these are the first ${problems.length}` : '';
          throw new Failure([...problems.map(sentence), summary + rest], { json: { problems, total } });
        }
      }),
    );

/** Says how many renewals are due after the import, which issues none. ISS-02 */
function sentenceOf({ renewals, recurrings, first }: DueSummary, account: string): string {
  if (renewals === 0) return 'No renewal of a recurring service is due';
  const count = renewals === 1 ? '1 renewal is' : `${renewals.toLocaleString('en')} renewals are`;
  const services = `${recurrings.toLocaleString('en')} recurring ${recurrings === 1 ? 'service' : 'services'}`;
  return `${count} due, of ${services}, the first of ${first}; importing issued none. To look at them: albaran renew --account ${account} --dry-run`;
}

async function* readLines(input: Readable, file: string): AsyncGenerator<string> {
  try {
    yield* linesOf(input);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`${file} can't be read: ${reason}`, { cause: error });
  }
}
