// Sends companies' changes to their webhooks, in every process. A statement a second finds the companies that are due among all; of a
// webhook one process at a time sends, by a lease that ends by itself. JRN-05
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Service } from '../platform/context.ts';
import { type Db, queries } from '../platform/database.ts';
import type { Attempt, Receiver } from '../platform/webhooks.ts';
import { type Entry, entries, journalHead, shownChange } from '../routers/account/changes.ts';
import { bodyOf } from '../routers/account/webhooks/webhook.ts';
import { momentIn } from '../routers/shared/origin.ts';
import { within } from './aborted.ts';

const POLL_EVERY_MS = 1000;
/** A company is looked at this often even if nobody says that it was written to, as a process that dies may not. */
const LOOK_EVERY = { seconds: 60 };
/** Longer than an attempt takes. A webhook whose process died is sent to again after this. */
const LEASE = { seconds: 60 };
/** When a webhook is looked at again that another process sends to, or that finds no place here. */
const SOON = { seconds: 2 };
const MOST_CHANGES = 100;
/** Webhooks that a process sends to at a time, and how many of them may be of one company, or slow: those delay no others. FAIR-01 */
const AT_ONCE = 100;
const OF_A_COMPANY = 4;
const SLOW_AT_ONCE = 50;
const SLOW_MS = 2000;
/** The waits after failures in a row, as Standard Webhooks advise; after the last one's the webhook is switched off. */
const RETRY_AFTER = ['PT5S', 'PT5M', 'PT30M', 'PT2H', 'PT5H', 'PT10H', 'PT14H', 'PT20H', 'PT24H'].map((wait) =>
  Temporal.Duration.from(wait),
);
/** How much later than that at most, so that those who failed together don't come back together. */
const JITTER = 0.1;
const LONGEST_RETRY_AFTER_SECONDS = 24 * 3600;
const GONE = 410;

/** What a sender works with. */
export type SenderService = Pick<Service, 'database' | 'webhooks' | 'ids' | 'clock' | 'log'>;

/** A webhook that something is to be sent to. */
interface Due {
  account_id: number;
  id: number;
  next_attempt_at: string | null;
  leased_until: string | null;
}

/** A delivery under way: the same at every attempt. */
interface Batch {
  receiver: Receiver;
  message: string;
  body: string;
  first: number;
  last: number;
  /** The changes up to here are done with it, those that the webhook does not want included. */
  end: number;
  attempt: number;
}

interface Claimed extends Receiver {
  types: string[] | null;
  delivered_up_to: number;
  batch_end: number | null;
  failures: number;
}

/** Sends until `stop`; resolves once what is under way has been answered. */
export async function followWebhooks(service: SenderService, stop: AbortSignal): Promise<void> {
  const sender = new WebhookSender(service);
  let isFailing = false;
  while (!stop.aborted) {
    try {
      await sender.poll();
      isFailing = false;
    } catch (error) {
      if (!isFailing) service.log.warn({ err: error }, 'companies with webhooks could not be found');
      isFailing = true;
    }
    await within(POLL_EVERY_MS, stop);
  }
  await sender.stop();
}

export class WebhookSender {
  readonly #service: SenderService;
  /** Names this process in leases. */
  readonly #name = randomUUID();
  /** The webhooks that are being sent to, by company. */
  readonly #underWay = new Map<number, Map<number, Promise<void>>>();
  /** Those of them that have been slow. */
  readonly #slow = new Set<number>();
  #sending = 0;
  #slowSending = 0;
  #stopped = false;

  constructor(service: SenderService) {
    this.#service = service;
  }

