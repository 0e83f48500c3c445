// People who may sign in, the companies they belong to, and their sessions.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, instant, isolated, stamped } from './columns.ts';

/** A person. Belongs to no single company: the tenant role has no rights here. */
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

/** A person's membership of a company. The `own` policy also shows the rows of the person in `app.user_id`, to find their companies. */
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

/** A signed-in browser. Only the SHA-256 of its token is stored. */
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

/** Sign-in attempts in the current 15 minutes, by the subject of each limit. E-mails are stored only as SHA-256. */
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

/** The log of sign-in attempts: person, address and outcome. `userId` is null if the e-mail is unknown. */
export const SignIn = defineEntity({
  name: 'SignIn',
  tableName: 'sign_ins',
  properties: {
    id: bigint().primary().autoincrement(false).defaultRaw(`nextval('sign_ins_id_seq')`),
    userId: bigint().nullable(),
    address: p.text(),
    /** `refused`: unknown e-mail or wrong password. `limited`: the first attempt past a limit. */
    outcome: p.enum(['signed in', 'refused', 'limited'] as const).columnType('text'),
    /** Whether it counted against the limit of a browser in which the person signed in before. */
    knownBrowser: p.boolean(),
    requestId: p.text(),
    createdAt: instant(),
  },
  indexes: [
    { name: 'sign_ins_by_user', expression: 'create index sign_ins_by_user on sign_ins (user_id, created_at)' },
    { name: 'sign_ins_by_time', expression: 'create index sign_ins_by_time on sign_ins (created_at)' },
  ],
});
