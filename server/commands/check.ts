// `albaran check`

import { type Failure, type Fault, verifyDocuments } from '../../documents/verification.ts';
import { ROLLUPS } from '../../figures/figures.ts';
import { type Difference, differences, recompute } from '../../figures/rollups.ts';
import { sealUnsealed } from '../../lifecycle/seal.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database.ts';
import { changeOf } from '../../platform/journal.ts';
import { type AddCommand, commandAuthor, counted, journalByCommand, table } from '../command.ts';
import { type Company, companies, companyOf } from '../companies.ts';
import { Failure as CommandFailure } from '../failure.ts';

interface Options {
  account?: string;
  repair?: boolean;
}

export const addCheck: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('check')
    .description(
      'compares the stored figures (counts, economics of projects, stock) with the records they are computed from, and issued documents with their seals',
    )
    .option('--account <slug>', 'the company (default: all)')
    .option('--repair', 'writes what the records say, and seals documents of earlier versions')
    .action(({ account, repair = false }: Options) =>
      onDatabase(
        async ({ database }) => {
          const all = account ? [await companyOf(database, account)] : companies(database);
          const found: (Difference & { account: string })[] = [];
          let sealed = 0;
          const broken: (Failure & { account: string })[] = [];
          for await (const company of counted(all, interruption, 'Checking')) {
            const wrong = await (repair ? repaired(database, company) : differing(database, company));
            for (const difference of wrong) found.push({ account: company.slug, ...difference });
            if (repair)
              sealed += await sealUnsealed(
                database,
                { accountId: company.id, origin: { ...commandAuthor(), operation: 'check', now: systemClock.now() } },
                interruption.stop,
              );
            const { failures } = await database.transaction(company.id, {}, (db) =>
              verifyDocuments(db, company.id, { limit: MOST_FAILURES }),
            );
            for (const failure of failures) broken.push({ account: company.slug, ...failure });
          }
          const json = { differences: found, count: found.length, repaired: repair, documents: broken, sealed };
          const documents = broken.length > 0 ? [documentsTable(broken), '', NOT_AS_SEALED] : [];
          if (found.length === 0 && broken.length > 0) throw new CommandFailure(documents, { json });
          if (found.length === 0)
            return { json, text: 'Every figure is what the records say, and every document as it was sealed' };
          const rows = found.map(({ account, table, key, kept, computed }) => [
            account,
            table,
            textOf(key),
            ...[kept, computed].map((values) => (values ? textOf(values) : 'none')),
          ]);
          const text = table(['COMPANY', 'TABLE', 'ROW', 'KEPT', 'OF THE RECORDS'], rows);
          const figures = repair
            ? [text, '', `${found.length} repaired`]
            : [text, '', `${found.length} differ: --repair writes what the records say`];
          if (repair && broken.length === 0) return { json, text: figures.join('\n') };
          throw new CommandFailure([...figures, ...(broken.length > 0 ? ['', ...documents] : [])], { json });
        },
        repair ? 'forward' : 'current',
      ),
    );

/** Of a company. */
const MOST_FAILURES = 100;

const NOT_AS_SEALED =
  'These documents are not as they were sealed: nothing here repairs that, compare them with a backup';

const FAULTS: Record<Fault, string> = {
  content: 'does not say what was sealed',
  annulment: 'its annulment is not what was sealed',
  answer: 'its answer is not what was sealed',
  deleted: 'was sealed and is gone',
  register: 'its register for the tax agency is not as it was made',
  registers: 'the registers for the tax agency lack their end',
  seal: 'its seal was changed',
  gap: 'the seal before its own is missing',
  end: 'the last seals of the chain are missing',
};

const documentsTable = (broken: readonly (Failure & { account: string })[]) =>
  table(
    ['COMPANY', 'TABLE', 'DOCUMENT', 'ID', 'WHAT IS WRONG'],
    broken.map(({ account, table, number, id, fault }) => [
      account,
      table,
      number ?? '',
      id === null ? '' : String(id),
      FAULTS[fault],
    ]),
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
