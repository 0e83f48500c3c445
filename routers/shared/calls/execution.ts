// How an admitted call is carried out: its ids, then the company's transaction with idempotency, the handler and the journal.
import type { z } from 'zod';
import { registerInvoices } from '../../../documents/registers.ts';
import { sealDocuments } from '../../../documents/sealed-content.ts';
import { dateIn } from '../../../platform/clock.ts';
import type { CallContext, OperationContext } from '../../../platform/context.ts';
import {
  type CredentialCheck,
  type Db,
  isDatabaseError,
  type Transaction,
  type TransactionOptions,
} from '../../../platform/database.ts';
import {
  claimKey,
  earlierAnswer,
  idempotencyKey,
  KeyTaken,
  keepAnswer,
  requestHash,
} from '../../../platform/idempotency.ts';
import { beginJournal, Changes, journalChanges, lacksJournal } from '../../../platform/journal.ts';
import { JsonText, jsonObject, jsonText } from '../../../platform/json-text.ts';
import type { Scope } from '../../../platform/principal.ts';
import { maxLagSeconds } from '../../../platform/replica.ts';
import type { Sealing } from '../../../platform/seals.ts';
import { type Admission, credentialOf } from './admission.ts';
import { openCursor } from './cursor.ts';
import { checkIds, MissingRecord, missingRecord, openIds } from './ids.ts';
import { isRecord } from './input.ts';
import { type IdSite, idSites } from './walk.ts';

/** How an operation is executed. */
export interface Execution<Input, Made> {
  alias: string;
  write: boolean;
  report: boolean;
  /** Whether its answers may be given again while nothing of the company has changed. JRN-04 */
  lasts: boolean;
  ready: ((call: Waiting<Input>) => Promise<Made>) | undefined;
  /** Its answers are pages of a list. */
  paged: boolean;
  options: Pick<TransactionOptions, 'plan' | 'plannerHints'>;
  /** The ids in an input. */
  ids(root: { value: unknown }): IdSite[];
}

/** What `ready` works with. */
export interface Waiting<Input> {
  input: Input;
  accountId: number;
  timeZone: string;
  credential: CredentialCheck;
  service: CallContext['service'];
}

/** What an operation says of how it is executed. */
export interface Executed<Input = never, Made = unknown> {
  alias: string;
  scope: Scope;
  /**
   * Which plans its statements get. Writes: generic. A list may have them if every filter of it has an index in the list's order;
   * one that reads much of a company is better with custom plans, since companies differ.
   */
  plan?: TransactionOptions['plan'];
  /** Reads or answers much of a company: one at a time, the company's next wait their turn. FAIR-01 */
  report?: boolean;
  /**
   * Set false for a read that shows more than the company's data and date: signed addresses, the quota, webhooks. No other call gets its
   * answer, and it has no entity tag. JRN-04
   */
  lasts?: boolean;
  /** What is waited for before the transaction, where no connection is held meanwhile; the handler gets what it makes. */
  ready?(call: Waiting<Input>): Promise<Made>;
}

export function executionOf<Input, Made>(
  { alias, scope, report = false, lasts = true, ready, ...spec }: Executed<Input, Made>,
  input: z.ZodObject,
): Execution<Input, Made> {
  const write = scope === 'svc.write';
  // Writes find what they need by its key.
  const { plan = write ? 'generic' : undefined } = spec;
  const plannerHints = write ? 'byKeys' : plan === 'generic' ? 'inOrder' : undefined;
  const paged = 'cursor' in input.shape;
  return {
    alias,
    write,
    report,
    paged,
    lasts: lasts && !write,
    ready,
    options: { plan, plannerHints },
    ids: idSites(input),
  };
}

/** What a handler works with. */
export type Work<Input, Made> = OperationContext & { input: Input; made: Made | undefined };

