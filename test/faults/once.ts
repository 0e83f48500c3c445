// `npm run prove:once`: every write exactly once, while the service is killed and its database restarted under it.
//
//   npm run prove:once                                30 kills and 10 restarts, of a new seed
//   npm run prove:once -- --seed 7                    the same inputs and choices; when what falls between, nobody repeats
//   npm run prove:once -- --kills 2 --restarts 1      to see that it runs
//
// Eight writers call every operation that writes, each call with an idempotency key, by one door or another, again and again
// until it is answered; now and then two at once, without waiting for the answer, or giving up for good. The service is
// ended by SIGKILL wherever it is, PostgreSQL by a fast and an immediate shutdown in turns. At the end, by the rows and by
// the API: what was acknowledged is there once, what was not is there once or not at all, and all that follows from the
// records does. Exit 1 otherwise.
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { operations } from '../../bridges/operations.ts';
import { Ids } from '../../platform/ids.ts';
import { exampleAccount } from '../helpers/examples.ts';
import { type Call, callsOf, headersOf } from './doors.ts';
import { Random } from './random.ts';
import { ID_KEY, inParallel, newApiKey, newCompany, type Stand, table } from './stand.ts';
import {
  MAIN,
  type OwnPostgres,
  proofEnvironment,
  type Supervised,
  standOn,
  startOwnPostgres,
  supervise,
} from './supervisor.ts';
import { CREATED, records, type Write, Writer } from './writes.ts';

const WRITERS = 8;
/** What an attempt may take before the writer sends it again. */
const PATIENCE_MS = 20_000;
/** A call that is not answered in so long counts as not served. */
const LIMIT_MS = 120_000;
const READ_BACK = 500;
const SHOWN = 20;

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    kills: { type: 'string', default: '30' },
    restarts: { type: 'string', default: '10' },
  },
});
const seed = Number(options.seed);
const writes = operations.filter(({ write }) => write);

interface Told {
  status: number;
  /** The operation's answer, the same by every door. */
  value: string;
  replayed: boolean;
  text: string;
}

/** A call and what came of it. */
interface Done extends Write {
  /** As JSON; undefined when the writer gave up. */
  answer: string | undefined;
}

class Proof {
  readonly done: Done[] = [];
  readonly violations: string[] = [];
  readonly counts = { acknowledged: 0, attempts: 0, unanswered: 0, unavailable: 0, waiting: 0, replays: 0 };
  /** Replays of what the writer had no answer to: the service was ended between the commit and the answer, or not read. */
  lateReplays = 0;
  readonly #service: Supervised;
  readonly #headers: Record<string, string>;

  constructor(service: Supervised, headers: Record<string, string>) {
    this.#service = service;
    this.#headers = headers;
  }

  violation(text: string): void {
    this.violations.push(text);
  }

