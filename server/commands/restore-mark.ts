// `albaran restore-mark`
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beginJournal } from '../../platform/journal.ts';
import { type AddCommand, counted } from '../command.ts';
import { companies } from '../companies.ts';

/** Begins a new epoch of every company's journal: what callers read of the history that is lost is to be read anew. JRN-02 */
export const addRestoreMark: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('restore-mark')
    .description(
      'says that this database was restored from a backup: whoever follows what changes reads everything anew',
    )
    .action(() =>
      onDatabase(async ({ database }) => {
        const epoch = randomUUID();
        let marked = 0;
        for await (const { id } of counted(companies(database), interruption, 'Marking')) {
          await database.transaction(id, { write: true }, async (db) => {
            await beginJournal(db, id);
            await sql`update journals set epoch = ${epoch} where account_id = ${id}`.execute(db);
          });
          marked++;
        }
        return {
          json: { epoch, companies: marked },
          text: `A new epoch begins for ${marked} ${marked === 1 ? 'company' : 'companies'}: ${epoch}`,
        };
      }),
    );
