// Writing calls, each sent until it is answered, and their outcomes.
import { setTimeout as wait } from 'node:timers/promises';
import { IDEMPOTENCY_ARGUMENT, toolNamed } from '../../../bridges/mcp/tools.ts';
import { toolCall } from '../../oauth/application.ts';
import { type Call, callsOf, headersOf, resultOf, statusOf } from '../doors.ts';
import type { Random } from '../random.ts';
import type { Write } from './writes.ts';

/** Timeout of an attempt. */
const PATIENCE_MS = 20_000;
/** A call without answer for so long counts as not served. */
export const LIMIT_MS = 120_000;

/** The interfaces that a writer uses: only the connector, only the others, or all. */
export type Doors = 'connector' | 'others' | 'all';

/** The answer to an attempt. */
export interface Answer {
  status: number;
  ms: number;
  /** Seconds to wait before another attempt: from a header, or from the connector's text. */
  retryAfter: string | undefined;
  text: string;
  /** Time of the answer by `performance.now()`. */
  at: number;
}

interface Told extends Answer {
  /** The operation's answer, equal through every interface. */
  value: string;
  /** Whether the answer is marked as a replay; the connector's are not. */
  replayed: boolean | undefined;
  attempt: number;
}

/** A call and its outcome. */
export interface Done extends Write {
  doors: Doors;
  /** JSON; undefined if the writer gave up. */
  answer: string | undefined;
  /** The first answered attempt. */
  attempt?: number | undefined;
}

/** Counts of attempts by interface. */
export interface Counts {
  acknowledged: number;
  attempts: number;
  unanswered: number;
  unavailable: number;
  waiting: number;
}

const noCounts = (): Counts => ({ acknowledged: 0, attempts: 0, unanswered: 0, unavailable: 0, waiting: 0 });

export class Proof {
  readonly done: Done[] = [];
  readonly violations: string[] = [];
  readonly counts: Record<Doors, Counts> = { connector: noCounts(), others: noCounts(), all: noCounts() };
  /** Called with every answer. */
  onAnswer: (answer: Answer) => void = () => {};
  /** Right answers that were marked as replays or came to an acknowledged call. */
  replays = 0;
  readonly #url: () => string;
  readonly #headers: Record<string, string>;
  #attempts = 0;

