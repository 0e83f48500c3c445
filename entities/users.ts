// People: who may sign in, which companies they belong to, and what keeps them signed in.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, instant, isolated, stamped } from './columns.ts';

/** A person. Beyond any company: the tenant role has no rights here. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: bigint().primary().autoincrement(false).defaultRaw(`nextval('users_id_seq')`),
    email: p.text(),
    emailKey: p.text().unique(),
    name: p.text(),
    passwordHash: p.text(),
    ...stamped(),
  },
});

/** A person's place in a company. The rows of one person are also visible to whoever names that person: that is how the companies are found. */
export const Membership = defineEntity({
  name: 'Membership',
  tableName: 'memberships',
  ...isolated,
  policies: [
    ...isolated.policies,
    {
      name: 'own',
      command: 'select' as const,
      using: `user_id = nullif(current_setting('app.user_id', true), '')::bigint`,
    },
  ],
  properties: {
    accountId: bigint().primary(),
    userId: bigint().primary(),
    admin: p.boolean().default(false),
    ...stamped(),
  },
  indexes: [
    {
      name: 'memberships_by_user',
      expression: 'create index memberships_by_user on memberships (user_id, account_id)',
    },
  ],
});

/** A browser in which a person signed in. Its token is kept as SHA-256 alone. */
export const UserSession = defineEntity({
  name: 'UserSession',
  tableName: 'user_sessions',
  properties: {
    tokenHash: p.blob().primary(),
    userId: bigint(),
    createdAt: instant().defaultRaw('now()'),
    lastSeenAt: instant(),
    expiresAt: instant(),
  },
  indexes: [
    { name: 'user_sessions_by_user', expression: 'create index user_sessions_by_user on user_sessions (user_id)' },
    { name: 'user_sessions_by_start', expression: 'create index user_sessions_by_start on user_sessions (created_at)' },
  ],
});

/** Passwords that did not fit, by network address and by e-mail (of which only the SHA-256 is kept). */
export const SignInAttempt = defineEntity({
  name: 'SignInAttempt',
  tableName: 'sign_in_attempts',
  properties: {
    subject: p.text().primary(),
    startsAt: instant(),
    attempts: p.integer(),
    updatedAt: instant().defaultRaw('now()'),
  },
});
