// People: their passwords, the sessions of their browsers, and the companies they belong to. Who may do what in a company
// is asked inside the transaction that does it (`requireMember`); nothing here is remembered by the process.
import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { type Author, noteWrite } from './audit.ts';
import type { Service } from './context.ts';
import type { Database, Db } from './database.ts';
import { ApiError, badField } from './errors.ts';
import { endGrantsOf } from './grants.ts';
import { checkPassword, hashPassword, isPassword, NO_PASSWORD } from './passwords.ts';
import { emailKey } from './text.ts';

export type Role = 'admin' | 'member';

export interface User {
  id: number;
  email: string;
  name: string;
}

/** A person's place in a company. */
export interface Membership {
  accountId: number;
  slug: string;
  name: string;
  role: Role;
}

/** A person who is signed in, and by which session. */
export interface SessionUser {
  userId: number;
  email: string;
  name: string;
  /** Names the session and opens nothing. */
  sessionId: string;
}

type Stand = Pick<Service, 'database' | 'clock'>;

/** A session ends after this, however much it is used. */
export const SESSION_HOURS = 7 * 24;
/** And after this without use. */
export const IDLE_HOURS = 12;
const NOTE_USE_EVERY_SECONDS = 60;

/** Attempts to sign in are counted in windows of this length. */
export const ATTEMPT_MINUTES = 15;
const ATTEMPTS = { email: 10, address: 50 };

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Whether a text may be an e-mail address; whether it is one only a letter can tell. */
export const isEmail = (text: string) => text.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(text.trim());

