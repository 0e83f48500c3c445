// Creates a company with its standard records.
import { randomUUID } from 'node:crypto';
import { constraintOf, type Database, type Db, isDatabaseError } from '../platform/database.ts';
import { changeOf, writeJournal } from '../platform/journal.ts';
import { isTimeZone } from './local-times.ts';
import { rows } from './statements.ts';

export interface NewAccount {
  /** How commands name the company; unique in the service. */
  slug: string;
  name: string;
  taxId?: string;
  /** IANA name; default Europe/Madrid. */
  timeZone?: string;
  multiFormatStock?: boolean;
  /** Calls a minute; left out, the service's default. LIM-01 */
  quotaPerMinute?: number;
}

/** Price list 1 and the types of day. */
const DAY_TYPES = {
  festivo: 'Festivo',
  vacaciones: 'Vacaciones',
  cierre: 'Cierre de empresa',
  baja: 'Baja médica',
  permiso: 'Permiso',
};
const FIRST_PRICE_LIST = 1;

/** Creates a company with its standard records. Throws if the slug is taken or the time zone does not exist. */
export async function createAccount(database: Database, account: NewAccount): Promise<{ id: number; slug: string }> {
  const { slug, name, taxId, timeZone = 'Europe/Madrid', multiFormatStock = false, quotaPerMinute } = account;
  if (!isTimeZone(timeZone)) throw new Error(`${timeZone} no es el nombre de una zona horaria`);
  // On the pool: the tenant role sees an account only after its id is set.
  const { rows: drawn } = await database.pool.query<{ id: number }>(`select nextval('accounts_id_seq') as id`);
  const id = drawn[0]?.id;
  if (id === undefined) throw new Error('accounts_id_seq gave no number');
  try {
    await database.transaction(id, { write: true }, async (db) => {
      await db
        .insertInto('accounts')
        .values({
          id,
          ref: 'cuenta',
          slug,
          name,
          tax_id: taxId ?? null,
          time_zone: timeZone,
          multi_format_stock: multiFormatStock,
          quota_per_minute: quotaPerMinute ?? null,
        })
        .execute();
      await addStandardRecords(db, id);
      const origin = {
        actor: 'command',
        door: 'command',
        requestId: randomUUID(),
        now: Temporal.Now.instant(),
      } as const;
      await writeJournal(db, id, { ...origin, operation: 'account create' }, [changeOf('create', 'account', id)]);
    });
  } catch (error) {
    if (isDatabaseError(error) && constraintOf(error) === 'accounts_slug_unique') {
      throw new Error(`Ya hay una empresa con el identificador ${slug}`, { cause: error });
    }
    throw error;
  }
  return { id, slug };
}

/** Adds missing standard records. */
export async function addStandardRecords(db: Db, accountId: number): Promise<void> {
  await Promise.all([
    rows(
      db,
      `insert into price_lists (account_id, number) values ($1, $2) on conflict (account_id, number) do nothing`,
      [accountId, FIRST_PRICE_LIST],
    ),
    rows(
      db,
      `insert into day_types (account_id, code, title) select $1, n.key, n.value from json_each_text($2) n
       on conflict (account_id, code) do nothing returning id`,
      [accountId, JSON.stringify(DAY_TYPES)],
    ),
  ]);
}
