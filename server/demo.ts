// The demo company: loaded once, by whoever comes first.
import pg from 'pg';
import { type CreatedKey, createKey } from '../platform/api-keys.ts';
import { newPassword } from '../platform/passwords.ts';
import { createUser, findUser, grantCompany, setPassword } from '../platform/users.ts';
import { commandAuthor, counted, type Interruption, type Opened } from './command.ts';
import { companies, findCompany } from './companies.ts';

/** What commands call the demo company. */
export const DEMO = 'demo';
/** Who signs in to it. */
export const DEMO_EMAIL = 'demo@example.com';

/** What opens the demo company: a key, and a person who signs in. Neither secret is ever known again. */
export interface LoadedDemo extends CreatedKey {
  email: string;
  password: string;
}

// Any number will do, as long as every process of the service uses the same, and nothing else does.
const LOCK = 7_203_118_002;

/**
 * Loads the demo company and makes a key and an administrator of it, which are the answer; undefined when it is there already. With `intoEmpty`
 * only into a database without companies. Two processes may try at once.
 */
export async function loadDemo(
  opened: Pick<Opened, 'database' | 'directUrl'>,
  interruption: Interruption,
  { intoEmpty }: { intoEmpty: boolean },
): Promise<LoadedDemo | undefined> {
  const { database, directUrl } = opened;
  if (!(await isWanted())) return undefined;
  const lock = new pg.Client({ connectionString: directUrl });
  lock.on('error', () => {}); // Losing it lets another process in, no more.
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [LOCK]);
    return (await isWanted()) ? await load() : undefined;
  } finally {
    await lock.end();
  }

  async function isWanted(): Promise<boolean> {
    const company = await findCompany(database, DEMO);
    // Its key is made last: without one, whoever loaded it did not get to the end.
    if (company) return !(await hasKeys(company.id));
    if (!intoEmpty) return true;
    const { done } = await companies(database).next();
    return done === true;
  }

  async function hasKeys(accountId: number): Promise<boolean> {
    const key = await database.transaction(accountId, {}, (db) =>
      db.selectFrom('api_keys').select('id').where('account_id', '=', accountId).limit(1).executeTakeFirst(),
    );
    return key !== undefined;
  }

  async function load(): Promise<LoadedDemo> {
    // Loaded here: a start that finds its data needs none of it.
    const { importAccountFile } = await import('../entities/account-file/import.ts');
    const { createAccount } = await import('../entities/account-file/new-account.ts');
    const { demoCompany } = await import('../entities/account-file/demo/index.ts');
    const { id } = (await findCompany(database, DEMO)) ?? (await createAccount(database, { slug: DEMO, name: DEMO }));
    const lines = demoCompany().map((record) => JSON.stringify(record));
    await importAccountFile(database, id, counted(lines, interruption, 'Loading the demo company'));
    const password = await makeAdministrator(id);
    const key = await database.transaction(id, { write: true }, (db) =>
      createKey(db, id, { name: DEMO }, commandAuthor()),
    );
    return { ...key, email: DEMO_EMAIL, password };
  }

  /** Answers the password. The person may be there from a load that did not get to the end. */
  async function makeAdministrator(accountId: number): Promise<string> {
    const password = newPassword();
    const known = await findUser(database, DEMO_EMAIL);
    const { id: userId } = known ?? (await createUser(database, { email: DEMO_EMAIL, name: 'Demo', password }));
    if (known) await setPassword(database, userId, password, commandAuthor());
    await grantCompany(database, { userId, accountId, role: 'admin' }, commandAuthor());
    return password;
  }
}
