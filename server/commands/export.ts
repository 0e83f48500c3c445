// `albaran export`
import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Database } from '../../platform/database.ts';
import { type AddCommand, counted, type Interruption } from '../command.ts';
import { companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';
import { output, unlessAborted } from '../output.ts';

export const addExport: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('export')
    .description('exports all data of a company as an account file')
    .requiredOption('--account <slug>', 'the company')
    .option('--out <file>', 'the file; it appears only when complete (default: standard output)')
    .action(({ account, out }: { account: string; out?: string }) =>
      onDatabase(async ({ database }) => {
        const { id } = await companyOf(database, account);
        const records = await exportCompany(database, id, out, interruption);
        if (out === undefined) return undefined;
        return { json: { records, file: out }, text: `${records} records in ${out}` };
      }, 'current'),
    );

/** About how many characters are written at a time. */
const AT_A_TIME = 2 ** 16;

/** Writes a company's account file to `out`, or to standard output. Returns the number of records. */
export async function exportCompany(
  database: Database,
  accountId: number,
  out: string | undefined,
  interruption: Interruption,
): Promise<number> {
  const { exportAccountFile } = await import('../../account-file/export.ts');
  return writeLines(exportAccountFile(database, accountId), out, interruption);
}

/** Writes lines to `out`, or to standard output. Returns how many. */
export async function writeLines(
  lines: AsyncIterable<string>,
  out: string | undefined,
  interruption: Interruption,
): Promise<number> {
  let count = 0;
  async function* text() {
    let some = '';
    for await (const line of counted(lines, interruption, 'Exporting')) {
      count++;
      some += `${line}\n`;
      if (some.length < AT_A_TIME) continue;
      yield some;
      some = '';
    }
    yield some;
  }
  if (out !== undefined) await writeWhole(out, text);
  // The reader of standard output may have stopped reading, so a signal must end the wait.
  else for await (const some of text()) await unlessAborted(output.tell(some), interruption.stop);
  return count;
}

/**
 * Writes a temporary file beside the target and renames it when complete, so that a failure leaves the previous file untouched. Only
 * the owner may read it, whatever the previous file's mode: it holds all of a company's data.
 */
async function writeWhole(file: string, text: () => AsyncGenerator<string>): Promise<void> {
  const place = await realpath(file).catch(() => resolve(file));
  if ((await stat(place).catch(() => undefined))?.isFile() === false) throw new Failure(`${file} is not a file`);
  const draft = `${place}.${randomUUID()}.part`;
  const handle = await open(draft, 'wx', 0o600).catch((error: Error) => {
    throw new Failure(`${file} can't be written: ${error.message}`, { cause: error });
  });
  try {
    await pipeline(text, handle.createWriteStream({ flush: true }));
    await rename(draft, place);
    await syncFolder(dirname(place));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Syncs the folder, so that the rename survives a power loss, where the system supports it. */
async function syncFolder(path: string): Promise<void> {
  try {
    await using folder = await open(path);
    await folder.sync();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'EACCES' && code !== 'EINVAL') throw error;
  }
}
