// Authorizations of the connector: what a person allowed an application to do in one company, and the codes and tokens issued for
// it. They depend on one row of `grants`: when that ends, all of them end at once, on every process (OAU-04, OAU-06).
// A code or token starts with its company's number, so that it is looked up only inside that company.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { noteWrite } from '../audit.ts';
import { systemClock } from '../clock.ts';
import type { Database, Db } from '../database.ts';
import { ApiError } from '../errors.ts';
import { ACCOUNT_COLUMNS, hashSecret, type Principal, type Scope } from '../principal.ts';

export const CODE_SECONDS = 60;
export const ACCESS_TOKEN_SECONDS = 3600;
/** An unused authorization ends this long after its last renewal. */
export const REFRESH_TOKEN_SECONDS = 30 * 24 * 3600;
/** An authorization ends after this time even if it is used; then the person must authorise again. */
export const AUTHORIZATION_DAYS = 365;
/** An application that was never authorised is deleted after this time. OAU-02 */
export const UNUSED_CLIENT_HOURS = 24;
/** Processes of one application may race for a renewal: within this time a second use is only refused. OAU-04 */
const RACE_SECONDS = 10;
const NOTE_USE_EVERY_SECONDS = 60;

const PREFIXES = { code: 'ac', access: 'at', refresh: 'rt' } as const;
/** A kind of code or token. */
export type TokenKind = keyof typeof PREFIXES;

/** What a person agreed to. */
export interface NewGrant {
  accountId: number;
  userId: number;
  clientId: string;
  clientName: string;
  redirectHost: string;
  canWrite: boolean;
  /** The only address that its tokens work for. */
  resource: string;
}

/** An authorization for the integrations page. */
export interface Connection {
  id: number;
  userId: number;
  clientName: string;
  redirectHost: string;
  canWrite: boolean;
  createdAt: Temporal.Instant;
  lastUsedAt: Temporal.Instant | null;
}

/** A code or token with its authorization. */
export interface IssuedToken {
  accountId: number;
  grantId: number;
  kind: TokenKind;
  hash: Buffer;
  clientId: string;
  resource: string;
  canWrite: boolean;
  redirectUri: string | null;
  codeChallenge: string | null;
}

/**
 * Stores an authorization and returns the code that the application exchanges for tokens. Throws 403 if the person does not belong
 * to the company (any more).
 */
