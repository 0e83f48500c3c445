// `albaran import`
import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { type AddCommand, counted } from '../command.ts';
import { companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';

export const addImport: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('import')
    .description('reads an account file into a company: all of it, or nothing if anything in it is wrong')
    .argument('<file>', 'the file; - for standard input')
    .requiredOption('--account <slug>', 'the company')
    .action((file: string, { account }: { account: string }) =>
      onDatabase(async ({ database }) => {
        const { AccountFileError, importAccountFile } = await import('../../entities/account-file/import.ts');
        const { sentence } = await import('../../entities/account-file/problems.ts');
        const { id } = await companyOf(database, account);
        const input = addAbortSignal(interruption.stop, file === '-' ? process.stdin : createReadStream(file));
        try {
          const result = await importAccountFile(
            database,
            id,
            counted(linesOf(input, file), interruption, 'Importing'),
          );
          const { records, created, changed } = result;
          return { json: result, text: `${records} records: ${created} new, ${changed} changed` };
        } catch (error) {
          if (!(error instanceof AccountFileError)) throw error;
          const { problems, total } = error;
          const summary = `Nothing was imported: ${total} ${total === 1 ? 'problem' : 'problems'}`;
          const rest = total > problems.length ? `, of which these are the first ${problems.length}` : '';
          throw new Failure([...problems.map(sentence), summary + rest], { json: { problems, total } });
        }
      }),
    );

async function* linesOf(input: Readable, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let begun = '';
  try {
    for await (const chunk of input) {
      const [first = '', ...more] = decoder.decode(chunk, { stream: true }).split('\n');
      begun += first;
      for (const next of more) {
        yield begun;
        begun = next;
      }
    }
    yield begun + decoder.decode();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`${file} can't be read: ${reason}`, { cause: error });
  }
}