/** The ids, then the company's transaction; `handle` runs in it, once an attempt. */
export async function execute<Input, Made>(
  { alias, write, report, paged, lasts, ready, options, ids }: Execution<Input, Made>,
  ctx: CallContext,
  { principal, progress }: Admission,
  input: Input,
  handle: (work: Work<Input, Made>) => Promise<JsonText>,
): Promise<JsonText> {
  const { service, requestId } = ctx;
  const { accountId } = principal;
  const key = write ? idempotencyKey(ctx.idempotencyKeys, 'X-IDEMPOTENCY-KEY') : undefined;
  const maxLag = write ? undefined : maxLagSeconds(ctx.maxLag);
  const credential = credentialOf(service, principal);
  const { now } = credential;
  const today = dateIn(principal.timeZone, now);
  // Of the body as it was sent: opening its ids changes it.
  const hash = key === undefined ? '' : requestHash(alias, input);
  const view = lasts ? viewOf(alias, principal, today, input) : undefined;
  if (paged && isRecord(input)) openCursor(service.cursors, accountId, alias, input);
  const { opened, refused } = openIds(service.ids, accountId, ids({ value: input }));
  progress.formed = true;
  const call = key === undefined ? undefined : { accountId, key, hash, now };
  const lockTimeoutMs = write ? service.idempotencyWaitMs : undefined;

  // What an earlier call with the key did is not done again.
  const isNew = ready !== undefined && (call === undefined || (await earlier()) === undefined);
  const { timeZone } = principal;
  const made = isNew ? await ready({ input, accountId, timeZone, credential, service }) : undefined;
  let expired = false;
  const once = () =>
    service.database
      .transaction(accountId, { write, credential, state: view !== undefined, lockTimeoutMs, ...options }, transacted)
      .catch(nameMissing);
  // The journal of a company that the version before made begins with its first write by this one.
  const attempt = () =>
    once().catch(async (error: unknown) => {
      if (!lacksJournal(error)) throw error;
      await service.database.transaction(accountId, { write: true, credential }, (db) => beginJournal(db, accountId));
      return once();
    });
  if (call) return onceForKey(attempt, replay);
  if (write) return withRetries(attempt);
  if (report) return service.reports.run(accountId, readNow);
  return readNow();

  /** By a replica where the caller allows a lag and one is fresh enough. */
  async function readNow(): Promise<JsonText> {
    const older =
      maxLag === undefined
        ? undefined
        : await service.replica
            ?.read(accountId, maxLag, { credential, state: view !== undefined }, transacted)
            .catch(nameMissing);
    if (!older) return attempt();
    ctx.headers['X-Lag'] = String(Math.ceil(older.lagSeconds * 1000) / 1000);
    return older.value;
  }

  /** Which of the ids it was that named no record. */
  async function nameMissing(error: unknown): Promise<never> {
    if (!(error instanceof MissingRecord)) throw error;
    throw await service.database.transaction(accountId, { credential }, (db) => missingRecord(db, accountId, opened));
  }

  /** What the caller has already, or another call got, of the company as it is now. JRN-04 */
  function unchanged(key: string, found: string): JsonText | undefined {
    const kept = service.answers.find(key, found);
    if (ctx.ifNoneMatch === undefined) return kept;
    const tag = service.answers.tagOf(key, found);
    const same = matches(ctx.ifNoneMatch, tag);
    if (same || kept) ctx.headers.ETag = tag;
    return same ? NOT_MODIFIED : kept;
  }

  /** The stored answer of the call that has claimed the key; undefined when it is gone. */
  async function earlier(): Promise<string | undefined> {
    return call && service.database.transaction(accountId, { credential }, (db) => earlierAnswer(db, call));
  }

  /** The answer that it got; undefined when it is gone. */
  async function replay(): Promise<JsonText | undefined> {
    const answer = await earlier();
    if (answer === undefined) {
      expired = true;
      return undefined;
    }
    const { value, headers }: KeptAnswer = JSON.parse(answer);
    Object.assign(ctx.headers, headers, { 'Idempotent-Replayed': 'true' });
    return jsonText(value);
  }

  /**
   * A write whose handler waits for no statement goes to the database in one trip, its COMMIT included: whatever is wrong fails in
   * SQL, and the key is claimed with its answer.
   */
  async function transacted(db: Db, { beforeCommit, late, state }: Transaction): Promise<JsonText> {
    const exist = checkIds(late, accountId, opened);
    beforeCommit(exist);
    if (refused) {
      await exist;
      throw refused;
    }
    if (view !== undefined && (ctx.ifNoneMatch || service.answers.isLasting(view))) {
      await exist;
      const found = await state;
      const kept = found === undefined ? undefined : unchanged(view, found);
      if (kept) return kept;
    }
    let answer: string | undefined;
    let claimedWith: string | undefined;
    const claimed =
      call &&
      claimKey(late, call, {
        expired,
        answer: () => {
          claimedWith = answer;
          return answer;
        },
      });
    if (claimed) beforeCommit(claimed);
    const author = { actor: principal.actor, door: ctx.door, requestId };
    const changes = new Changes();
    const sealings: Sealing[] = [];
    const written: Promise<unknown>[] = [];
    const headers: Record<string, string> = {};
    const work: Work<Input, Made> = {
      input,
      db,
      accountId,
      principal,
      now,
      today,
      quota: ctx.quota ?? service.quota.peek(principal),
      requestId,
      author,
      made,
      log: service.log,
      webhooks: service.webhooks,
      verifactu: service.verifactu,
      header: (name, value) => {
        headers[name] = value;
      },
      baseUrl: service.baseUrl,
      downloadUrl: (target) => `${service.baseUrl}/files/${service.links.sign(target, now)}`,
      offerFile: (file) => {
        ctx.file = file;
      },
      newId: (kind) => service.newIds.next(kind, db),
      beforeCommit: (statement) => {
        written.push(statement);
        beforeCommit(statement);
      },
      journal: (action, kind, ids) => changes.add(action, kind, ids),
      journalAll: (more) => changes.addAll(more),
      journalIfThere: (kind, id) => changes.addIfThere(kind, id),
      seal: (sealing) => sealings.push(sealing),
    };
    const data = await handle(work).catch(async (error: unknown) => {
      // What is wrong with the call comes before what is wrong with its work.
      await exist;
      await claimed;
      throw error;
    });
    if (write) {
      if (key !== undefined) answer = jsonObject<KeptAnswer>({ value: data, headers }).text;
      // A key that was claimed before its answer was known gets it now.
      const kept = () =>
        key !== undefined && answer !== undefined && claimedWith !== answer ? { key, answer } : undefined;
      const origin = { ...author, operation: alias, now };
      if (sealings.length > 0) {
        beforeCommit(sealDocuments(db, { accountId, origin }, sealings));
        if (sealings.some(({ table }) => table === 'invoices')) {
          // What is wrong with what was written comes before what then can't be registered.
          const [registers] = await Promise.all([registerInvoices(db, accountId, service, sealings), ...written]);
          for (const statement of registers) beforeCommit(statement);
        }
      }
      if (!changes.isEmpty) beforeCommit(late(() => journalChanges(accountId, origin, changes, kept())));
      else if (key !== undefined && answer !== undefined) beforeCommit(keepAnswer(db, accountId, { key, answer }));
    }
    if (view !== undefined) {
      // It was read before what the answer is made of: that shows this state, or a later one under which it will not be found.
      const shown = await state;
      if (shown !== undefined) {
        service.answers.keep(view, accountId, shown, data);
        if (ctx.ifNoneMatch !== undefined) headers.ETag = service.answers.tagOf(view, shown);
      }
    }
    Object.assign(ctx.headers, headers);
    return data;
  }
}