export async function createGrant(
  database: Database,
  grant: NewGrant,
  code: { redirectUri: string; codeChallenge: string },
  { requestId, now }: { requestId: string; now: Temporal.Instant },
): Promise<string> {
  const { accountId, canWrite } = grant;
  const secret = newSecret('code', accountId);
  await database.service
    .updateTable('oauth_clients')
    .set({ authorized_at: now.toString() })
    .where('id', '=', grant.clientId)
    .where('authorized_at', 'is', null)
    .execute();
  await database.transaction(accountId, { write: true }, async (db) => {
    // Lock the membership, so that removing the person from the company waits and then ends this authorization too.
    const member = await db
      .selectFrom('memberships')
      .select('user_id')
      .where('account_id', '=', accountId)
      .where('user_id', '=', grant.userId)
      .forShare()
      .executeTakeFirst();
    if (!member) throw new ApiError('forbidden', 'No puede autorizar el acceso a esa empresa');
    const { id } = await db
      .insertInto('grants')
      .values({
        account_id: accountId,
        user_id: grant.userId,
        client_id: grant.clientId,
        client_name: grant.clientName,
        redirect_host: grant.redirectHost,
        can_write: canWrite,
        resource: grant.resource,
        created_at: now.toString(),
        expires_at: after(now, CODE_SECONDS),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await db
      .insertInto('oauth_tokens')
      .values({
        account_id: accountId,
        hash: hashSecret(secret),
        kind: 'code',
        grant_id: id,
        can_write: canWrite,
        redirect_uri: code.redirectUri,
        code_challenge: code.codeChallenge,
        expires_at: after(now, CODE_SECONDS),
      })
      .execute();
    const author = { actor: `user:${grant.userId}`, door: 'pages', requestId } as const;
    await noteWrite(db, accountId, author, { operation: 'connection authorize', kind: 'grant', id });
  });
  return secret;
}

/**
 * A live code or token. A second use of a code, or of a refresh token some time after its renewal, means that it was stolen: the
 * authorization ends and a warning is logged. OAU-04
 */
export async function findToken(
  { database, log }: { database: Database; log: Logger },
  kind: TokenKind,
  secret: string,
  now: Temporal.Instant,
): Promise<IssuedToken | undefined> {
  const accountId = accountOf(kind, secret);
  if (accountId === undefined) return undefined;
  const hash = hashSecret(secret);
  const row = await database.transaction(accountId, {}, (db) => tokenRow(db, accountId, kind, hash));
  if (!row || row.revoked_at !== null) return undefined;
  if (row.used_at !== null) {
    const raced = kind === 'refresh' && seconds(row.used_at, now) <= RACE_SECONDS;
    const reused = { accountId, kind, grantId: row.grant_id, clientId: row.client_id };
    if (!raced) await endReused({ database, log }, reused, now);
    return undefined;
  }
  if (seconds(row.expires_at, now) >= 0) return undefined;
  return {
    accountId,
    grantId: row.grant_id,
    kind,
    hash,
    clientId: row.client_id,
    resource: row.resource,
    canWrite: row.can_write,
    redirectUri: row.redirect_uri,
    codeChallenge: row.code_challenge,
  };
}

/** Marks a code as used. If it was used in the meantime, returns false and ends the authorization. */
export async function useCode(
  { database, log }: { database: Database; log: Logger },
  code: IssuedToken,
  now: Temporal.Instant,
): Promise<boolean> {
  const { accountId, hash } = code;
  const used = await database.transaction(accountId, { write: true }, (db) => markUsed(db, accountId, hash, now));
  if (!used) await endReused({ database, log }, code, now);
  return used;
}

/** New tokens of an authorization. */
export interface TokenPair {
  access: string;
  refresh: string;
}

/**
 * Issues an access token, and a refresh token with the full scope of the authorization. A refresh token is marked as used in the
 * same transaction, so that it stays valid after a failure. Undefined if another call was faster or the authorization has ended.
 */
export function issueTokens(
  database: Database,
  from: IssuedToken,
  canWrite: boolean,
  now: Temporal.Instant,
): Promise<TokenPair | undefined> {
  const { accountId, grantId } = from;
  return database.transaction(accountId, { write: true }, async (db) => {
    const end = sql<string>`((created_at at time zone 'UTC' + make_interval(days => ${AUTHORIZATION_DAYS})) at time zone 'UTC')`;
    const grant = await db
      .updateTable('grants')
      .set({ expires_at: sql`least(${after(now, REFRESH_TOKEN_SECONDS)}::timestamptz, ${end})` })
      .where('account_id', '=', accountId)
      .where('id', '=', grantId)
      .where('revoked_at', 'is', null)
      .where(end, '>', now.toString())
      .returning('expires_at')
      .executeTakeFirst();
    if (!grant) return undefined;
    if (from.kind === 'refresh' && !(await markUsed(db, accountId, from.hash, now))) return undefined;
    const pair = { access: newSecret('access', accountId), refresh: newSecret('refresh', accountId) };
    const common = { account_id: accountId, grant_id: grantId };
    await db
      .insertInto('oauth_tokens')
      .values([
        {
          ...common,
          kind: 'access',
          hash: hashSecret(pair.access),
          can_write: canWrite,
          expires_at: after(now, ACCESS_TOKEN_SECONDS),
        },
        {
          ...common,
          kind: 'refresh',
          hash: hashSecret(pair.refresh),
          can_write: from.canWrite,
          expires_at: grant.expires_at,
        },
      ])
      .execute();
    return pair;
  });
}

/**
 * Ends the authorization of an access or refresh token (RFC 7009). Does nothing if the token does not exist or was issued to another
 * client than the given one. OAU-05
 */
export async function revokeToken(
  database: Database,
  secret: string,
  clientId: string | undefined,
  now: Temporal.Instant,
): Promise<void> {
  for (const kind of ['access', 'refresh'] as const) {
    const accountId = accountOf(kind, secret);
    if (accountId === undefined) continue;
    const hash = hashSecret(secret);
    const row = await database.transaction(accountId, {}, (db) => tokenRow(db, accountId, kind, hash));
    if (row && (clientId ?? row.client_id) === row.client_id) await endGrant(database, accountId, row.grant_id, now);
  }
}

/** The principal of a live access token issued for this resource; undefined otherwise. OAU-04 */
export async function findPrincipal(
  database: Database,
  secret: string,
  resource: string,
  now: Temporal.Instant,
): Promise<Principal | undefined> {
  const accountId = accountOf('access', secret);
  if (accountId === undefined) return undefined;
  const hash = hashSecret(secret);
  const [row, account] = await database.transaction(accountId, {}, (db) =>
    Promise.all([
      tokenRow(db, accountId, 'access', hash),
      db.selectFrom('accounts').select(ACCOUNT_COLUMNS).where('id', '=', accountId).executeTakeFirst(),
    ]),
  );
  const live = row && row.revoked_at === null && seconds(row.expires_at, now) < 0 && row.resource === resource;
  if (!live || !account) return undefined;
  if (row.last_used_at === null || seconds(row.last_used_at, now) > NOTE_USE_EVERY_SECONDS) {
    await noteUse(database, accountId, row.grant_id, now);
  }
  return {
    accountId,
    timeZone: account.time_zone,
    multiFormatStock: account.multi_format_stock,
    quotaPerMinute: account.quota_per_minute,
    credential: { kind: 'token', hash },
    scopes: new Set<Scope>(row.can_write ? ['svc.read', 'svc.write'] : ['svc.read']),
    actor: `token:${row.grant_id}`,
  };
}

/** The company's live authorizations, newest first; only those of `userId` if given. */
export async function listGrants(
  db: Db,
  accountId: number,
  { userId, now = systemClock.now() }: { userId?: number; now?: Temporal.Instant } = {},
): Promise<Connection[]> {
  let query = db
    .selectFrom('grants')
    .select(['id', 'user_id', 'client_name', 'redirect_host', 'can_write', 'created_at', 'last_used_at'])
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now.toString());
  if (userId !== undefined) query = query.where('user_id', '=', userId);
  const rows = await query.orderBy('id', 'desc').execute();
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    clientName: row.client_name,
    redirectHost: row.redirect_host,
    canWrite: row.can_write,
    createdAt: Temporal.Instant.from(row.created_at),
    lastUsedAt: row.last_used_at === null ? null : Temporal.Instant.from(row.last_used_at),
  }));
}

