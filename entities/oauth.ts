// What people let applications do through the connector: the applications, the authorizations, and their codes and tokens.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, indexOn, instant, isolated, record, stamped } from './columns.ts';

/** An application that registered itself (RFC 7591). Beyond any company: the tenant role has no rights here. */
export const OAuthClient = defineEntity({
  name: 'OAuthClient',
  tableName: 'oauth_clients',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    redirectUris: p.text().array(),
    /** The network address that registered it, for the limit of OAU-02. */
    registeredFrom: p.text(),
    registeredAt: instant(),
    /** When somebody first authorised it; a client that nobody did expires. */
    authorizedAt: instant().nullable(),
  },
  indexes: [
    {
      name: 'oauth_clients_by_address',
      expression: 'create index oauth_clients_by_address on oauth_clients (registered_from, registered_at)',
    },
    {
      name: 'oauth_clients_unused',
      expression: 'create index oauth_clients_unused on oauth_clients (registered_at) where authorized_at is null',
    },
  ],
});

/**
 * One authorization: a person let an application act on this company. All that is issued for it hangs on `revoked_at`.
 * The application's name is kept as the person saw it.
 */
export const Grant = defineEntity({
  name: 'Grant',
  tableName: 'grants',
  ...isolated,
  properties: (({ ref, ...columns }) => ({
    ...columns,
    userId: bigint(),
    clientId: p.text(),
    clientName: p.text(),
    redirectHost: p.text(),
    canWrite: p.boolean(),
    resource: p.text(),
    /** Of the last refresh token: past it nothing of this authorization lives. */
    expiresAt: instant(),
    lastUsedAt: instant().nullable(),
    revokedAt: instant().nullable(),
  }))(record('grants')),
  indexes: [indexOn('grants', 'user', 'user_id, id'), indexOn('grants', 'end', 'expires_at')],
});

/** A code or token, by its SHA-256 alone. Used ones stay until they expire, so that a second use is seen. OAU-04 */
export const OAuthToken = defineEntity({
  name: 'OAuthToken',
  tableName: 'oauth_tokens',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    hash: p.blob().primary(),
    kind: p.enum(['code', 'access', 'refresh'] as const).columnType('text'),
    grantId: bigint(),
    canWrite: p.boolean(),
    /** Of a code: what the exchange has to match. */
    redirectUri: p.text().nullable(),
    codeChallenge: p.text().nullable(),
    expiresAt: instant(),
    usedAt: instant().nullable(),
    ...stamped(),
  },
  indexes: [indexOn('oauth_tokens', 'grant', 'grant_id'), indexOn('oauth_tokens', 'end', 'expires_at')],
});
