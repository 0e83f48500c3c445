// `albaran verifactu switch`
import { sql } from 'kysely';
import { nameOf } from '../../documents/verifactu/record.ts';
import { isNif, plainTaxId } from '../../documents/verifactu/tax-ids.ts';
import { REGISTER_MODES, type RegisterMode } from '../../entities/values.ts';
import { queueRegisters, switchVerifactu } from '../../lifecycle/verifactu.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Db } from '../../platform/database.ts';
import { sharesPeople } from '../../platform/identity/shared-people.ts';
import { changeOf } from '../../platform/journal.ts';
import { type AddCommand, journalByCommand } from '../command.ts';
import { companyOf } from '../companies.ts';
import type { Config } from '../config.ts';
import { Failure } from '../failure.ts';
import { modeOrOff } from './account-options.ts';

const HELP = `
pruebas     registers for the agency's test service; documents say PRUEBAS
produccion  real ones: see docs/verifactu.md before
off         invoices issued from now on are not registered`;

export const addVerifactuSwitch: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('switch')
    .description('registers the invoices that a company issues from now on, or no longer')
    .requiredOption('--account <slug>', 'the company')
    .requiredOption(`--mode <${REGISTER_MODES.join('|')}|off>`, 'where to', modeOrOff)
    .addHelpText('after', HELP)
    .action(({ account, mode: asked }: { account: string; mode: RegisterMode | 'off' }) =>
      onDatabase(async ({ database, config }) => {
        const { id } = await companyOf(database, account);
        const mode = asked === 'off' ? null : asked;
        if (mode) refuseWithout(config, mode);
        const now = systemClock.now();
        const shares = mode !== null && (await sharesPeople(database, id));
        if (mode) await queueRegisters(database, id, now);
        await database.transaction(id, { write: true }, async (db) => {
          if (mode) await refuseUnnamed(db, id, account);
          await switchVerifactu(db, id, { mode, sharesPeople: shares, now });
          await journalByCommand(db, id, 'verifactu switch', [changeOf('modify', 'account', id)]);
        });
        const text = mode
          ? `Invoices of ${account} are registered from now on: ${mode}`
          : `Invoices of ${account} are no longer registered`;
        return { json: { id, slug: account, mode }, text };
      }),
    );

/** What the operator has to set before. */
function refuseWithout({ verifactu }: Config, mode: RegisterMode): void {
  if (!verifactu) {
    throw new Failure('VERIFACTU_PRODUCER_NAME and the settings beside it: expected, since registers name the system');
  }
  if (mode === 'produccion' && !verifactu.declarationUrl) {
    throw new Failure(
      'VERIFACTU_DECLARATION_URL: expected, since a system without its producer’s declaration may not be used',
    );
  }
}

/** A company needs a name and a tax id that the agency takes. */
async function refuseUnnamed(db: Db, id: number, account: string): Promise<void> {
  const { rows } = await sql<{ name: string; tax_id: string | null }>`
    select coalesce(nullif(legal_name, ''), name) as name, tax_id from accounts where id = ${id}`.execute(db);
  const [{ name, tax_id } = { name: '', tax_id: null }] = rows;
  if (nameOf(name) !== '' && isNif(plainTaxId(tax_id ?? ''))) return;
  throw new Failure(
    `${account} has ${tax_id ? `the tax id ${tax_id}, which is no NIF` : 'no tax id'}: albaran account set --account ${account} --tax-id <NIF>`,
  );
}
