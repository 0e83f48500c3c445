// Ids for records that are about to be written. Known before the record is, they let a write answer without waiting for the database.
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { KINDS, type Kind } from './ids.ts';

/**
 * Ids are drawn one by one, so that numbers follow the order in which records are written, whichever process writes them. Where
 * several calls wait for one at once they are drawn in blocks, which are used for a tenth of a second at most.
 */
const BLOCK_MS = 100;
const FEW = 2;
const FOR_EACH = 4;

class Drawn {
  ids: number[] = [];
  /** How many the last block had, and when it came. */
  size = 1;
  at = 0;
  waiting = 0;
  drawing: Promise<void> | undefined;

  get fresh(): boolean {
    return performance.now() - this.at < BLOCK_MS;
  }
}

export class NewIds {
  readonly #database: Database;
  readonly #kinds = new Map<Kind, Drawn>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** An id that no other record of this kind has or gets, in any company. ID-06 */
  async next(kind: Kind): Promise<number> {
    const drawn = this.#kinds.get(kind) ?? new Drawn();
    this.#kinds.set(kind, drawn);
    if (!drawn.fresh) drawn.ids = [];
    for (;;) {
      const id = drawn.ids.shift();
      if (id !== undefined) return id;
      drawn.waiting++;
      drawn.drawing ??= this.#draw(kind, drawn).finally(() => {
        drawn.drawing = undefined;
      });
      await drawn.drawing.finally(() => drawn.waiting--);
    }
  }

  async #draw(kind: Kind, drawn: Drawn): Promise<void> {
    const wanted = drawn.waiting > FEW ? drawn.waiting * FOR_EACH : 1;
    // A block that was used up in its time is followed by one like it.
    const size = drawn.fresh ? Math.max(wanted, drawn.size) : wanted;
    const { rows } = await sql<{ id: number }>`
      select nextval(${`${KINDS[kind].table}_id_seq`}::text::regclass) as id from generate_series(1, ${size}::int)`.execute(
      this.#database.service,
    );
    drawn.ids = rows.map(({ id }) => id);
    drawn.size = size;
    drawn.at = performance.now();
  }
}
