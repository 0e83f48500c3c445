// Answers of reads that this process keeps, each with the company's state that it shows. One is given again only when the call's own
// transaction finds that state unchanged. JRN-04
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { JsonText } from './json-text.ts';

/**
 * What a company's answers stand on, as an SQL expression where $1 is the company: its journal's epoch and newest change; null where it
 * has no journal yet. The version before wrote no journal but an audit record with every write: so its number is a part of the state.
 * A company has one journal; the limit is for the proof of isolation, which takes away what keeps companies apart.
 */
export const STATE = `(select j.epoch || ' ' || j.n || ' ' || coalesce((
    select a.id from audit_records a where a.account_id = $1 order by a.id desc limit 1), 0)
  from journals j where j.account_id = $1 limit 1)`;

/** A kept answer, with the body that REST sends of it once it has been given again: to encode it takes longer than to find it. */
export class KeptText extends JsonText {
  body: Buffer | undefined;
}

interface Kept {
  accountId: number;
  state: string;
  answer: KeptText;
  /** Whether it was found unchanged when it was last asked for: then the next call looks before it reads anew. */
  lasting: boolean;
  /** The entity tag, once it has been asked for. */
  tag?: string;
}

/** What one company has, by keys: the one that was asked for longest ago first. */
interface CompanyShare {
  bytes: number;
  keys: Set<string>;
}

/** One company has no more than this part of the space. */
const COMPANY_SHARE = 1 / 4;
/** Longer keys are not worth a place. */
const LONGEST_KEY = 4000;
/** What an entry takes besides its texts, in bytes. */
const OVERHEAD = 200;

export class KeptAnswers {
  readonly #answers: LRUCache<string, Kept> | undefined;
  readonly #share: number;
  readonly #companies = new Map<number, CompanyShare>();
  readonly #build: string;

  /** `bytes`: how much it may keep; 0 keeps nothing. `build`: processes that answer alike have the same. */
  constructor(bytes: number, build: string) {
    this.#share = bytes * COMPANY_SHARE;
    this.#build = build;
    if (bytes === 0) return;
    this.#answers = new LRUCache({
      maxSize: bytes,
      sizeCalculation: sizeOf,
      dispose: (kept, key) => this.#forget(kept, key),
    });
  }

  /** Whether the next call of this key should look at the company's state before it reads. */
  isLasting(key: string): boolean {
    return this.#answers?.peek(key)?.lasting === true;
  }

  /** The answer that is kept of this state. */
  find(key: string, state: string): KeptText | undefined {
    const kept = this.#answers?.get(key);
    if (!kept) return undefined;
    kept.lasting = kept.state === state;
    const keys = this.#companies.get(kept.accountId)?.keys;
    if (keys?.delete(key)) keys.add(key);
    return kept.lasting ? kept.answer : undefined;
  }

  /** Keeps an answer; those of the company that were asked for longest ago go, where it has its share. */
  keep(key: string, accountId: number, state: string, { text, rows }: JsonText): void {
    if (!this.#answers || key.length > LONGEST_KEY) return;
    const answer = new KeptText(text, rows);
    const kept = { accountId, state, answer, lasting: this.#answers.peek(key)?.state === state };
    this.#answers.delete(key);
    const size = sizeOf(kept, key);
    if (size > this.#share) return;
    const of = this.#companies.get(accountId) ?? { bytes: 0, keys: new Set() };
    for (const oldest of of.keys) {
      if (of.bytes + size <= this.#share) break;
      this.#answers.delete(oldest);
    }
    of.bytes += size;
    of.keys.add(key);
    this.#companies.set(accountId, of);
    this.#answers.set(key, kept);
  }

  /** The entity tag of what this key answers in this state. RFC 9110, section 8.8.3 */
  tagOf(key: string, state: string): string {
    const kept = this.#answers?.peek(key);
    if (kept?.state !== state) return this.#makeTag(key, state);
    kept.tag ??= this.#makeTag(key, state);
    return kept.tag;
  }

  /** How much of a company's answers is kept, in bytes. */
  bytesOf(accountId: number): number {
    return this.#companies.get(accountId)?.bytes ?? 0;
  }

  #makeTag = (key: string, state: string) =>
    `W/"${hash('sha256', `${this.#build}\n${state}\n${key}`, 'base64url').slice(0, 27)}"`;

  #forget(kept: Kept, key: string): void {
    const of = this.#companies.get(kept.accountId);
    if (!of?.keys.delete(key)) return;
    of.bytes -= sizeOf(kept, key);
    if (of.keys.size === 0) this.#companies.delete(kept.accountId);
  }
}

/** In memory, text outside Latin-1 takes two bytes a character; most has some. The body takes one more. */
const sizeOf = ({ answer, state }: Kept, key: string) =>
  3 * answer.text.length + 2 * (state.length + key.length) + OVERHEAD;
