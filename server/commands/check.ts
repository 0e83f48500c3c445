// `albaran check`

import { ROLLUPS } from '../../figures/figures.ts';
import { type Difference, differences, recompute } from '../../figures/rollups.ts';
import type { Database } from '../../platform/database.ts';
import { changeOf } from '../../platform/journal.ts';
import { type AddCommand, counted, journalByCommand, table } from '../command.ts';
import { type Company, companies, companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';

interface Options {
  account?: string;
  repair?: boolean;
}

export const addCheck: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('check')
    .description(
      'compares the stored figures (counts, economics of projects, stock) with the records they are computed from',
    )
    .option('--account <slug>', 'the company (default: all)')
    .option('--repair', 'writes what the records say')
    .action(({ account, repair = false }: Options) =>
      onDatabase(
        async ({ database }) => {
          const all = account ? [await companyOf(database, account)] : companies(database);
          const found: (Difference & { account: string })[] = [];
          for await (const company of counted(all, interruption, 'Checking')) {
            const wrong = await (repair ? repaired(database, company) : differing(database, company));
            for (const difference of wrong) found.push({ account: company.slug, ...difference });
          }
          const json = { differences: found, count: found.length, repaired: repair };
          if (found.length === 0) return { json, text: 'Every figure is what the records say' };
          const rows = found.map(({ account, table, key, kept, computed }) => [
            account,
            table,
            textOf(key),
            ...[kept, computed].map((values) => (values ? textOf(values) : 'none')),
          ]);
          const text = table(['COMPANY', 'TABLE', 'ROW', 'KEPT', 'OF THE RECORDS'], rows);
          if (repair) return { json, text: `${text}\n\n${found.length} repaired` };
          throw new Failure([text, '', `${found.length} differ: --repair writes what the records say`], { json });
        },
        repair ? 'forward' : 'current',
      ),
    );

const textOf = (values: Record<string, string | number>) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

/** Compares each rollup in one statement, so that it sees a concurrent write completely or not at all. */
const differing = (database: Database, { id }: Company): Promise<Difference[]> =>
  database.transaction(id, {}, async (db) => {
    const found: Difference[] = [];
    for (const rollup of ROLLUPS) found.push(...(await differences(db, id, rollup)));
    return found;
  });

const repaired = (database: Database, { id }: Company): Promise<Difference[]> =>
  database.transaction(id, { write: true }, async (db) => {
    // Imports lock the company's row first too, so the two can't deadlock.
    await db.selectFrom('accounts').select('id').where('id', '=', id).forUpdate().execute();
    const found: Difference[] = [];
    for (const rollup of ROLLUPS) {
      const wrong = await differences(db, id, rollup);
      if (wrong.length > 0) await recompute(db, id, rollup);
      found.push(...wrong);
    }
    if (found.length > 0) await journalByCommand(db, id, 'check', [changeOf('modify', 'account', id)]);
    return found;
  });
