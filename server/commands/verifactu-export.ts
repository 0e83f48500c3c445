// `albaran verifactu export`
import { exportOf } from '../../documents/registers.ts';
import type { AddCommand } from '../command.ts';
import { companyOf } from '../companies.ts';
import { writeLines } from './export.ts';

interface Options {
  account: string;
  out?: string;
  xml?: boolean;
}

export const addVerifactuExport: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('export')
    .description('exports the registers of a company’s invoices, for `albaran verify` and others')
    .requiredOption('--account <slug>', 'the company')
    .option('--out <file>', 'the file; it appears only when complete (default: standard output)')
    .option('--xml', 'as XML rather than NDJSON')
    .action(({ account, out, xml }: Options) =>
      onDatabase(async ({ database }) => {
        const { id } = await companyOf(database, account);
        const { lines, count } = exportOf(database, id, xml ? 'xml' : 'ndjson');
        await writeLines(lines, out, interruption);
        return out === undefined
          ? undefined
          : {
              json: { registers: count(), file: out },
              text: `${count()} ${count() === 1 ? 'register' : 'registers'} in ${out}`,
            };
      }, 'current'),
    );
