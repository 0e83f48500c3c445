// `albaran verifactu correct`
import { correctRegisters } from '../../documents/correct-registers.ts';
import { systemClock } from '../../platform/clock.ts';
import { type AddCommand, table } from '../command.ts';
import { companyOf } from '../companies.ts';
import { verifactuSettings } from '../verifactu-settings.ts';

interface Options {
  account: string;
  invoice?: string;
  withErrors?: boolean;
}

const HELP = `
Each rejected register gets another one, with what its invoice says and what the
company and its client are called today; it is chained and sent like any other.
Correct what the agency refused before: \`albaran verifactu status\`, and
operation obtenerRegistroFactura, tell why. An invoice that is wrong itself is
rectified or annulled instead.`;

export const addVerifactuCorrect: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('correct')
    .description('registers anew what the tax agency rejected (subsanación)')
    .requiredOption('--account <slug>', 'the company')
    .option('--invoice <number>', 'only this invoice')
    .option('--with-errors', 'also what it accepted with errors')
    .addHelpText('after', HELP)
    .action(({ account, invoice, withErrors = false }: Options) =>
      onDatabase(async ({ database, config }) => {
        const { id } = await companyOf(database, account);
        const verifactu = await verifactuSettings(config);
        const { made, refused } = await correctRegisters(
          { database, clock: systemClock, verifactu },
          { accountId: id, number: invoice, withErrors },
        );
        const lines = [
          ...made.map(({ number, type }) => [number, type, 'registered anew']),
          ...refused.map(({ number, type, problem }) => [number, type, problem]),
        ];
        const text = lines.length > 0 ? table(['INVOICE', 'REGISTER', 'NOW'], lines) : 'Nothing to correct';
        return { json: { made, refused }, text };
      }),
    );