/** What an idempotency key's first call answered: the data and the headers that the operation added. IDEM-01 */
interface KeptAnswer {
  value: unknown;
  headers: Record<string, string>;
}

const RETRIED = new Set(['40001', '40P01']);

/** After a deadlock or a serialization failure nothing was written, so the call is made again. */
async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === 3 || !isDatabaseError(error) || !RETRIED.has(error.code ?? '')) throw error;
    }
  }
}

/** The first call with a key writes; every other answers what that one did. IDEM-01 */
async function onceForKey<T>(attempt: () => Promise<T>, replay: () => Promise<T | undefined>) {
  for (;;) {
    try {
      return await withRetries(attempt);
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      const earlier = await replay();
      if (earlier) return earlier;
    }
  }
}

/** Stands for an answer that the caller has already: nothing is sent. */
export const NOT_MODIFIED = new JsonText('null');

/** Whether `If-None-Match` names the tag, weakly compared. RFC 9110, section 13.1.2 */
const matches = (field: string, tag: string): boolean =>
  field.trim() === '*' || field.split(',').some((one) => one.trim().replace(/^W\//, '') === tag.slice(2));

/** What an answer depends on besides the company's state. */
const viewOf = (
  alias: string,
  { accountId, timeZone, multiFormatStock }: Admission['principal'],
  today: Temporal.PlainDate,
  input: unknown,
) => JSON.stringify([alias, accountId, timeZone, multiFormatStock, today, input]);
