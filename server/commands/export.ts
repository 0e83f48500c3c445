// `albaran export`
import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Database } from '../../platform/database.ts';
import { type AddCommand, counted, type Interruption } from '../command.ts';
import { companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';

export const addExport: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('export')
    .description('writes all that a company owns as an account file')
    .requiredOption('--account <slug>', 'the company')
    .option('--out <file>', 'the file; it is there once it is complete (default: standard output)')
    .action(({ account, out }: { account: string; out?: string }) =>
      onDatabase(async ({ database }) => {
        const { id } = await companyOf(database, account);
        const records = await exportCompany(database, id, out, interruption);
        if (out === undefined) return undefined;
        return { json: { records, file: out }, text: `${records} records in ${out}` };
      }),
    );

/** Writes a company's account file to `out`, or to standard output. Answers how many records it holds. */
export async function exportCompany(
  database: Database,
  accountId: number,
  out: string | undefined,
  interruption: Interruption,
): Promise<number> {
  const { exportAccountFile } = await import('../../entities/account-file/export.ts');
  let records = 0;
  async function* text() {
    for await (const line of counted(exportAccountFile(database, accountId), interruption, 'Exporting')) {
      records++;
      yield `${line}\n`;
    }
  }
  if (out === undefined) await pipeline(text, process.stdout, { end: false });
  else await writeWhole(out, text);
  return records;
}

/** Writes a file beside its place and moves it there when it is complete: a failure leaves what was there before. */
async function writeWhole(file: string, text: () => AsyncGenerator<string>): Promise<void> {
  const place = await realpath(file).catch(() => resolve(file));
  if ((await stat(place).catch(() => undefined))?.isFile() === false) throw new Failure(`${file} is not a file`);
  const draft = `${place}.${randomUUID()}.part`;
  const handle = await open(draft, 'wx').catch((error: Error) => {
    throw new Failure(`${file} can't be written: ${error.message}`, { cause: error });
  });
  try {
    await pipeline(text, handle.createWriteStream({ flush: true }));
    await rename(draft, place);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
