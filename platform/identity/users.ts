// People: passwords, browser sessions and memberships of companies. Permissions in a company are checked inside the transaction
// that needs them (`requireMember`); nothing is cached.
import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { type Author, noteWrite } from '../audit.ts';
import { systemClock } from '../clock.ts';
import type { Service } from '../context.ts';
import type { Database, Db } from '../database.ts';
import { ApiError, badField } from '../errors.ts';
import { networkOf } from '../network.ts';
import { emailKey, emailKeys, isEmail } from '../text.ts';
import { endGrantsOf } from './grants.ts';
import { checkPassword, hashPassword, isPassword, NO_PASSWORD } from './passwords.ts';
import { companyIdsOf, noteSharedPeople } from './shared-people.ts';

/** A person's role in a company. */
export type Role = 'admin' | 'member';

/** A person who may sign in. */
export interface User {
  id: number;
  email: string;
  name: string;
}

/** A person's membership of a company. */
export interface Membership {
  accountId: number;
  slug: string;
  name: string;
  role: Role;
}

/** A signed-in person with the session. */
export interface SessionUser {
  userId: number;
  email: string;
  name: string;
  /** Identifies the session; it does not authenticate. */
  sessionId: string;
}

type Storage = Pick<Service, 'database' | 'clock'>;
type SignInService = Pick<Service, 'database' | 'clock' | 'knownBrowsers'>;

/** A session ends after this time, even if it is used. */
export const SESSION_HOURS = 7 * 24;
/** A session ends after this time without use. */
export const IDLE_HOURS = 12;
const NOTE_USE_EVERY_SECONDS = 60;

/** Attempts to sign in are counted in windows of this length. */
export const ATTEMPT_MINUTES = 15;
/**
 * Wrong attempts allowed in a window: of a network for all e-mails, of a network for one e-mail, for one e-mail from everywhere,
 * and of a known browser, to which the first three do not apply. `password`: when changing the password.
 */
