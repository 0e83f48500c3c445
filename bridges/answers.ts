// Answers that reach a body as text, after tRPC or the SDK of the connector has made it: those read, check and write a few bytes
// where a page would be.
import { randomUUID } from 'node:crypto';
import { type JsonText, jsonText } from '../platform/json-text.ts';

/** Nobody who could write it into a request knows it. */
const MARK = randomUUID();
const PLACES = new RegExp(`\\{"${MARK}":(\\d+)\\}|"${MARK} (\\d+)"`, 'g');

/** The answers to the calls of one request. */
export class Answers {
  readonly #texts: string[] = [];

  /** A value that keeps an answer's place. */
  value({ text }: JsonText): JsonText<Record<string, unknown>> {
    return jsonText({ [MARK]: this.#texts.push(text) - 1 });
  }

  /** A text that keeps the place of an answer's JSON. */
  text({ text }: JsonText): string {
    return `${MARK} ${this.#texts.push(text) - 1}`;
  }

  /** The body with every answer in its place. */
  fill(body: string): string {
    if (this.#texts.length === 0) return body;
    return body.replace(PLACES, (place, asValue?: string, asText?: string) => {
      const answer = this.#texts[Number(asValue ?? asText)];
      if (answer === undefined) return place;
      return asValue === undefined ? JSON.stringify(answer) : answer;
    });
  }
}
