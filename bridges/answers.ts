// Inserts answers as JSON text into a body built by tRPC or the connector's SDK. These libraries only handle a short placeholder
// for each answer, so long answers are not parsed and serialised again.
import { randomUUID } from 'node:crypto';
import { ApiError } from '../platform/errors.ts';
import { JsonText, LONGEST_ANSWER } from '../platform/json-text.ts';

/** Random, so that callers can't put a placeholder into a request. */
const MARK = randomUUID();
const PLACES = new RegExp(`\\{"${MARK}":(\\d+)\\}|"${MARK} (\\d+)"`, 'g');

/** The answers of one body. Throws 400 for an answer that makes their total too long. FAIR-03 */
export class Answers {
  readonly #texts: string[] = [];
  readonly #most: number;
  #bytes = 0;

  /** `most`: the maximum total size in bytes. */
  constructor(most = LONGEST_ANSWER) {
    this.#most = most;
  }

  /** A placeholder value for an answer. */
  value<Value = Record<string, unknown>>(answer: JsonText): JsonText<Value> {
    return new JsonText(JSON.stringify({ [MARK]: this.#take(answer) }));
  }

  /** A placeholder string for an answer's JSON as text. */
  text(answer: JsonText): string {
    return `${MARK} ${this.#take(answer)}`;
  }

  #take({ text }: JsonText): number {
    const bytes = this.#bytes + Buffer.byteLength(text);
    if (bytes > this.#most) {
      throw new ApiError('badInput', 'Las respuestas del lote serían demasiado largas juntas: pide esta aparte');
    }
    this.#bytes = bytes;
    return this.#texts.push(text) - 1;
  }

  /** Replaces the placeholders in the body by the answers so far, and forgets these. */
  fill(body: string): string {
    const texts = this.#texts.splice(0);
    this.#bytes = 0;
    if (texts.length === 0) return body;
    return body.replace(PLACES, (place, asValue?: string, asText?: string) => {
      const answer = texts[Number(asValue ?? asText)];
      if (answer === undefined) return place;
      return asValue === undefined ? JSON.stringify(answer) : answer;
    });
  }
}
