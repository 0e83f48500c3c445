// What tools answer reaches the messages as text, after the protocol has made them: it reads, checks and writes a few
// bytes where a page would be.
import { randomUUID } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JsonText } from '../../platform/json-text.ts';

/** Nobody who could write it into a message knows it. */
const MARK = randomUUID();
const PLACES = new RegExp(`\\{"${MARK}":(\\d+)\\}|"${MARK} (\\d+)"`, 'g');

/** The answers to the calls of one request. */
export class Answers {
  readonly #texts: string[] = [];

  /** A result in which the answer's place is kept, as structured content and as its text. */
  add({ text }: JsonText): CallToolResult {
    const index = this.#texts.push(text) - 1;
    return { structuredContent: { [MARK]: index }, content: [{ type: 'text', text: `${MARK} ${index}` }] };
  }

  /** The body of the response with each answer in its places. */
  fill(body: string): string {
    if (this.#texts.length === 0) return body;
    return body.replace(PLACES, (place, structured?: string, text?: string) => {
      const answer = this.#texts[Number(structured ?? text)];
      if (answer === undefined) return place;
      return structured === undefined ? JSON.stringify(answer) : answer;
    });
  }
}
