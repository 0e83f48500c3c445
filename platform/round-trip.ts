// Statements that go to PostgreSQL together. The protocol lets many be sent before one Sync, and their answers come in one piece. pg
// itself sends a Sync after each statement, and asks for the columns of a prepared one at each execution.
import pg from 'pg';
import { prepareValue } from 'pg/lib/utils.js';

/** What PostgreSQL answered to a statement. */
export interface Answer {
  rows: Record<string, unknown>[];
  /** How many rows it found or changed. */
  rowCount: number;
}

interface Statement {
  text: string;
  values: readonly unknown[];
  /** The name under which the connection keeps it prepared. Without one it is not kept. */
  name: string | undefined;
}

interface Sent {
  text: string;
  values: (Buffer | string | null)[];
  name: string;
  answer: PromiseWithResolvers<Answer>;
}

/** The columns of a statement's rows, and a row without values. */
interface Columns {
  each: readonly { name: string; read: (text: string) => unknown }[];
  empty: Record<string, null>;
}

// Database numbers are converted to JavaScript numbers; sums are computed in SQL. Dates and instants stay text.
const READERS = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, Number],
  [pg.types.builtins.DATE, (text) => text],
  [pg.types.builtins.TIMESTAMPTZ, (text) => text],
]);

/** How values are read. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => READERS.get(oid) ?? pg.types.getTypeParser(oid, format),
};

const NO_COLUMNS: Columns = { each: [], empty: {} };

const columnsOf = (fields: readonly pg.FieldDef[]): Columns => ({
  each: fields.map(({ name, dataTypeID }) => ({ name, read: types.getTypeParser(dataTypeID, 'text') })),
  empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
});

/** What each connection has prepared, by name. */
const preparedBy = new WeakMap<pg.Connection, Map<string, Columns>>();

/** The columns of prepared statements: the connections share those that are the same. */
const shared = new Map<string, Columns>();

/** What a statement fails with that PostgreSQL skipped: the code of statements in a failed transaction. */
const skipped = () =>
  Object.assign(new pg.DatabaseError('An earlier statement of the trip failed', 0, 'error'), { code: '25P02' });

/** Errors that are gone once the statement is prepared again: a migration changed its columns, or the connection has lost it. */
const OUTDATED = new Set<string | undefined>(['0A000', '26000']);

/**
 * Statements for pg's `client.query`. After one that fails PostgreSQL skips the others, which fail with 25P02, as statements do that
 * come later in a failed transaction. So statements of one trip belong to one transaction.
 */
export class RoundTrip implements pg.Submittable {
  readonly statements: Sent[] = [];
  readonly #onEnd: () => void;
  #prepared = new Map<string, Columns>();
  /** The statement that is being answered, and what has come of its answer. */
  #at = 0;
  #columns: Columns | undefined;
  #rows: Record<string, unknown>[] = [];
  #unreadable: unknown;

  /** `onEnd` is called once: when all is answered, or the first statement has failed. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Adds a statement, before the trip is sent. Throws for values that PostgreSQL can't be given. */
  add({ text, values, name = '' }: Statement): Promise<Answer> {
    const answer = Promise.withResolvers<Answer>();
    this.statements.push({ text, values: values.map(prepareValue), name, answer });
    return answer.promise;
  }

  /** Called by pg when it is this trip's turn to be sent. */
  submit(connection: pg.Connection): void {
    const prepared = preparedBy.get(connection) ?? new Map<string, Columns>();
    preparedBy.set(connection, prepared);
    this.#prepared = prepared;
    const here = new Set<string>();
    for (const { text, values, name } of this.statements) {
      const known = prepared.has(name) || here.has(name);
      if (!known) {
        if (name) {
          here.add(name);
          // It may be there, since an earlier trip that prepared it failed.
          connection.close({ type: 'S', name }, true);
        }
        connection.parse({ text, name, types: [] }, true);
      }
      connection.bind({ statement: name, values }, true);
      if (!known) connection.describe({ type: 'P' }, true);
      connection.execute(null, true);
    }
    connection.sync();
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    if (!this.#current.name) {
      this.#columns = columnsOf(fields);
      return;
    }
    const key = JSON.stringify(fields.map(({ name, dataTypeID }) => [name, dataTypeID]));
    this.#columns = shared.get(key) ?? columnsOf(fields);
    shared.set(key, this.#columns);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#columns ??= this.#prepared.get(this.#current.name) ?? NO_COLUMNS;
    const { each, empty } = this.#columns;
    const row: Record<string, unknown> = { ...empty };
    try {
      if (fields.length !== each.length) throw new Error(`A row of ${fields.length} columns, not ${each.length}`);
      for (let index = 0; index < each.length; index++) {
        const column = each[index];
        const text = fields[index];
        if (column && text != null) row[column.name] = column.read(text);
      }
    } catch (error) {
      this.#unreadable ??= error;
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { text: string }): void {
    const { name, answer } = this.#current;
    if (name && !this.#prepared.has(name)) this.#prepared.set(name, this.#columns ?? NO_COLUMNS);
    const [rows, unreadable] = [this.#rows, this.#unreadable];
    this.#at++;
    this.#columns = undefined;
    this.#rows = [];
    this.#unreadable = undefined;
    if (unreadable) answer.reject(unreadable);
    // `INSERT 0 3`, `SELECT 3`; none of `BEGIN`.
    else answer.resolve({ rows, rowCount: Number(text.slice(text.lastIndexOf(' ') + 1)) || 0 });
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  /** A statement failed, or the connection did. */
  handleError(error: Error): void {
    const [failed, ...others] = this.statements.slice(this.#at);
    const ofStatement = error instanceof pg.DatabaseError;
    if (ofStatement && OUTDATED.has(error.code)) this.#prepared.delete(failed?.name ?? '');
    failed?.answer.reject(error);
    for (const { answer } of others) answer.reject(ofStatement ? skipped() : error);
    this.#onEnd();
  }

  handleReadyForQuery(): void {
    this.#onEnd();
  }

  get #current(): Sent {
    const current = this.statements[this.#at];
    if (!current) throw new Error('An answer to a statement that was not sent');
    return current;
  }
}
