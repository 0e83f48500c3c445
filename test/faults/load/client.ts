// Callers of the load proofs: a number of connections, and calls at a rate or one after another.
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Call, headersOf } from '../doors.ts';
import type { Answer } from '../once/proof.ts';

export const CONNECTIONS = 200;
const TICK_MS = 10;

/** Calls of a company over open connections. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  readonly #port: number;
  readonly #headers: Record<string, string>;
  readonly #calls: readonly Call[];
  #next = 0;
  inFlight = 0;

  constructor(port: number, headers: Record<string, string>, calls: readonly Call[]) {
    this.#port = port;
    this.#headers = headers;
    this.#calls = calls;
  }

  /** The next call in turn, or this one. */
  async ask(call = this.#calls[this.#next++ % this.#calls.length]): Promise<Answer> {
    if (!call) throw new Error('Nothing to call');
    const { method, path, body = '' } = call;
    const headers = { ...headersOf(call, { key: this.#headers }), 'content-length': Buffer.byteLength(body) };
    const begun = performance.now();
    this.inFlight++;
    const answer = await new Promise<IncomingMessage | undefined>((resolve) => {
      const to = { host: '127.0.0.1', port: this.#port, method, path, headers, agent: this.#agent };
      httpRequest(to, resolve)
        .on('error', () => resolve(undefined))
        .end(body);
    });
    const text = answer ? await textOf(answer) : undefined;
    this.inFlight--;
    const at = performance.now();
    const lost = answer === undefined || text === undefined;
    const status = lost ? 0 : (answer.statusCode ?? 0);
    return { status, ms: at - begun, retryAfter: answer?.headers['retry-after'], text: text ?? '', at };
  }

  /** This many at once, each one after another, for a time. */
  async steadily(callers: number, milliseconds: number): Promise<Answer[]> {
    const until = performance.now() + milliseconds;
    const answers: Answer[] = [];
    const caller = async () => {
      while (performance.now() < until) answers.push(await this.ask());
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return answers;
  }

  /** This many per second, as long as a connection is free. `unsent`: those without one. */
  async atRate(rate: number, milliseconds: number, call?: Call): Promise<{ answers: Answer[]; unsent: number }> {
    const begun = performance.now();
    const answers: Answer[] = [];
    const sent: Promise<unknown>[] = [];
    let unsent = 0;
    for (let due = 0, asked = 0; performance.now() - begun < milliseconds; await wait(TICK_MS)) {
      due = ((performance.now() - begun) / 1000) * rate;
      for (; asked < due; asked++) {
        if (this.inFlight >= CONNECTIONS) unsent++;
        else sent.push(this.ask(call).then((answer) => answers.push(answer)));
      }
    }
    await Promise.all(sent);
    return { answers, unsent };
  }

  close(): void {
    this.#agent.destroy();
  }
}

const textOf = (answer: IncomingMessage) =>
  new Promise<string | undefined>((resolve) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (part) => {
      text += part;
    });
    answer.on('end', () => resolve(text));
    answer.on('error', () => resolve(undefined));
  });
