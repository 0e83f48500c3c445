// OAuth of the connector: applications, authorizations, codes and tokens.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, indexOn, instant, isolated, record, stamped } from './columns.ts';

/** An application that registered itself (RFC 7591). It belongs to no company: the tenant role has no rights here. */
export const OAuthClient = defineEntity({
  name: 'OAuthClient',
  tableName: 'oauth_clients',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    redirectUris: p.text().array(),
    /** The network that registered it. */
    registeredFrom: p.text(),
    registeredAt: instant(),
    /** When a person first authorised it. A client that was never authorised expires. */
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

/** Applications registered in the current hour, by network; `*` is the total. OAU-02 */
export const OAuthRegistration = defineEntity({
  name: 'OAuthRegistration',
  tableName: 'oauth_registrations',
  properties: {
    network: p.text().primary(),
    startsAt: instant(),
    registered: p.integer(),
  },
});

/**
 * An authorization: a person let an application act on this company. Setting `revoked_at` ends all its codes and tokens.
 * The application's name is stored as the person saw it.
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
    /** When the last refresh token expires, and with it the authorization. */
    expiresAt: instant(),
    lastUsedAt: instant().nullable(),
    revokedAt: instant().nullable(),
  }))(record('grants')),
  indexes: [indexOn('grants', 'user', 'user_id, id'), indexOn('grants', 'end', 'expires_at')],
});

/** A code or token; only its SHA-256 is stored. Used ones stay until they expire, so that a second use is detected. OAU-04 */
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
    /** For codes only: the exchange must match these two. */
    redirectUri: p.text().nullable(),
    codeChallenge: p.text().nullable(),
    expiresAt: instant(),
    usedAt: instant().nullable(),
    ...stamped(),
  },
  indexes: [indexOn('oauth_tokens', 'grant', 'grant_id'), indexOn('oauth_tokens', 'end', 'expires_at')],
});