const ATTEMPTS = { network: 50, emailAndNetwork: 10, email: 100, knownBrowser: 10, password: 10 };

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Creates a person. Throws 400 if the e-mail is invalid or taken, or the password is too short or too long. */
export async function createUser(
  database: Database,
  { email, name, password }: { email: string; name: string; password: string },
): Promise<User> {
  const key = emailKey(email);
  if (!key || !isEmail(email)) throw badField('email', 'se esperaba un correo electrónico');
  checkPassword('password', password);
  const taken = badField('email', 'ya hay una persona con este correo');
  // Other spellings of the address count too.
  if (await findUser(database, email)) throw taken;
  const user = { email: email.trim(), name: name.trim() };
  const row = await database.service
    .insertInto('users')
    .values({ ...user, email_key: key, password_hash: await hashPassword(password) })
    .onConflict((conflict) => conflict.column('email_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!row) throw taken;
  return { id: row.id, ...user };
}

/** The person with this e-mail, ignoring case. */
export const findUser = (database: Database, email: string): Promise<User | undefined> =>
  database.service
    .selectFrom('users')
    .select(['id', 'email', 'name'])
    .where('email_key', '=', sql<string>`any(${emailKeys(email)}::text[])`)
    .executeTakeFirst();

interface Found extends User {
  passwordHash: string;
}

async function userWithPassword(database: Database, email: string): Promise<Found | undefined> {
  const row = await database.service
    .selectFrom('users')
    .select(['id', 'email', 'name', 'password_hash'])
    .where('email_key', '=', sql<string>`any(${emailKeys(email)}::text[])`)
    .executeTakeFirst();
  return row && { id: row.id, email: row.email, name: row.name, passwordHash: row.password_hash };
}

/** Whether the password is right. An unknown person takes as long as a wrong password. */
const matches = (password: string, user: Found | undefined) => isPassword(password, user?.passwordHash ?? NO_PASSWORD);

/** An attempt to sign in. */
export interface Attempt {
  email: string;
  password: string;
  address: string;
  requestId: string;
  /** The text that the browser stored at an earlier sign-in. */
  knownBrowser?: string | undefined;
}

/** A successful sign-in. */
export interface SignedIn {
  /** The session's token. Only its hash is stored. */
  token: string;
  user: User;
  /** The text for the browser to store: attempts by others will not limit sign-ins there. */
  knownBrowser: string;
}

/**
 * Opens a session. Returns undefined for an unknown e-mail and for a wrong password alike. Throws 429 after too many of either from
 * one network, for one e-mail from one network, or for one e-mail from everywhere. A browser in which the person signed in before
 * has its own limit; once that is reached, it is treated as any other. Each attempt is logged with person and address; of those
 * past a limit, only the first.
 */
export async function signIn(
  { database, clock, knownBrowsers }: SignInService,
  { email, password, address, requestId, knownBrowser }: Attempt,
): Promise<SignedIn | undefined> {
  const now = clock.now();
  const found = await userWithPassword(database, email);
  let browser = found && knownBrowser ? knownBrowsers.open(knownBrowser, found, now) : undefined;
  let limits: Limit[] = [];
  if (found && browser) {
    limits = [{ subject: `browser:${found.id}:${browser}`, most: ATTEMPTS.knownBrowser }];
    if ((await countUnder(database, now, limits)) !== undefined) browser = undefined;
  }
  const note = { userId: found?.id ?? null, address, requestId, knownBrowser: browser !== undefined, now };
  if (!browser) {
    const network = networkOf(address);
    const key = sha256(emailKey(email) ?? '').toString('hex');
    limits = [
      { subject: `address:${network}`, most: ATTEMPTS.network },
      { subject: `email:${key}:${network}`, most: ATTEMPTS.emailAndNetwork },
      { subject: `email:${key}`, most: ATTEMPTS.email },
    ];
    // Count before checking the password, so that concurrent attempts are limited too.
    const over = await countUnder(database, now, limits);
    if (over) {
      if (over.first) await noteSignIn(database, { ...note, outcome: 'limited' });
      throw tooMany(over.until, now);
    }
  }
  const token = (await matches(password, found)) && found ? await openSession(database, found, note) : undefined;
  if (!found || !token) {
    await noteSignIn(database, { ...note, outcome: 'refused' });
    return undefined;
  }
  for (const { subject } of limits) await uncount(database, subject);
  const { passwordHash, ...user } = found;
  return { token, user, knownBrowser: knownBrowsers.sign(found, now, browser) };
}

interface SignInNote {
  userId: number | null;
  address: string;
  requestId: string;
  knownBrowser: boolean;
  now: Temporal.Instant;
}

async function noteSignIn(
  database: Database,
  { userId, address, requestId, knownBrowser, now, outcome }: SignInNote & { outcome: 'refused' | 'limited' },
): Promise<void> {
  await database.service
    .insertInto('sign_ins')
    .values({
      user_id: userId,
      address,
      request_id: requestId,
      known_browser: knownBrowser,
      outcome,
      created_at: now.toString(),
    })
    .execute();
}

/** Creates a session and its log entry atomically. Undefined if the password was changed after it was verified. */
async function openSession(
  database: Database,
  { id, passwordHash }: Found,
  { address, requestId, knownBrowser, now }: SignInNote,
): Promise<string | undefined> {
  const token = randomBytes(32).toString('base64url');
  const ends = now.add({ hours: SESSION_HOURS });
  const { rows } = await sql`with opened as (
      insert into user_sessions (token_hash, user_id, last_seen_at, expires_at)
      select ${sha256(token)}, id, ${now.toString()}::timestamptz, ${ends.toString()}::timestamptz
      from users where id = ${id} and password_hash = ${passwordHash} returning user_id)
    insert into sign_ins (user_id, address, request_id, known_browser, outcome, created_at)
    select user_id, ${address}, ${requestId}, ${knownBrowser}::boolean, 'signed in', ${now.toString()}::timestamptz from opened
    returning user_id`.execute(database.service);
  return rows.length > 0 ? token : undefined;
}

interface Limit {
  subject: string;
  most: number;
}

/** A limit that an attempt exceeded. */
interface Exceeded {
  until: Temporal.Instant;
  /** Whether it is the first attempt past the limit in this window. */
  first: boolean;
}

/** Counts an attempt under each limit. An attempt past a limit counts only under that one. */
async function countUnder(
  database: Database,
  now: Temporal.Instant,
  limits: readonly Limit[],
): Promise<Exceeded | undefined> {
  for (const [index, { subject, most }] of limits.entries()) {
    const { attempts, until } = await countAttempt(database, now, subject);
    if (attempts <= most) continue;
    for (const before of limits.slice(0, index)) await uncount(database, before.subject);
    return { until, first: attempts === most + 1 };
  }
  return undefined;
}

const tooMany = (until: Temporal.Instant, now: Temporal.Instant) =>
  new ApiError('quotaSpent', 'Demasiados intentos: espere unos minutos antes de volver a probar', {
    retryAfterSeconds: Math.max(1, Math.ceil(now.until(until).total('seconds'))),
  });

/** Counts an attempt. Returns how many there are in the subject's window, this one included, and when the window ends. */
async function countAttempt(
  database: Database,
  now: Temporal.Instant,
  subject: string,
): Promise<{ attempts: number; until: Temporal.Instant }> {
  const moment = now.toString();
  const fresh = sql<boolean>`sign_in_attempts.starts_at <= ${moment}::timestamptz - ${`${ATTEMPT_MINUTES} minutes`}::interval`;
  const { rows } = await sql<{ attempts: number; starts_at: string }>`
    insert into sign_in_attempts (subject, starts_at, attempts) values (${subject}, ${moment}, 1)
    on conflict (subject) do update set
      attempts = case when ${fresh} then 1 else sign_in_attempts.attempts + 1 end,
      starts_at = case when ${fresh} then excluded.starts_at else sign_in_attempts.starts_at end,
      updated_at = now()
    returning attempts, starts_at`.execute(database.service);
  const [counted] = rows;
  if (!counted) throw new Error('An attempt was not counted');
  const until = Temporal.Instant.from(counted.starts_at).add({ minutes: ATTEMPT_MINUTES });
  return { attempts: counted.attempts, until };
}

/** Removes an attempt from the count: one that succeeded, or that another limit refused. */
async function uncount({ service }: Database, subject: string): Promise<void> {
  await service
    .updateTable('sign_in_attempts')
    .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
    .where('subject', '=', subject)
    .where('attempts', '>', 0)
    .execute();
}

/** The person of a live session's token. Updates when the session was last used. */
export async function userOfSession({ database, clock }: Storage, token: string): Promise<SessionUser | undefined> {
  const now = clock.now();
  const hash = sha256(token);
  const row = await database.service
    .selectFrom('user_sessions')
    .innerJoin('users', 'users.id', 'user_sessions.user_id')
    .select(['users.id', 'users.email', 'users.name', 'user_sessions.last_seen_at'])
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now.toString())
    .where('last_seen_at', '>', now.subtract({ hours: IDLE_HOURS }).toString())
    .executeTakeFirst();
  if (!row) return undefined;
  if (Temporal.Instant.from(row.last_seen_at).until(now).total('seconds') > NOTE_USE_EVERY_SECONDS) {
    await database.service
      .updateTable('user_sessions')
      .set({ last_seen_at: now.toString() })
      .where('token_hash', '=', hash)
      .execute();
  }
  return { userId: row.id, email: row.email, name: row.name, sessionId: hash.toString('hex') };
}

/** Signs a browser out. */
export async function endSession(database: Database, token: string): Promise<void> {
  await database.service.deleteFrom('user_sessions').where('token_hash', '=', sha256(token)).execute();
}

/**
 * Changes a person's own password and ends their other sessions. Returns the new text of the known browser. Throws 400 that names
 * the wrong field (`actual`, `nueva`), or 429 after too many wrong attempts.
 */
export async function changePassword(
  { database, clock, knownBrowsers }: SignInService,
  { userId, email, sessionId }: Pick<SessionUser, 'userId' | 'email' | 'sessionId'>,
  { actual, nueva }: { actual: string; nueva: string },
  author: Author,
): Promise<string> {
  const now = clock.now();
  const limit = { subject: `email:user-${userId}`, most: ATTEMPTS.password };
  const over = await countUnder(database, now, [limit]);
  if (over) throw tooMany(over.until, now);
  if (!(await matches(actual, await userWithPassword(database, email)))) {
    throw badField('actual', 'no es la contraseña actual');
  }
  await uncount(database, limit.subject);
  checkPassword('nueva', nueva);
  const passwordHash = await setPassword(database, userId, nueva, author, sessionId);
  return knownBrowsers.sign({ id: userId, passwordHash }, now);
}

/** Sets a person's password and ends all their sessions except `keptSession`. Returns the password's hash. */
export async function setPassword(
  database: Database,
  userId: number,
  password: string,
  author: Author,
  keptSession = '',
): Promise<string> {
  checkPassword('password', password);
  const kept = Buffer.from(keptSession, 'hex');
  const hash = await hashPassword(password);
  await database.service
    .with('ended', (db) => db.deleteFrom('user_sessions').where('user_id', '=', userId).where('token_hash', '<>', kept))
    .updateTable('users')
    .set((eb) => ({ password_hash: hash, updated_at: sql`now()`, version: eb('version', '+', 1) }))
    .where('id', '=', userId)
    .execute();
  for (const { accountId } of await companiesOf(database, userId)) {
    await database.transaction(accountId, { write: true }, (db) =>
      noteWrite(db, accountId, author, { operation: 'password change', kind: 'user', id: userId }),
    );
  }
  return hash;
}

/** The names of people by id. */
export async function namesOf(database: Database, userIds: readonly number[]): Promise<Map<number, string>> {
  if (userIds.length === 0) return new Map();
  const rows = await database.service.selectFrom('users').select(['id', 'name']).where('id', 'in', userIds).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The companies a person belongs to, sorted by name. */
export async function companiesOf(database: Database, userId: number): Promise<Membership[]> {
  const memberships = await database.lookup({ user_id: userId }, (db) =>
    db.selectFrom('memberships').select(['account_id', 'admin']).where('user_id', '=', userId).execute(),
  );
  const companies = await Promise.all(
    memberships.map(async ({ account_id, admin }): Promise<Membership> => {
      const { slug, name } = await database.transaction(account_id, {}, (db) =>
        db.selectFrom('accounts').select(['slug', 'name']).where('id', '=', account_id).executeTakeFirstOrThrow(),
      );
      return { accountId: account_id, slug, name, role: admin ? 'admin' : 'member' };
    }),
  );
  return companies.sort((one, other) => one.name.localeCompare(other.name, 'es') || one.accountId - other.accountId);
}

/** The person's role in the transaction's company. Throws 404 if they do not belong to it. */
export async function requireMember(db: Db, accountId: number, userId: number): Promise<Role> {
  const row = await db
    .selectFrom('memberships')
    .select('admin')
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (!row) throw new ApiError('notFound', 'No existe esa empresa');
  return row.admin ? 'admin' : 'member';
}

/** Makes a person a member of a company, or changes their role there. */
export async function grantCompany(
  database: Database,
  { userId, accountId, role }: { userId: number; accountId: number; role: Role },
  author: Author,
): Promise<void> {
  await database.transaction(accountId, { write: true }, async (db) => {
    const admin = role === 'admin';
    await db
      .insertInto('memberships')
      .values({ account_id: accountId, user_id: userId, admin })
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'user_id']).doUpdateSet((eb) => ({
          admin,
          updated_at: eb.ref('excluded.updated_at'),
          version: eb('memberships.version', '+', 1),
        })),
      )
      .execute();
    await noteWrite(db, accountId, author, { operation: 'user grant', kind: 'user', id: userId });
  });
  await noteSharedPeople(database, await companyIdsOf(database, userId));
}

/** Removes a person from a company and ends their authorizations there, in one transaction. Returns whether they belonged to it. */
export async function leaveCompany(
  database: Database,
  { userId, accountId }: { userId: number; accountId: number },
  author: Author,
  now = systemClock.now(),
): Promise<boolean> {
  const belonged = await database.transaction(accountId, { write: true }, async (db) => {
    const { numDeletedRows } = await db
      .deleteFrom('memberships')
      .where('account_id', '=', accountId)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    // Also for non-members: earlier versions left authorizations behind.
    await endGrantsOf(db, accountId, userId, now);
    if (numDeletedRows === 0n) return false;
    await noteWrite(db, accountId, author, { operation: 'user leave', kind: 'user', id: userId });
    return true;
  });
  if (belonged) await noteSharedPeople(database, [accountId, ...(await companyIdsOf(database, userId))]);
  return belonged;
}