  /** Finds what is due and begins to send it. */
  async poll(): Promise<void> {
    const { database, clock } = this.#service;
    const now = clock.now();
    const written = [...database.takeWritten()];
    if (written.length > 0) {
      // In one order, so that processes that update the same companies don't wait for each other.
      await sql`update webhook_queue set look_at = ${now.toString()} where company in (
        select company from webhook_queue where company = any(${written}::bigint[]) and look_at > ${now.toString()}
        order by company for update)`.execute(database.service);
    }
    const free = AT_ONCE - this.#sending;
    if (free <= 0 || this.#stopped) return;
    const { rows: companies } = await sql<{ company: number }>`
      update webhook_queue set look_at = ${now.add(LOOK_EVERY).toString()} where company in (
        select company from webhook_queue where look_at <= ${now.toString()}
        order by look_at limit ${free} for update skip locked)
      returning company`.execute(database.service);
    if (companies.length === 0) return;
    const due = await database.inEach(
      companies.map(({ company }) => company),
      dueWebhooks,
    );
    const later = due.flatMap((webhook) => {
      const at = this.#beginOrWait(webhook, now);
      return at ? [{ company: webhook.account_id, at }] : [];
    });
    await this.#lookAt(later);
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all([...this.#underWay.values()].flatMap((of) => [...of.values()]));
  }

  /** Sends nothing more; resolves when what is under way has been answered. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
  }

  /** Begins to send to a webhook, or says when to look at it again. */
  #beginOrWait({ account_id, id, next_attempt_at, leased_until }: Due, now: Temporal.Instant) {
    const [next, leased] = [next_attempt_at, leased_until].map((text) => text && Temporal.Instant.from(text));
    if (next && Temporal.Instant.compare(next, now) > 0) return next;
    const ours = this.#underWay.get(account_id) ?? new Map<number, Promise<void>>();
    const isTaken = ours.has(id) || (leased && Temporal.Instant.compare(leased, now) > 0);
    const isSlow = this.#slow.has(id);
    const isFull = this.#sending >= AT_ONCE || ours.size >= OF_A_COMPANY;
    if (isTaken || isFull || (isSlow && this.#slowSending >= SLOW_AT_ONCE)) return now.add(SOON);
    this.#sending++;
    if (isSlow) this.#slowSending++;
    const sent = this.#sendAll(account_id, id)
      .catch((error: unknown) => {
        this.#service.log.warn({ err: error, company: account_id, webhook: id }, 'a webhook could not be served');
      })
      .finally(() => {
        this.#sending--;
        if (isSlow) this.#slowSending--;
        ours.delete(id);
        if (ours.size === 0) this.#underWay.delete(account_id);
      });
    this.#underWay.set(account_id, ours.set(id, sent));
    return undefined;
  }

  /** One delivery after another, until there is none left or one fails. */
  async #sendAll(accountId: number, id: number): Promise<void> {
    const { webhooks } = this.#service;
    for (let goesOn = true; goesOn; ) {
      const batch = await this.#claim(accountId, id);
      if (!batch) return;
      const attempt = await webhooks.send(accountId, batch.receiver, batch.message, batch.body);
      if (attempt.milliseconds > SLOW_MS) this.#slow.add(id);
      else this.#slow.delete(id);
      goesOn = await this.#note(accountId, id, batch, attempt);
    }
  }

  /** The next delivery, under a lease of this process; undefined when there is none, or another process has the webhook. */
  async #claim(accountId: number, id: number): Promise<Batch | undefined> {
    const { database, ids, clock } = this.#service;
    const now = clock.now();
    const found = await database.transaction(accountId, { write: true }, async (db) => {
      const { rows } = await sql<Claimed>`
        select url, secret, earlier_secret, earlier_secret_until, types, delivered_up_to, batch_end, failures from webhooks
        where account_id = ${accountId} and id = ${id} and active
          and (leased_until is null or leased_until <= ${now.toString()} or lease = ${this.#name})
          and (next_attempt_at is null or next_attempt_at <= ${now.toString()})
        for update`.execute(db);
      const [claimed] = rows;
      if (!claimed) return undefined;
      const { epoch, last } = await journalHead(db, accountId);
      const upTo = claimed.batch_end ?? last;
      const { rows: changes } = await entries(
        db,
        accountId,
        claimed.delivered_up_to,
        claimed.types ?? undefined,
        MOST_CHANGES,
        upTo,
      );
      if (changes.length === 0) {
        // Nothing of it is wanted. Whoever saw the lease meanwhile looks again.
        await sql`update webhooks set delivered_up_to = greatest(delivered_up_to, ${upTo}), batch_end = null, lease = null,
            leased_until = null
          where account_id = ${accountId} and id = ${id}`.execute(db);
        return undefined;
      }
      const end = changes.length === MOST_CHANGES ? (changes.at(-1)?.n ?? upTo) : upTo;
      const [zone] = await Promise.all([
        db.selectFrom('accounts').select('time_zone').where('id', '=', accountId).executeTakeFirstOrThrow(),
        sql`update webhooks set batch_end = ${end}, lease = ${this.#name}, leased_until = ${now.add(LEASE).toString()}
          where account_id = ${accountId} and id = ${id}`.execute(db),
      ]);
      return { claimed, epoch, changes, end, timeZone: zone.time_zone };
    });
    if (!found) return undefined;
    const { claimed, epoch, changes, end, timeZone } = found;
    const { first, last } = endsOf(changes);
    const shown = changes.map((entry) => shownChange(entry, timeZone));
    const body = bodyOf(epoch, momentIn(timeZone, last.created_at), shown);
    return {
      receiver: claimed,
      message: `${epoch}-${first.n}-${last.n}`,
      body: await ids.sealMarked(accountId, body),
      ...{ first: first.n, last: last.n, end, attempt: claimed.failures + 1 },
    };
  }

  /** Notes what came of a delivery. Answers whether to go on with the next. */
  async #note(accountId: number, id: number, batch: Batch, attempt: Attempt): Promise<boolean> {
    const { database, clock, log } = this.#service;
    const now = clock.now();
    const { status, milliseconds, error } = attempt;
    const next = error === '' ? undefined : nextAttempt(batch, attempt, now);
    const isOff = error !== '' && next === undefined;
    const goesOn = error === '' && !this.#stopped;
    const isOurs = await database.transaction(accountId, { write: true }, async (db) => {
      // Unless it was changed meanwhile, or this process has taken longer than its lease.
      const { numAffectedRows } = await this.#mine(db, accountId, id, batch.end, {
        delivered: error === '',
        next,
        isOff,
        goesOn,
      });
      await db
        .insertInto('webhook_deliveries')
        .values({
          account_id: accountId,
          webhook_id: id,
          message: batch.message,
          first_n: batch.first,
          last_n: batch.last,
          attempt: batch.attempt,
          status,
          milliseconds,
          error: error || null,
          ...{ created_at: now.toString(), updated_at: now.toString() },
        })
        .execute();
      return numAffectedRows === 1n;
    });
    if (isOurs && isOff) log.warn({ company: accountId, webhook: id, status, error }, 'a webhook was switched off');
    // After a stop another process goes on at once.
    const again = next ?? (error === '' && !goesOn ? now : undefined);
    if (again) await this.#lookAt([{ company: accountId, at: again }]);
    return isOurs && goesOn;
  }

  #mine(
    db: Db,
    accountId: number,
    id: number,
    end: number,
    {
      delivered,
      next,
      isOff,
      goesOn,
    }: { delivered: boolean; next: Temporal.Instant | undefined; isOff: boolean; goesOn: boolean },
  ) {
    const done = delivered
      ? sql`delivered_up_to = ${end}::bigint, batch_end = null, failures = 0, next_attempt_at = null`
      : sql`failures = failures + 1, next_attempt_at = ${next?.toString() ?? null}::timestamptz, active = ${!isOff}::boolean`;
    const left = goesOn ? sql`` : sql`, lease = null, leased_until = null`;
    return sql`update webhooks set ${done}${left}
      where account_id = ${accountId} and id = ${id} and active and lease = ${this.#name} and batch_end = ${end}`.execute(
      db,
    );
  }

  /** Has companies looked at by then. */
  async #lookAt(later: readonly { company: number; at: Temporal.Instant }[]): Promise<void> {
    if (later.length === 0) return;
    await sql`
      update webhook_queue q set look_at = least(q.look_at, v.at)
      from (select w.company, u.at from webhook_queue w join (
          select company, min(at) as at from unnest(${later.map(({ company }) => company)}::bigint[],
            ${later.map(({ at }) => at.toString())}::timestamptz[]) as u (company, at) group by company) u using (company)
        order by w.company for update of w) v
      where q.company = v.company`.execute(this.#service.database.service);
  }
}

