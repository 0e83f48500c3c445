// What a call brings along, and what an operation receives. Doors make the first; the operation builder, the second.
import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Database, Db } from './database.ts';
import type { Ids, Kind } from './ids.ts';
import type { JsonText } from './json-text.ts';
import type { Metrics } from './metrics.ts';
import type { Credentials, Keys, Principal } from './principal.ts';
import type { Quota, QuotaState } from './quota.ts';
import type { Replica } from './replica.ts';
import type { LinkTarget, SignedLinks } from './signed-links.ts';

export type Door = 'v1' | 'v0' | 'trpc' | 'mcp' | 'pages' | 'command' | 'schedule';

/** The running service: one a process. */
export interface Service {
  database: Database;
  /** Where reads go whose callers allow a lag, if there is one. */
  replica?: Replica | undefined;
  ids: Ids;
  keys: Keys;
  quota: Quota;
  links: SignedLinks;
  /** The address callers reach the service at: the configured one, or else where it listens. */
  baseUrl: string;
  clock: Clock;
  log: Logger;
  /** What is counted for Prometheus, where anybody asks for it. */
  metrics?: Metrics | undefined;
  /** Check every answer against its schema: on in tests and development. */
  checkOutputs: boolean;
  /** How long a call waits for an earlier one with its idempotency key. ENV-04 */
  idempotencyWaitMs: number;
}

/** One call, as a door hands it over. */
export interface CallContext {
  service: Service;
  door: Door;
  /** The alias of the operation, where the whole request is one call of it. */
  operation?: string;
  requestId: string;
  credentials: Credentials;
  idempotencyKey: string | undefined;
  /** How many seconds old a read may be, as the caller wrote it. */
  maxLag?: string | undefined;
  /** Set by a door that admitted the caller before it read the input (ENV-09). */
  principal?: Principal;
  /** Who calls, where the door asked before it came to the operation; not yet admitted to it. */
  caller?: Principal;
  /** The company's quota as this call left it, once it was admitted. LIM-01 */
  quota?: QuotaState;
  /** Where one request carries several calls (tRPC): each one's own context, in their order. */
  batch?: CallContext[];
  /** A door that puts the answer into its body itself: what stands for it until then. */
  place?: (answer: JsonText) => JsonText;
  /** Headers of the answer. */
  headers: Record<string, string>;
}

/** What a handler works with. Ids are numbers, everything it reads and writes is the company's. */
export interface OperationContext {
  db: Db;
  /** The company's number, for the `account_id = ...` that every statement states itself. */
  accountId: number;
  principal: Principal;
  now: Temporal.Instant;
  /** Today in the company's time zone. DATE-02 */
  today: Temporal.PlainDate;
  /** The company's quota as this call left it. LIM-01 */
  quota: QuotaState;
  requestId: string;
  log: Logger;
  /** Adds a header to the answer. */
  header(name: string, value: string): void;
  /** An address that downloads the file for ten minutes. */
  downloadUrl(target: LinkTarget): string;
  /** Takes statements whose answers nobody needs: they travel with the commit, and their failure fails the call. */
  later(statement: Promise<unknown>): void;
  /** Notes what this call wrote; every write names at least one record. */
  audit(kind: Kind, id: number): void;
}
