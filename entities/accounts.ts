// Companies, their API keys, and what the service records about their calls.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, date, indexOn, instant, isolated, isolatedAccount, stamped } from './columns.ts';
import { REGISTER_MODES, VAT_SCHEMES } from './values.ts';

const series = (column: string) => p.text().nullable().check(`${column} ~ '^[A-Z0-9/-]{0,9}[A-Z/-]$'`);

/** The `named` policy also shows the row whose slug is set in `app.account_slug`, so that commands find a company by slug. */
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
    /** The company's local day on which automatic issuing of renewals was switched on; null: off. ISS-01 */
    automaticIssuingSince: date().nullable(),
    /** What it says of itself on its documents, beside `taxId`. Without a legal name, `name`. DOC-01 */
    legalName: p.text().nullable(),
    address: p.text().nullable(),
    postalCode: p.text().nullable(),
    city: p.text().nullable(),
    province: p.text().nullable(),
    country: p.text().nullable(),
    email: p.text().nullable(),
    /** The account that clients pay into. */
    iban: p.text().nullable(),
    /** One of its pictures, by its SHA-256. */
    logo: p.text().nullable(),
    /** `#rrggbb`. */
    color: p.text().nullable(),
    /** Null: the general one. */
    vatScheme: p.enum(VAT_SCHEMES).columnType('text').nullable(),
    /** What numbers begin with before the year; null: the letter of `NUMBER_LETTERS`. DLV-02 */
    deliveryNoteSeries: series('delivery_note_series'),
    invoiceSeries: series('invoice_series'),
    rectificationSeries: series('rectification_series'),
    estimateSeries: series('estimate_series'),
    /** Where its invoices are registered; null: VeriFactu is off. DOC-02 */
    verifactuMode: p.enum(REGISTER_MODES).nullable(),
    ...stamped(),
  },
});

/** A picture that is, or was, the company's logo. Sealed documents name it, so it stays while the company does. DOC-03 */
export const CompanyImage = defineEntity({
  name: 'CompanyImage',
  tableName: 'company_images',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    /** Of the bytes, hexadecimal. */
    sha256: p.text().primary(),
    mediaType: p.text(),
    bytes: p.blob(),
    ...stamped(),
  },
});

/** The `presented` policy also shows the row whose key is set in `app.api_key`, so that a key leads to its company. */
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

/** The answer to each idempotency key of a company, written in the same transaction as the effect. IDEM-01 */
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

/** The audit: who wrote what, through which door. Written in the same transaction as the write. */
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
  indexes: [indexOn('audit_records', 'moment', 'created_at, id')],
});

/** How far a company's journal is, and of which history: `epoch` is new after a backup was restored. JRN-01, JRN-02 */
export const Journal = defineEntity({
  name: 'Journal',
  tableName: 'journals',
  ...isolated,
  properties: {
    accountId: bigint().primary().autoincrement(false),
    epoch: p.text(),
    n: bigint().defaultRaw('0'),
    ...stamped(),
  },
});

/** A record that changed. Its number follows the order of the commits, without gaps. JRN-01 */
export const JournalEntry = defineEntity({
  name: 'JournalEntry',
  tableName: 'journal_entries',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    n: bigint().primary(),
    recordTable: p.text(),
    recordId: bigint(),
    action: p.enum(['create', 'modify', 'annul', 'delete']),
    operation: p.text(),
    actor: p.text(),
    door: p.text(),
    requestId: p.text(),
    ...stamped(),
    /** Of the first change of a call: how many it made. */
    changes: p.integer().nullable().default(1),
  },
  indexes: [indexOn('journal_entries', 'moment', 'created_at, n', 'changes is not null')],
});

/** A call of an assistant, by MCP. */
export const AssistantCall = defineEntity({
  name: 'AssistantCall',
  tableName: 'assistant_calls',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    id: bigint().primary().defaultRaw(`nextval('assistant_calls_id_seq')`),
    actor: p.text(),
    operation: p.text(),
    requestId: p.text(),
    /** Null for a write. */
    answeredRows: p.integer().nullable(),
    ...stamped(),
  },
  indexes: [
    indexOn('assistant_calls', 'actor', 'actor, created_at, id'),
    indexOn('assistant_calls', 'moment', 'created_at, id, answered_rows'),
  ],
});

/** How often a key or connection called an operation on a day of the company, by what it was answered. */
export const CallCount = defineEntity({
  name: 'CallCount',
  tableName: 'call_counts',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    actor: p.text().primary(),
    day: date().primary(),
    operation: p.text().primary(),
    /** Of HTTP. */
    status: p.integer().primary(),
    calls: bigint(),
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

/** The company's calls by day, in its time zone. LIM-01 */
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

/** The last number used for each kind of document and year. Numbers have no gaps. DLV-02 */
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

/** Failed keys in the current minute, by network (`address`). AUTH-05 */
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

/** Fingerprints of keys that have sealed record ids. Processes need all of them to start. The tenant role has no rights here. ID-02 */
export const IdKey = defineEntity({
  name: 'IdKey',
  tableName: 'id_keys',
  properties: {
    fingerprint: p.text().primary(),
    usedSince: instant().defaultRaw('now()'),
  },
});

/** Scheduled jobs, each run by one process at a time (scheduled-run.ts). The tenant role has no rights here. */
export const ScheduledRun = defineEntity({
  name: 'ScheduledRun',
  tableName: 'scheduled_runs',
  properties: {
    name: p.text().primary(),
    /** The last scheduled time that was handled. */
    slot: instant().nullable(),
    finishedAt: instant().nullable(),
  },
});
