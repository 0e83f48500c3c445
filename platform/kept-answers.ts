// Answers of reads that this process keeps, each with the company's state that it shows. One is given again only when the call's own
// transaction finds that state unchanged. JRN-04
import { hash } from 'node:crypto';
import type { QueryResult } from 'kysely';
import { CompiledQuery } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Late } from './database.ts';

/** What a company's answers stand on: its journal's epoch and newest change. */
const STATE = `select j.epoch || ' ' || j.n || ' ' || coalesce((
    select a.id from audit_records a where a.account_id = $1 order by a.id desc limit 1), 0) as state
  from journals j where j.account_id = $1`;

/**
 * The company's state as this transaction sees it; undefined where it has no journal yet. The version before wrote no journal but an
 * audit record with every write: so its number is a part of the state.
 */
export async function stateOf(late: Late, accountId: number): Promise<string | undefined> {
  const { rows }: QueryResult<unknown> = await late(() => CompiledQuery.raw(STATE, [accountId]));
  const [row] = rows;
  return typeof row === 'object' && row !== null && 'state' in row ? String(row.state) : undefined;
}

interface Kept {
  accountId: number;
  state: string;
  text: string;
  /** Whether it was found unchanged when it was last asked for: then the next call looks before it reads anew. */
  lasting: boolean;
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
  readonly #bytes = new Map<number, number>();
  readonly #build: string;

  /** `bytes`: how much it may keep; 0 keeps nothing. `build`: processes that answer alike have the same. */
  constructor(bytes: number, build: string) {
    this.#share = bytes * COMPANY_SHARE;
    this.#build = build;
    if (bytes === 0) return;
    this.#answers = new LRUCache({
      maxSize: bytes,
      sizeCalculation: sizeOf,
      dispose: (kept, key) => this.#count(kept.accountId, -sizeOf(kept, key)),
    });
  }

  /** Whether the next call of this key should look at the company's state before it reads. */
  isLasting(key: string): boolean {
    return this.#answers?.peek(key)?.lasting === true;
  }

  /** The answer that is kept of this state. */
  find(key: string, state: string): string | undefined {
    const kept = this.#answers?.get(key);
    if (!kept) return undefined;
    kept.lasting = kept.state === state;
    return kept.lasting ? kept.text : undefined;
  }

  /** Keeps an answer, unless the company would have more than its share. */
  keep(key: string, accountId: number, state: string, text: string): void {
    if (!this.#answers || key.length > LONGEST_KEY) return;
    const before = this.#answers.peek(key);
    const kept = { accountId, state, text, lasting: before?.state === state };
    this.#answers.delete(key);
    const size = sizeOf(kept, key);
    if ((this.#bytes.get(accountId) ?? 0) + size > this.#share) return;
    this.#count(accountId, size);
    this.#answers.set(key, kept);
  }

  /** The entity tag of what this key answers in this state. RFC 9110, section 8.8.3 */
  tagOf(key: string, state: string): string {
    return `W/"${hash('sha256', `${this.#build}\n${state}\n${key}`, 'base64url').slice(0, 27)}"`;
  }

  /** How much of a company's answers is kept, in bytes. */
  bytesOf(accountId: number): number {
    return this.#bytes.get(accountId) ?? 0;
  }

  #count(accountId: number, bytes: number): void {
    const sum = (this.#bytes.get(accountId) ?? 0) + bytes;
    if (sum > 0) this.#bytes.set(accountId, sum);
    else this.#bytes.delete(accountId);
  }
}

/** In memory, text outside Latin-1 takes two bytes a character; most has some. */
const sizeOf = ({ text, state }: Kept, key: string) => 2 * (text.length + state.length + key.length) + OVERHEAD;
