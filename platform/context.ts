// The context of a call, made by each door, and the context of an operation, made by the operation builder.
import type { Logger } from 'pino';
import type { Activity } from './activity.ts';
import type { AnonymousCalls } from './anonymous.ts';
import type { Author, Door } from './audit.ts';
import type { Clock } from './clock.ts';
import type { Cursors } from './cursors.ts';
import type { Database, Db } from './database.ts';
import type { ApiError } from './errors.ts';
import type { Guesses } from './guesses.ts';
import type { Ids, Kind } from './ids.ts';
import type { Action, ChangedKind, Changes } from './journal.ts';
import type { JournalWatch } from './journal-watch.ts';
import type { KeptAnswers } from './kept-answers.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import type { Metrics } from './metrics.ts';
import type { NewIds } from './new-ids.ts';
import type { Credentials, Keys, Principal } from './principal.ts';
import type { Quota, QuotaState } from './quota.ts';
import type { Readiness } from './readiness.ts';
import type { Replica } from './replica.ts';
import type { Sealing } from './seals.ts';
import type { LinkTarget, SignedLinks } from './signed-links.ts';
import type { Threads } from './threads.ts';
import type { Turns } from './turns.ts';
import type { VerifactuSettings } from './verifactu-settings.ts';
import type { Webhooks } from './webhooks.ts';

/** The running service; each process has one. */
export interface Service {
  database: Database;
  /** Answers reads whose callers allow a lag, if configured. */
  replica?: Replica | undefined;
  /** Calls that wait for a company's next change. */
  journal: JournalWatch;
  ids: Ids;
  /** Answers of reads, given again while nothing has changed. */
  answers: KeptAnswers;
  cursors: Cursors;
  keys: Keys;
  /** Limits wrong credentials by network. AUTH-05 */
  guesses: Guesses;
  quota: Quota;
  /** Expensive reports: a company runs one at a time. FAIR-01 */
  reports: Turns;
  /** Requests with many calls: a company runs one at a time. FAIR-01 */
  batches: Turns;
  /** Counts requests without credentials, by network. FAIR-04 */
  anonymous: AnonymousCalls;
  links: SignedLinks;
  /** Long computations. FAIR-02 */
  threads: Threads;
  /** For registers of invoices, if configured. */
  verifactu: VerifactuSettings | undefined;
  newIds: NewIds;
  /** What keys and connections called. */
  activity: Activity;
  webhooks: Webhooks;
  readiness: Readiness;
  knownBrowsers: KnownBrowsers;
  /** The public address of the service: the configured one, or where it listens. */
  baseUrl: string;
  clock: Clock;
  log: Logger;
  /** Metrics for Prometheus, if configured. */
  metrics?: Metrics | undefined;
  /** Checks every answer against its schema. On in tests and development. */
  checkOutputs: boolean;
  /** How long a call waits for an earlier one with its idempotency key. ENV-04 */
  idempotencyWaitMs: number;
}

/** One call, as passed on by a door. */
export interface CallContext {
  service: Service;
  door: Door;
  /** The operation's alias, if the request is a single call. */
  operation?: string;
  requestId: string;
  credentials: Credentials;
  /** The idempotency keys as sent: the header has two names, so there may be two. W-09 */
  idempotencyKeys: readonly string[];
  /** An error in the form of the request, reported after the caller is authenticated (ENV-09). */
  malformed?: ApiError | undefined;
  /** The text of `X-Max-Lag`: how many seconds old a read may be. */
  maxLag?: string | undefined;
  /** Of doors with entity tags: the text of `If-None-Match`, `''` where there is none. JRN-04 */
  ifNoneMatch?: string | undefined;
  /** Set by a door that admitted the caller before reading the input (ENV-09). */
  principal?: Principal;
  /** The caller, once known; not yet admitted to the operation. */
  caller?: Principal;
  /** The company's quota after this call, once admitted. LIM-01 */
  quota?: QuotaState;
  /** Response headers. */
  headers: Record<string, string>;
  /** The file that the answer is about, for doors that may give it instead. */
  file?: OfferedFile;
}

/** A file that an operation made. */
export interface OfferedFile {
  name: string;
  /** Its media type. */
  type: string;
  bytes: Buffer;
}

/** The context of a handler. Ids are numbers; it reads and writes only the company's data. */
export interface OperationContext {
  db: Db;
  /** The company's number, for the `account_id = ...` of every statement. */
  accountId: number;
  principal: Principal;
  now: Temporal.Instant;
  /** Today in the company's time zone. DATE-02 */
  today: Temporal.PlainDate;
  /** The company's quota after this call. LIM-01 */
  quota: QuotaState;
  requestId: string;
  /** For the audit of access. */
  author: Author;
  log: Logger;
  webhooks: Webhooks;
  verifactu: VerifactuSettings | undefined;
  /** Adds a response header. */
  header(name: string, value: string): void;
  /** The public address of the service. */
  baseUrl: string;
  /** A download link that works for ten minutes. */
  downloadUrl(target: LinkTarget): string;
  /** Says that the answer is about this file. */
  offerFile(file: OfferedFile): void;
  /** Sends a statement together with the commit, without waiting for its result. If it fails, the call fails. */
  beforeCommit(statement: Promise<unknown>): void;
  /** The id of a record that is about to be written. */
  newId(kind: Kind): Promise<number>;
  /** Says which records this call changed, for the journal: all whose own read shows something else now. JRN-01 */
  journal(action: Action, kind: ChangedKind, ids: number | readonly number[]): void;
  /** The same of what an import found. */
  journalAll(changes: Changes): void;
  /** The same of a new record that is there only if the database found no other. */
  journalIfThere(kind: Kind, id: number): void;
  /** Says that a document was issued, or what happened to one: it is sealed with the commit. DOC-01 */
  seal(sealing: Sealing): void;
}
