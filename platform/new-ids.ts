// Ids for records that are about to be written. Known before the record is, they let a write answer without waiting for the database.
import { sql } from 'kysely';
import type { Db } from './database.ts';
import { KINDS, type Kind } from './ids.ts';

/**
 * Ids are drawn one by one, so that numbers follow the order in which records are written, whichever process writes them. Where more
 * than a FEW calls draw at once they are drawn in blocks, used for a tenth of a second at most; a block that is used up in that time
 * is followed by one twice as large.
 */
const BLOCK_MS = 100;
const FEW = 2;
const FIRST = 8;
const MOST = 64;

/** Ids of one kind. */
class Drawn {
  ids: number[] = [];
  /** How many the last draw had, and when it came. */
  size = 1;
  at = Number.NEGATIVE_INFINITY;
  /** Calls that are drawing. */
  drawing = 0;

  take(): number | undefined {
    if (!this.#fresh) this.ids = [];
    return this.ids.shift();
  }

  get next(): number {
    if (this.#fresh && this.size > 1) return Math.min(2 * this.size, MOST);
    return this.drawing > FEW ? FIRST : 1;
  }

  get #fresh(): boolean {
    return performance.now() - this.at < BLOCK_MS;
  }
}

export class NewIds {
  readonly #kinds = new Map<Kind, Drawn>();

  /**
   * An id that no other record of this kind has or gets, in any company. ID-06
   * The call's own transaction draws it: one that waited for another connection while holding its own could wait for ever.
   */
  async next(kind: Kind, db: Db): Promise<number> {
    const drawn = this.#kinds.get(kind) ?? new Drawn();
    this.#kinds.set(kind, drawn);
    const ready = drawn.take();
    if (ready !== undefined) return ready;
    drawn.drawing++;
    const size = drawn.next;
    const { rows } = await sql<{ id: number }>`
      select nextval(${`${KINDS[kind].table}_id_seq`}::text::regclass) as id from generate_series(1, ${size}::int)`
      .execute(db)
      .finally(() => drawn.drawing--);
    const [first, ...more] = rows.map(({ id }) => id);
    if (first === undefined) throw new Error(`The sequence of ${kind} gave no number`);
    drawn.ids.push(...more);
    drawn.size = size;
    drawn.at = performance.now();
    return first;
  }
}