/** Ends an authorization; only one of `userId` if given. Returns false if there was none. OAU-06 */
export async function revokeGrant(
  db: Db,
  accountId: number,
  grantId: number,
  { userId, now = systemClock.now() }: { userId?: number; now?: Temporal.Instant } = {},
): Promise<boolean> {
  let query = db
    .updateTable('grants')
    .set({ revoked_at: now.toString() })
    .where('account_id', '=', accountId)
    .where('id', '=', grantId)
    .where('revoked_at', 'is', null);
  if (userId !== undefined) query = query.where('user_id', '=', userId);
  return (await query.executeTakeFirst()).numUpdatedRows > 0n;
}

/** Ends all authorizations of a person in a company, in the transaction in which the person leaves it. */
export async function endGrantsOf(db: Db, accountId: number, userId: number, now: Temporal.Instant): Promise<void> {
  await db
    .updateTable('grants')
    .set({ revoked_at: now.toString() })
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .execute();
}

const newSecret = (kind: TokenKind, accountId: number) =>
  `${PREFIXES[kind]}_${accountId}_${randomBytes(32).toString('base64url')}`;

/** The company's number in a code or token of this kind; undefined if the text is not one. */
function accountOf(kind: TokenKind, secret: string): number | undefined {
  const [, prefix, account] = /^([a-z]{2})_([1-9]\d{0,14})_[\w-]{43}$/.exec(secret) ?? [];
  return prefix === PREFIXES[kind] ? Number(account) : undefined;
}

const after = (now: Temporal.Instant, inSeconds: number) => now.add({ seconds: inSeconds }).toString();

/** Seconds since a stored moment. */
const seconds = (moment: string, now: Temporal.Instant) => Temporal.Instant.from(moment).until(now).total('seconds');

const tokenRow = (db: Db, accountId: number, kind: TokenKind, hash: Buffer) =>
  db
    .selectFrom('oauth_tokens as t')
    .innerJoin('grants as g', (join) =>
      join.onRef('g.account_id', '=', 't.account_id').onRef('g.id', '=', 't.grant_id'),
    )
    .select(['t.grant_id', 't.can_write', 't.redirect_uri', 't.code_challenge', 't.expires_at', 't.used_at'])
    .select(['g.client_id', 'g.resource', 'g.last_used_at', 'g.revoked_at'])
    .where('t.account_id', '=', accountId)
    .where('t.hash', '=', hash)
    .where('t.kind', '=', kind)
    .executeTakeFirst();

async function markUsed(db: Db, accountId: number, hash: Buffer, now: Temporal.Instant): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('oauth_tokens')
    .set({ used_at: now.toString() })
    .where('account_id', '=', accountId)
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const endGrant = (database: Database, accountId: number, grantId: number, now: Temporal.Instant) =>
  database.transaction(accountId, { write: true }, (db) => revokeGrant(db, accountId, grantId, { now }));

/** Ends the authorization of a code or token that was used twice. Concurrent uses log one line only. OAU-04 */
async function endReused(
  { database, log }: { database: Database; log: Logger },
  { accountId, kind, grantId, clientId }: Pick<IssuedToken, 'accountId' | 'kind' | 'grantId' | 'clientId'>,
  now: Temporal.Instant,
): Promise<void> {
  if (!(await endGrant(database, accountId, grantId, now))) return;
  const what = kind === 'code' ? 'a code' : 'a refresh token';
  log.warn({ account: accountId, client: clientId, grant: grantId }, `${what} was used twice: its authorization ended`);
}

async function noteUse(database: Database, accountId: number, grantId: number, now: Temporal.Instant): Promise<void> {
  await database.transaction(accountId, { write: true, durable: false }, (db) =>
    db
      .updateTable('grants')
      .set({ last_used_at: now.toString() })
      .where('account_id', '=', accountId)
      .where('id', '=', grantId)
      .execute(),
  );
}