  /** Sends a call once. `patience`: milliseconds to wait for the answer. Undefined without one. */
  async send({ operation, input, mark }: Write, random: Random, patience = PATIENCE_MS): Promise<Told | undefined> {
    const attempt = ++this.counts.attempts;
    const doors = callsOf(operation, input).filter(({ door }) => !door.startsWith('MCP'));
    const call = random.pick(doors);
    const headers = {
      ...headersOf(call, { key: this.#headers }),
      'x-idempotency-key': mark,
      // Rows of the audit say by it which call wrote them, and which attempt.
      'x-request-id': `${mark}.${attempt}`,
    };
    try {
      const { method, path, body } = call;
      const signal = AbortSignal.timeout(patience);
      const response = await fetch(this.#service.url() + path, { method, headers, signal, body: body ?? null });
      const text = await response.text();
      const replayed = response.headers.get('idempotent-replayed') === 'true';
      return { status: response.status, value: valueIn(call, response.status, text), replayed, text };
    } catch {
      this.counts.unanswered++;
      return undefined;
    }
  }

  /** Sends a call until it is answered, or given up. */
  async perform(write: Write, random: Random): Promise<Done> {
    const name = `${write.operation.path} ${write.mark}`;
    const until = Date.now() + LIMIT_MS;
    for (let tries = 1; Date.now() < until; tries++) {
      const patience = random.chance(0.1) && tries < 3 ? random.int(1, 40) : PATIENCE_MS;
      const sent = Array.from({ length: random.chance(0.1) ? 2 : 1 }, () => this.send(write, random, patience));
      const told = (await Promise.all(sent)).filter((answer) => answer !== undefined);
      const answers = told.filter(({ status }) => status === 200);
      for (const { status, text } of told) {
        if (status === 503) this.counts.unavailable++;
        else if (status === 409) this.counts.waiting++;
        else if (status !== 200) this.violation(`${name} was answered ${status}: ${text.slice(0, 300)}`);
      }
      const [first, second] = answers;
      if (first) {
        const replays = answers.filter(({ replayed }) => replayed).length;
        this.counts.replays += replays;
        if (replays === answers.length) this.lateReplays++;
        if (second && second.value !== first.value)
          this.violation(`${name} got two answers: ${first.text} ${second.text}`);
        if (second && replays === 0) this.violation(`${name} was done for both of two at once`);
        if (random.chance(0.1)) await this.again(write, first.value, random);
        return this.#end(write, first.value);
      }
      if (told.some(({ status }) => status >= 400 && status < 500 && status !== 409)) break;
      if (tries === 1 && random.chance(0.1)) break;
      await wait(random.int(50, 250));
    }
    if (Date.now() >= until) this.violation(`${name} was not answered within ${LIMIT_MS / 1000} s`);
    return this.#end(write, undefined);
  }

  /** An acknowledged call once more: the same answer, said to be one. */
  async again(write: Write, answer: string, random: Random): Promise<void> {
    const told = await this.send(write, random);
    if (told?.status !== 200) return;
    this.counts.replays++;
    if (!told.replayed || told.value !== answer) {
      this.violation(`${write.operation.path} ${write.mark} was answered ${answer}, and then ${told.text}`);
    }
  }

  #end(write: Write, answer: string | undefined): Done {
    const done = { ...write, answer };
    this.done.push(done);
    if (answer !== undefined) this.counts.acknowledged++;
    return done;
  }
}

/** What the operation answered, as JSON, out of its door's wrapping. */
function valueIn({ door }: Call, status: number, text: string): string {
  if (status !== 200) return '';
  const body = JSON.parse(text);
  return JSON.stringify(door === 'tRPC' ? body.result.data.json : body.data);
}

/** Writes until `over`, one call after the other. */
async function keepWriting(proof: Proof, index: number, over: AbortSignal): Promise<void> {
  const random = new Random(seed, index);
  const writer = new Writer(`w${seed}-${index}`, random);
  while (!over.aborted) {
    const write = writer.next(random.pick(writes));
    const { answer } = await proof.perform(write, random);
    if (answer !== undefined) writer.answered(write, JSON.parse(answer));
    await wait(random.int(0, 30));
  }
}

/** Kills and restarts in an order of the seed's, each while calls are being answered. */
async function disturb(proof: Proof, service: Supervised, postgres: OwnPostgres): Promise<void> {
  const random = new Random(seed, WRITERS);
  const events = [
    ...Array.from({ length: Number(options.kills) }, () => 'kill' as const),
    ...Array.from({ length: Number(options.restarts) }, (_, index) => (index % 2 ? 'immediate' : 'fast')),
  ]
    .map((what) => ({ what, at: random.next() }))
    .sort((one, other) => one.at - other.at);
  for (const { what } of events) {
    await service.up();
    const enough = proof.counts.acknowledged + random.int(5, 60);
    for (const until = Date.now() + LIMIT_MS; proof.counts.acknowledged < enough; await wait(5)) {
      if (Date.now() > until) throw new Error('No calls are answered any more');
    }
    await wait(random.int(0, 30));
    if (what === 'kill') {
      service.kill();
      // Some find it starting.
      if (random.chance(0.2)) await wait(random.int(50, 800));
    } else {
      await postgres.end(what === 'fast' ? 'fast' : 'immediate');
      await wait(random.int(0, 1000));
      await postgres.start();
    }
  }
  await service.up();
}

type Rows = Map<string, number[]>;

/** The company's rows of this query by their first column, a mark. */
async function byMark({ admin }: Stand, account: number, query: string): Promise<Rows> {
  const { rows } = await admin.query<{ mark: string; id: string }>(query, [account]);
  const found: Rows = new Map();
  for (const { mark, id } of rows) found.set(mark, [...(found.get(mark) ?? []), Number(id)]);
  return found;
}

/** Rows that must not be there: what a query finds is a violation, in its words. */
const NEVER: Readonly<Record<string, string>> = {
  'two contacts have one e-mail': `select email_key from contacts where account_id = $1 and email_key is not null group by 1 having count(*) > 1`,
  'two clients have one tax id': `select tax_key from clients where account_id = $1 and tax_key is not null group by 1 having count(*) > 1`,
  'numbers of documents have gaps, or the counter is elsewhere': `
    with numbered as (
      select 'delivery_note' as document, number from delivery_notes where account_id = $1
      union all select 'invoice', number from invoices where account_id = $1),
    counted as (
      select document, split_part(substr(number, 2), '-', 1)::int as year, split_part(number, '-', 2)::int as number
      from numbered where number ~ '^[AF]\\d{4}-\\d+$'),
    seen as (
      select document, year, count(*) as documents, count(distinct number) as numbers, max(number) as last
      from counted group by 1, 2)
    select s.*, c.last_number from seen s
    full join (select document, year, last_number from document_counters where account_id = $1) c using (document, year)
    where (s.documents, s.numbers, s.last) is distinct from (c.last_number::bigint, c.last_number::bigint, c.last_number)`,
  'a document has no number': `
    select concept from delivery_notes where account_id = $1 and number is null and concept like 'w%-%'
    union all select concept from invoices where account_id = $1 and number is null and concept like 'w%-%'`,
  'a document has no lines': `
    select concept from delivery_notes d where account_id = $1
      and not exists (select from delivery_note_lines l where l.account_id = $1 and l.delivery_note_id = d.id)
    union all select concept from invoices i where account_id = $1
      and not exists (select from invoice_lines l where l.account_id = $1 and l.invoice_id = i.id)
    union all select description from recurrings r where account_id = $1
      and not exists (select from recurring_lines l where l.account_id = $1 and l.recurring_id = r.id)`,
  'stock is not the sum of its movements': `
    select p.id, s.quantity, m.quantity as moved from products p
    left join product_stocks s on s.account_id = $1 and s.product_id = p.id
    left join (select product_id, sum(quantity) as quantity from stock_movements where account_id = $1 group by 1) m
      on m.product_id = p.id
    where p.account_id = $1 and p.mode = 'sale' and coalesce(s.quantity, 0) <> coalesce(m.quantity, 0)`,
  'movements are not what the documents sold': `
    with sold as (
      select product_id, quantity from delivery_note_lines l join delivery_notes d on d.account_id = $1 and d.id = l.delivery_note_id
      where l.account_id = $1 and d.concept like 'w%-%'
      union all
      select product_id, quantity from invoice_lines l join invoices i on i.account_id = $1 and i.id = l.invoice_id
      where l.account_id = $1 and i.concept like 'w%-%' and not l.from_delivery_note),
    moved as (
      select product_id, -quantity as quantity from stock_movements where account_id = $1 and not opening and ref is null)
    select p.id, s.quantity as sold, m.quantity as moved from products p
    left join (select product_id, sum(quantity) as quantity from sold group by 1) s on s.product_id = p.id
    left join (select product_id, sum(quantity) as quantity from moved group by 1) m on m.product_id = p.id
    where p.account_id = $1 and coalesce(m.quantity, 0) <> case when p.mode = 'sale' then coalesce(s.quantity, 0) else 0 end`,
  'due dates are not the total': `
    select i.id, d.amount, t.total from invoices i
    left join (select invoice_id, sum(amount) as amount from invoice_due_dates where account_id = $1 group by 1) d
      on d.invoice_id = i.id
    left join (
      select invoice_id, sum(base + round(base * vat / 100, 2)) as total
      from (select invoice_id, vat, sum(amount) as base from invoice_lines where account_id = $1 group by 1, 2) r group by 1) t
      on t.invoice_id = i.id
    where i.account_id = $1 and d.amount is distinct from t.total`,
  'a delivery note is in two invoices': `
    select delivery_note_id from invoice_lines where account_id = $1 and delivery_note_id is not null
    group by 1 having count(distinct invoice_id) > 1`,
  'an invoice has not every line of its delivery notes once': `
    select delivery_note_id from (
      select delivery_note_id, count(*) as lines from invoice_lines
      where account_id = $1 and delivery_note_id is not null group by 1) b
    join (select delivery_note_id, count(*) as lines from delivery_note_lines where account_id = $1 group by 1) n using (delivery_note_id)
    where b.lines <> n.lines`,
};

/** Compares what was answered with the rows. Answers the rows of the table to print. */
async function compare(proof: Proof, stand: Stand, account: number): Promise<(string | number)[][]> {
  const ids = new Ids([ID_KEY]);
  const keys = await byMark(
    stand,
    account,
    `select key as mark, case when answer is null then 0 else 1 end as id from idempotency_records where account_id = $1`,
  );
  // One row for each attempt that wrote, however many records it touched.
  const audits = await byMark(
    stand,
    account,
    `select split_part(request_id, '.', 1) as mark, min(id) as id from audit_records
     where account_id = $1 and request_id like 'w%.%' group by 1, request_id, operation`,
  );
  const created = new Map<string, Rows>();
  for (const [path, { table: name, column }] of Object.entries(CREATED)) {
    const query = `select ${column} as mark, id from ${name} where account_id = $1 and ${column} like 'w%-%'`;
    created.set(path, await byMark(stand, account, query));
  }
  const changes = new Map<number, number>();
  const rows: (string | number)[][] = [['', 'acknowledged', 'given up', 'of these written', 'violations']];
  const calls = new Set(proof.done.map(({ mark }) => mark));
  for (const operation of writes) {
    const found = proof.violations.length;
    let [acknowledged, givenUp, written] = [0, 0, 0];
    for (const done of proof.done.filter((one) => one.operation === operation)) {
      const { mark, answer, opportunity, shared } = done;
      const name = `${operation.path} ${mark}`;
      const audited = audits.get(mark)?.length ?? 0;
      if (audited > 1) proof.violation(`${name} was done ${audited} times, by its audit`);
      if ((keys.get(mark)?.[0] ?? 0) !== Math.min(audited, 1))
        proof.violation(`${name}: its key and its audit disagree`);
      if (answer === undefined) {
        givenUp++;
        written += Math.min(audited, 1);
      } else {
        acknowledged++;
        if (audited === 0) proof.violation(`${name} was acknowledged and is in no audit`);
      }
      const place = CREATED[operation.path];
      if (place) {
        const made = created.get(operation.path)?.get(mark) ?? [];
        if (made.length > 1) proof.violation(`${name} is there ${made.length} times`);
        if (made.length !== audited && !(shared && made.length < audited)) {
          proof.violation(`${name}: ${made.length} records, ${audited} in the audit`);
        }
        if (answer !== undefined && made[0] !== undefined) {
          const id = ids.open(account, place.kind, JSON.parse(answer));
          if (id !== made[0]) proof.violation(`${name} was answered ${answer}, and is ${made[0]}`);
        }
      }
      if (opportunity !== undefined) changes.set(opportunity, (changes.get(opportunity) ?? 0) + (await changed(done)));
    }
    rows.push([operation.path, acknowledged, givenUp, written, proof.violations.length - found]);
  }

  for (const mark of [...keys.keys(), ...audits.keys(), ...[...created.values()].flatMap((one) => [...one.keys()])]) {
    if (!calls.has(mark)) proof.violation(`${mark} was written, and nobody called it`);
  }
  const versions = await stand.admin.query<{ id: string; version: number }>(
    `select id, version from opportunities where account_id = $1 and id = any($2)`,
    [account, [...changes.keys()]],
  );
  for (const { id, version } of versions.rows) {
    const expected = 1 + (changes.get(Number(id)) ?? 0);
    if (version !== expected)
      proof.violation(`opportunity ${id} changed ${version - 1} times, ${expected - 1} by its calls`);
  }
  for (const [what, query] of Object.entries(NEVER)) {
    const { rows: wrong } = await stand.admin.query(query, [account]);
    if (wrong.length > 0) proof.violation(`${what}: ${JSON.stringify(wrong.slice(0, 3))}`);
  }
  return rows;

  /** How many times this call changed its opportunity; a move to where it was changes nothing. */
  async function changed({ mark, operation, answer }: Done): Promise<number> {
    let told = answer;
    if (told === undefined) {
      const kept = await stand.admin.query<{ answer: string | null }>(
        'select answer from idempotency_records where account_id = $1 and key = $2',
        [account, mark],
      );
      const text = kept.rows[0]?.answer;
      if (!text) return 0;
      told = JSON.stringify(JSON.parse(text).value);
    }
    if (operation.path !== 'opportunities.move') return 1;
    const { etapa_anterior, etapa } = JSON.parse(told);
    return etapa_anterior.etapaId === etapa.etapaId ? 0 : 1;
  }
}

const READ: Readonly<Record<string, (id: unknown) => string>> = {
  'contacts.create': (id) => `/crm/contacts/${id}`,
  'opportunities.create': (id) => `/crm/opportunities/${id}`,
  'deliveryNotes.create': (id) => `/delivery-notes/${id}`,
  'invoices.create': (id) => `/invoices/${id}`,
};

/** Reads what was answered back by the API, and sends each call once more. Answers how many. */
async function readBack(proof: Proof, url: string, headers: Record<string, string>): Promise<number> {
  const random = new Random(seed, WRITERS + 1);
  const acknowledged = proof.done.filter(({ answer }) => answer !== undefined);
  const sample = Array.from({ length: Math.min(READ_BACK, acknowledged.length) }, () => random.pick(acknowledged));
  const jobs = sample.map((done) => async () => {
    const { operation, mark, answer, shared } = done;
    if (answer === undefined) return;
    await proof.again(done, answer, random);
    const path = READ[operation.path]?.(JSON.parse(answer));
    if (path === undefined) return;
    const response = await fetch(`${url}/api/v1${path}`, { headers });
    const text = await response.text();
    if (response.status !== 200 || !(shared || text.includes(mark))) {
      proof.violation(`${operation.path} ${mark} is read back as ${response.status} ${text.slice(0, 200)}`);
    }
  });
  await inParallel(4, jobs);
  return sample.length;
}

async function main(): Promise<boolean> {
  console.log(
    `seed ${seed}: ${WRITERS} writers, ${writes.length} operations, ${options.kills} kills, ${options.restarts} restarts`,
  );
  const started = performance.now();
  await using postgres = await startOwnPostgres();
  let account: number;
  let headers: Record<string, string>;
  {
    await using stand = await standOn(postgres.url);
    account = await newCompany(stand, records, exampleAccount);
    headers = await newApiKey(stand, account);
  }
  await using service = await supervise(postgres.url);
  const proof = new Proof(service, headers);
  const over = new AbortController();
  const writing = Array.from({ length: WRITERS }, (_, index) => keepWriting(proof, index, over.signal));
  try {
    await disturb(proof, service, postgres);
  } finally {
    over.abort();
    await Promise.all(writing);
  }

  await using stand = await standOn(postgres.url);
  const rows = await compare(proof, stand, account);
  const read = await readBack(proof, service.url(), headers);
  const { rows: grown } = await stand.admin.query<{ keys: number }>(
    'select count(*)::int as keys from idempotency_records where account_id = $1',
    [account],
  );
  for (const text of service.endedByItself) proof.violation(`The service ended by itself:\n${text}`);
  const env = proofEnvironment(postgres.url);
  await promisify(execFile)(process.execPath, [MAIN, 'check'], { env }).catch((error: { stderr?: string }) =>
    proof.violation(`albaran check: ${error.stderr}`),
  );

  const { counts, violations } = proof;
  const summary = [
    [`seed ${seed}`, ''],
    ['calls acknowledged', counts.acknowledged],
    ['attempts', counts.attempts],
    ['  without an answer', counts.unanswered],
    ['  503', counts.unavailable],
    ['  409, the first still running', counts.waiting],
    ['  replayed', counts.replays],
    ['  replayed, being the first answer that was read', proof.lateReplays],
    ['keys with an effect', grown[0]?.keys ?? 0],
    ['read back by the API and sent again', read],
    ['kills', Number(options.kills)],
    ['starts of the service', service.starts],
    ['restarts of PostgreSQL', Number(options.restarts)],
    ['seconds', Math.round((performance.now() - started) / 1000)],
    ['violations', violations.length],
  ];
  console.log(`\n${table(rows)}\n\n${table(summary)}\n`);
  if (violations.length > 0) console.error(violations.slice(0, SHOWN).join('\n'));
  console.log(violations.length === 0 ? 'Every write is there exactly once.' : `Not proved; seed ${seed}.`);
  return violations.length === 0;
}

process.exitCode = (await main()) ? 0 : 1;