/** The webhooks of a company that are behind its journal. */
const dueWebhooks = (accountId: number) =>
  queries
    .selectFrom('webhooks')
    .select(['account_id', 'id', 'next_attempt_at', 'leased_until'])
    .where('account_id', '=', accountId)
    .where('active', '=', true)
    .where(sql<boolean>`delivered_up_to < (select j.n from journals j where j.account_id = ${accountId})`)
    .$castTo<Due>()
    .compile();

function endsOf(changes: readonly Entry[]): { first: Entry; last: Entry } {
  const [first, last] = [changes[0], changes.at(-1)];
  if (!first || !last) throw new Error('A delivery has changes');
  return { first, last };
}

/** When to try again; undefined for never. */
function nextAttempt(
  { attempt }: Batch,
  { status, retryAfterSeconds = 0 }: Attempt,
  now: Temporal.Instant,
): Temporal.Instant | undefined {
  const wait = RETRY_AFTER[attempt - 1];
  if (!wait || status === GONE) return undefined;
  const usual = wait.total('seconds') * (1 + JITTER * Math.random());
  const asked = Math.min(retryAfterSeconds, LONGEST_RETRY_AFTER_SECONDS);
  return now.add({ milliseconds: Math.round(1000 * Math.max(usual, asked)) });
}
