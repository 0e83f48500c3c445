// Companies, what opens them (API keys), and what the service keeps about their calls.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, date, instant, isolated, isolatedAccount, stamped } from './columns.ts';

/** Its row is also visible to whoever names its slug: that is how a command finds it. */
export const Account = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  ...isolatedAccount,
  policies: [
    ...isolatedAccount.policies,
    {
      name: 'named',
      command: 'select' as const,
      using: `slug = nullif(current_setting('app.account_slug', true), '')`,
    },
  ],
  properties: {
    id: bigint().primary().autoincrement(false).defaultRaw(`nextval('accounts_id_seq')`),
    ref: p.text().nullable(),
    slug: p.text().unique(),
    name: p.text(),
    taxId: p.text().nullable(),
    timeZone: p.text().default('Europe/Madrid'),
    multiFormatStock: p.boolean().default(false),
    quotaPerMinute: p.integer().nullable(),
    ...stamped(),
  },
});

/** The row of a key is also visible to whoever names the key itself: that is how the company is found from it. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  ...isolated,
  policies: [
    ...isolated.policies,
    { name: 'presented', command: 'select' as const, using: `key = nullif(current_setting('app.api_key', true), '')` },
  ],
  properties: {
    accountId: bigint().primary(),
    id: bigint().primary().defaultRaw(`nextval('api_keys_id_seq')`),
    key: p.text().unique(),
    secretHash: p.blob(),
    name: p.text(),
    canWrite: p.boolean(),
    expiresAt: instant().nullable(),
    revokedAt: instant().nullable(),
    lastUsedAt: instant().nullable(),
    ...stamped(),
  },
});

/** One answer for each idempotency key of a company, written in the transaction of its effect. IDEM-01 */
export const IdempotencyRecord = defineEntity({
  name: 'IdempotencyRecord',
  tableName: 'idempotency_records',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    key: p.text().primary(),
    requestHash: p.text(),
    answer: p.text().nullable(),
    ...stamped(),
  },
});

/** Who wrote what, by which door; written in the transaction of the write. */
export const AuditRecord = defineEntity({
  name: 'AuditRecord',
  tableName: 'audit_records',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    id: bigint().primary().defaultRaw(`nextval('audit_records_id_seq')`),
    actor: p.text(),
    door: p.text(),
    operation: p.text(),
    recordKind: p.text(),
    recordId: bigint().nullable(),
    requestId: p.text(),
    ...stamped(),
  },
});

/** The company's calls in the current minute. LIM-01 */
export const QuotaWindow = defineEntity({
  name: 'QuotaWindow',
  tableName: 'quota_windows',
  ...isolated,
  properties: {
    accountId: bigint().primary().autoincrement(false),
    startsAt: instant(),
    used: p.integer(),
    ...stamped(),
  },
});

/** The calls that the company made on each day of its own time zone. LIM-01 */
export const QuotaDay = defineEntity({
  name: 'QuotaDay',
  tableName: 'quota_days',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    day: date().primary(),
    calls: bigint(),
    ...stamped(),
  },
});

/** Last number given, for each kind of document and year: numbers have no gaps. DLV-02 */
export const DocumentCounter = defineEntity({
  name: 'DocumentCounter',
  tableName: 'document_counters',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    document: p.text().primary(),
    year: p.integer().primary(),
    lastNumber: p.integer(),
    ...stamped(),
  },
});

/** Failed keys by network address. AUTH-05 */
export const FailedAttempt = defineEntity({
  name: 'FailedAttempt',
  tableName: 'failed_attempts',
  properties: {
    address: p.text().primary(),
    startsAt: instant(),
    failures: p.integer(),
  },
});

/** Secrets of the service itself (id keys). The tenant role has no rights here. */
export const ServiceSecret = defineEntity({
  name: 'ServiceSecret',
  tableName: 'service_secrets',
  properties: {
    name: p.text().primary(),
    value: p.text(),
  },
});

/** What is done by the clock, by one process at a time: who does it holds the row. The tenant role has no rights here. */
export const ScheduledRun = defineEntity({
  name: 'ScheduledRun',
  tableName: 'scheduled_runs',
  properties: {
    name: p.text().primary(),
    /** The last time of its schedule that was seen to. */
    slot: instant().nullable(),
    finishedAt: instant().nullable(),
  },
});
