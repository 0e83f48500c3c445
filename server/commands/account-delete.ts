// `albaran account delete`
import { createInterface } from 'node:readline/promises';
import pg from 'pg';
import { removeCompany, WrittenMeanwhile, writesOf } from '../../lifecycle/removal.ts';
import { type AddCommand, fields } from '../command.ts';
import { companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';
import { exportCompany } from './export.ts';

interface Options {
  account: string;
  out: string;
  yes?: boolean;
}

export const addAccountDelete: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('delete')
    .description('exports a company, then deletes all of it, and the people who belong to no other company')
    .requiredOption('--account <slug>', 'the company')
    .requiredOption('--out <file>', 'the account file that is written first')
    .option('--yes', 'don’t ask')
    .action(({ account, out, yes }: Options) => {
      if (out === '-') throw new Failure('--out: expected a file, not standard output', { exitCode: 2 });
      if (!yes && !process.stdin.isTTY) {
        throw new Failure('Nobody can be asked without a terminal: give --yes', { exitCode: 2 });
      }
      return onDatabase(async ({ database, directUrl }) => {
        const { id, slug, name } = await companyOf(database, account);
        if (!yes) await confirm(slug, `This deletes ${name} for good.`, interruption.stop);
        const client = new pg.Client({ connectionString: directUrl, application_name: 'albaran account delete' });
        client.on('error', () => {}); // The current statement reports the error.
        await client.connect();
        try {
          const writes = await writesOf(client, id);
          const records = await exportCompany(database, id, out, interruption);
          interruption.stop.throwIfAborted();
          const { rows, people } = await removeCompany(client, id, { writes }).catch((error: unknown) => {
            if (!(error instanceof WrittenMeanwhile)) throw error;
            throw new Failure(
              `${slug} was written to while it was exported, and is still there: revoke its keys, or try again`,
              { cause: error },
            );
          });
          const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
          return {
            json: { id, slug, file: out, records, rows, people },
            text: fields({ deleted: slug, file: out, records, rows: total, people }),
          };
        } finally {
          await client.end();
        }
      });
    });

/** Asks for the slug on the terminal. Throws a Failure with exit code 2 for any other answer. */
async function confirm(slug: string, warning: string, signal: AbortSignal): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const given = await lines.question(`${warning} Type ${slug} to go on: `, { signal });
    if (given.trim() !== slug) throw new Failure('Nothing was deleted', { exitCode: 2 });
  } finally {
    lines.close();
  }
}