  /** `url`: the current address of the service. `headers`: those of a read-write key. */
  constructor(url: () => string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  get acknowledged(): number {
    return Object.values(this.counts).reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  }

  violation(text: string): void {
    this.violations.push(text);
  }

  /** Sends a call once. `patience`: milliseconds to wait for the answer. Undefined without one. */
  async send(write: Write, random: Random, doors: Doors, patience = PATIENCE_MS): Promise<Told | undefined> {
    const counts = this.counts[doors];
    const attempt = ++this.#attempts;
    counts.attempts++;
    const call = random.pick(callsBy(doors, write));
    const headers: Record<string, string> = {
      ...headersOf(call, { key: this.#headers }),
      ...(!isConnector(call) && { 'x-idempotency-key': write.mark }),
      // Audit rows have it, and so name the call and the attempt that wrote.
      'x-request-id': `${write.mark}.${attempt}`,
    };
    const begun = performance.now();
    try {
      const { method, path, body } = call;
      const signal = AbortSignal.timeout(patience);
      const response = await fetch(this.#url() + path, { method, headers, signal, body: body ?? null });
      const text = await response.text();
      const at = performance.now();
      const retryAfter = response.headers.get('retry-after') ?? / dentro de (\d+) s\./.exec(text)?.[1];
      const told = { ...toldBy(call, write, response, text), retryAfter, text, attempt, at, ms: at - begun };
      this.onAnswer(told);
      if (told.status === 503 && retryAfter === undefined) {
        this.violation(`${write.operation.path} ${write.mark} was refused without saying until when: ${text}`);
      }
      return told;
    } catch {
      counts.unanswered++;
      return undefined;
    }
  }

  /** Sends a call until it is answered or given up. `patient`: never gives up and reads every answer. */
  async perform(write: Write, random: Random, doors: Doors, { patient = false } = {}): Promise<Done> {
    const name = `${write.operation.path} ${write.mark}`;
    const counts = this.counts[doors];
    const until = Date.now() + LIMIT_MS;
    for (let tries = 1; Date.now() < until; tries++) {
      const usual = patient ? LIMIT_MS : PATIENCE_MS;
      const patience = !patient && random.chance(0.1) && tries < 3 ? random.int(1, 40) : usual;
      const sent = Array.from({ length: random.chance(0.1) ? 2 : 1 }, () => this.send(write, random, doors, patience));
      const told = (await Promise.all(sent)).filter((answer) => answer !== undefined);
      const answers = told.filter(({ status }) => status === 200);
      for (const { status, text } of told) {
        if (status === 503) counts.unavailable++;
        else if (status === 409) counts.waiting++;
        else if (status !== 200) this.violation(`${name} was answered ${status}: ${text.slice(0, 300)}`);
      }
      const [first, second] = answers;
      if (first) {
        this.replays += answers.filter(({ replayed }) => replayed).length;
        if (second && second.value !== first.value)
          this.violation(`${name} got two answers: ${first.text} ${second.text}`);
        if (second && answers.every(({ replayed }) => replayed === false))
          this.violation(`${name} was done for both of two at once`);
        if (random.chance(0.1)) await this.again(write, first.value, random, doors);
        counts.acknowledged++;
        return this.#end({ ...write, doors, answer: first.value, attempt: first.attempt });
      }
      if (told.some(({ status }) => status >= 400 && status < 500 && status !== 409)) break;
      if (!patient && tries === 1 && random.chance(0.1)) break;
      await wait(random.int(50, 250));
    }
    if (Date.now() >= until) this.violation(`${name} was not answered within ${LIMIT_MS / 1000} s`);
    return this.#end({ ...write, doors, answer: undefined });
  }

  /** Repeats an acknowledged call: the same answer, marked as a replay. */
  async again(write: Write, answer: string, random: Random, doors: Doors): Promise<void> {
    const told = await this.send(write, random, doors);
    if (told?.status !== 200) return;
    this.replays++;
    if (told.replayed === false || told.value !== answer) {
      this.violation(`${write.operation.path} ${write.mark} was answered ${answer}, and then ${told.text}`);
    }
  }

  #end(done: Done): Done {
    this.done.push(done);
    return done;
  }
}

const isConnector = ({ door }: Call) => door.startsWith('MCP');

/** The call through each of these interfaces; the connector takes the key as an argument. IDEM-01 */
function callsBy(doors: Doors, { operation, input, mark }: Write): Call[] {
  const others = callsOf(operation, input).filter((call) => !isConnector(call));
  const body = JSON.stringify(toolCall(operation.tool, { ...input, [IDEMPOTENCY_ARGUMENT]: mark }));
  const connector: Call = { door: 'MCP, key', method: 'POST', path: '/mcp/', body };
  if (doors === 'all') return [...others, connector];
  return doors === 'connector' ? [connector] : others;
}

/** The operation's answer as JSON, without its interface's wrapping. */
function toldBy(call: Call, { operation }: Write, { status, headers }: Response, text: string) {
  const replayed = headers.get('idempotent-replayed') === 'true';
  // With `existente`, which REST gives in a header.
  const own = (answer: { data?: unknown } | undefined) => (operation.existing ? answer?.data : answer);
  if (!isConnector(call)) {
    if (status !== 200) return { status, value: '', replayed };
    const body = JSON.parse(text);
    return { status, value: JSON.stringify(call.door === 'tRPC' ? own(body.result.data.json) : body.data), replayed };
  }
  const none = { value: '', replayed: undefined };
  if (status !== 200) return { status, ...none };
  const result = resultOf(text);
  // A JSON-RPC error; no call here causes one.
  if (!result) return { status: 500, ...none };
  if (result.isError) return { status: statusOf(result), ...none };
  const { structuredContent } = result;
  const value = toolNamed(operation.tool)?.wrapped ? structuredContent?.data : own(structuredContent);
  return { status, value: JSON.stringify(value), replayed: undefined };
}