/** Makes a person. 400 when the e-mail is none or is somebody's already, or the password is too short. */
export async function createUser(
  database: Database,
  { email, name, password }: { email: string; name: string; password: string },
): Promise<User> {
  const key = emailKey(email);
  if (!key || !isEmail(email)) throw badField('email', 'se esperaba un correo electrónico');
  checkPassword('password', password);
  const user = { email: email.trim(), name: name.trim() };
  const row = await database.service
    .insertInto('users')
    .values({ ...user, email_key: key, password_hash: await hashPassword(password) })
    .onConflict((conflict) => conflict.column('email_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!row) throw badField('email', 'ya hay una persona con este correo');
  return { id: row.id, ...user };
}

/** The person with this e-mail, in whatever case it is written. */
export const findUser = (database: Database, email: string): Promise<User | undefined> =>
  database.service
    .selectFrom('users')
    .select(['id', 'email', 'name'])
    .where('email_key', '=', emailKey(email) ?? '')
    .executeTakeFirst();

/** Whether this is the person's password. An unknown e-mail takes as long as a wrong password. */
export async function verifyPassword(database: Database, email: string, password: string) {
  const found = await database.service
    .selectFrom('users')
    .select(['id', 'email', 'name', 'password_hash'])
    .where('email_key', '=', emailKey(email) ?? '')
    .executeTakeFirst();
  const right = await isPassword(password, found?.password_hash ?? NO_PASSWORD);
  return found && right
    ? { id: found.id, email: found.email, name: found.name, passwordHash: found.password_hash }
    : undefined;
}

/**
 * A new session for who knows the password: its token, which is kept nowhere. Undefined for an unknown e-mail and for a
 * wrong password alike; 429 after too many of either from one address or for one e-mail.
 */
export async function signIn(
  { database, clock }: Stand,
  { email, password, address }: { email: string; password: string; address: string },
): Promise<{ token: string; user: User } | undefined> {
  const now = clock.now();
  const subjects = [
    { subject: `email:${sha256(emailKey(email) ?? '').toString('hex')}`, most: ATTEMPTS.email },
    { subject: `address:${networkOf(address)}`, most: ATTEMPTS.address },
  ];
  // Counted before the password is looked at, so that attempts made at once are counted too.
  for (const { subject, most } of subjects) await countAttempt(database, now, subject, most);
  const user = await verifyPassword(database, email, password);
  const token = user && (await openSession(database, now, user));
  if (!user || !token) return undefined;
  for (const { subject } of subjects) await takeBack(database, subject);
  return { token, user: { id: user.id, email: user.email, name: user.name } };
}

/** What one caller has to choose from: an address of IPv4, the first half of one of IPv6. */
function networkOf(address: string): string {
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1);
  const [left = [], right = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

/** Undefined when the password was changed since it was verified. */
async function openSession(
  database: Database,
  now: Temporal.Instant,
  { id, passwordHash }: { id: number; passwordHash: string },
): Promise<string | undefined> {
  const token = randomBytes(32).toString('base64url');
  const ends = now.add({ hours: SESSION_HOURS });
  const { rows } = await sql`insert into user_sessions (token_hash, user_id, last_seen_at, expires_at)
    select ${sha256(token)}, id, ${now.toString()}::timestamptz, ${ends.toString()}::timestamptz
    from users where id = ${id} and password_hash = ${passwordHash} returning user_id`.execute(database.service);
  return rows.length > 0 ? token : undefined;
}

async function countAttempt(database: Database, now: Temporal.Instant, subject: string, most: number): Promise<void> {
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
  if (!counted || counted.attempts <= most) return;
  const end = Temporal.Instant.from(counted.starts_at).add({ minutes: ATTEMPT_MINUTES });
  throw new ApiError('quotaSpent', 'Demasiados intentos: espere unos minutos antes de volver a probar', {
    retryAfterSeconds: Math.max(1, Math.ceil(now.until(end).total('seconds'))),
  });
}

/** An attempt that was right is none. */
async function takeBack({ service }: Database, subject: string): Promise<void> {
  await service
    .updateTable('sign_in_attempts')
    .set((eb) => ({ attempts: subject.startsWith('email:') ? 0 : eb('attempts', '-', 1) }))
    .where('subject', '=', subject)
    .execute();
}

/** The person of a session's token, while the session lasts; its use is noted. */
export async function userOfSession({ database, clock }: Stand, token: string): Promise<SessionUser | undefined> {
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

export async function endSession(database: Database, token: string): Promise<void> {
  await database.service.deleteFrom('user_sessions').where('token_hash', '=', sha256(token)).execute();
}

/**
 * Changes a person's own password, and ends their other sessions. 400 names the field (`actual`, `nueva`) that is wrong;
 * 429 after too many wrong ones.
 */
export async function changePassword(
  { database, clock }: Stand,
  { userId, email, sessionId }: Pick<SessionUser, 'userId' | 'email' | 'sessionId'>,
  { actual, nueva }: { actual: string; nueva: string },
  author: Author,
): Promise<void> {
  const subject = `email:user-${userId}`;
  await countAttempt(database, clock.now(), subject, ATTEMPTS.email);
  if (!(await verifyPassword(database, email, actual))) throw badField('actual', 'no es la contraseña actual');
  await takeBack(database, subject);
  checkPassword('nueva', nueva);
  await setPassword(database, userId, nueva, author, sessionId);
}

/** Gives a person another password and ends every session of theirs but `keptSession`. */
export async function setPassword(
  database: Database,
  userId: number,
  password: string,
  author: Author,
  keptSession = '',
): Promise<void> {
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
}

/** What people are called. */
export async function namesOf(database: Database, userIds: readonly number[]): Promise<Map<number, string>> {
  if (userIds.length === 0) return new Map();
  const rows = await database.service.selectFrom('users').select(['id', 'name']).where('id', 'in', userIds).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The companies a person belongs to, by name. */
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

/** The person's role in the company of this transaction. 404 when they don't belong to it. */
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
export const grantCompany = (
  database: Database,
  { userId, accountId, role }: { userId: number; accountId: number; role: Role },
  author: Author,
): Promise<void> =>
  database.transaction(accountId, { write: true }, async (db) => {
    const admin = role === 'admin';
    await db
      .insertInto('memberships')
      .values({ account_id: accountId, user_id: userId, admin })
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'user_id'])
          .doUpdateSet((eb) => ({ admin, updated_at: sql`now()`, version: eb('memberships.version', '+', 1) })),
      )
      .execute();
    await noteWrite(db, accountId, author, { operation: 'user grant', kind: 'user', id: userId });
  });

/** Takes a person out of a company and ends what they authorised there. Whether they belonged to it. */
export async function leaveCompany(
  database: Database,
  { userId, accountId }: { userId: number; accountId: number },
  author: Author,
): Promise<boolean> {
  const left = await database.transaction(accountId, { write: true }, async (db) => {
    const { numDeletedRows } = await db
      .deleteFrom('memberships')
      .where('account_id', '=', accountId)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    if (numDeletedRows === 0n) return false;
    await noteWrite(db, accountId, author, { operation: 'user leave', kind: 'user', id: userId });
    return true;
  });
  await endGrantsOf(database, accountId, userId);
  return left;
}
