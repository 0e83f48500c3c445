// Loads the demo company, once.
import pg from 'pg';
import { type CreatedKey, createKey } from '../platform/identity/api-keys.ts';
import { newPassword } from '../platform/identity/passwords.ts';
import { createUser, findUser, grantCompany, setPassword } from '../platform/identity/users.ts';
import { commandAuthor, counted, type Interruption, type Opened } from './command.ts';
import { companies, findCompany } from './companies.ts';

/** The slug of the demo company. */
export const DEMO = 'demo';
/** The e-mail of its administrator. */
export const DEMO_EMAIL = 'demo@example.com';

/** A new API key and the administrator's e-mail and password. Neither secret can be shown again. */
export interface LoadedDemo extends CreatedKey {
  email: string;
  password: string;
}

// An arbitrary number, the same in every process and not used for other locks.
const LOCK = 7_203_118_002;

/**
 * Loads the demo company with a key and an administrator and returns their secrets; undefined if it is loaded already. With
 * `intoEmpty`, loads it only into a database without companies. Two processes may call it at once.
 */
export async function loadDemo(
  opened: Pick<Opened, 'database' | 'directUrl'>,
  interruption: Interruption,
  { intoEmpty }: { intoEmpty: boolean },
): Promise<LoadedDemo | undefined> {
  const { database, directUrl } = opened;
  if (!(await isWanted())) return undefined;
  const lock = new pg.Client({ connectionString: directUrl });
  lock.on('error', () => {}); // If the lock is lost, another process may start loading; nothing worse.
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [LOCK]);
    return (await isWanted()) ? await load() : undefined;
  } finally {
    await lock.end();
  }

  async function isWanted(): Promise<boolean> {
    const company = await findCompany(database, DEMO);
    // The key is created last. A company without keys was not loaded completely.
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
    // Imported here, because most starts do not need them.
    const { importAccountFile } = await import('../account-file/import.ts');
    const { createAccount } = await import('../account-file/new-account.ts');
    const { demoCompany } = await import('../account-file/demo/index.ts');
    const { id } = (await findCompany(database, DEMO)) ?? (await createAccount(database, { slug: DEMO, name: DEMO }));
    const lines = demoCompany().map((record) => JSON.stringify(record));
    await importAccountFile(database, id, counted(lines, interruption, 'Loading the demo company'));
    const password = await makeAdministrator(id);
    const key = await database.transaction(id, { write: true }, (db) =>
      createKey(db, id, { name: DEMO }, commandAuthor()),
    );
    return { ...key, email: DEMO_EMAIL, password };
  }

  /** Creates the administrator and returns the password. The person may exist from an incomplete load. */
  async function makeAdministrator(accountId: number): Promise<string> {
    const password = newPassword();
    const known = await findUser(database, DEMO_EMAIL);
    const { id: userId } = known ?? (await createUser(database, { email: DEMO_EMAIL, name: 'Demo', password }));
    if (known) await setPassword(database, userId, password, commandAuthor());
    await grantCompany(database, { userId, accountId, role: 'admin' }, commandAuthor());
    return password;
  }
}
