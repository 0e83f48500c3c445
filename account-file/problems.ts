// The problems of an account file: the first hundred, and how many there are.

const KEPT = 100;
/** Faulty records to remember, so that records naming them are not reported too. */
const REMEMBERED = 10_000;

/** One problem: the line, the record as far as known, the field, and what was expected. */
export interface Problem {
  line: number;
  coleccion: string;
  ref: string;
  campo: string;
  mensaje: string;
}

/** The file was refused and nothing was written. */
export class AccountFileError extends Error {
  /** The first 100 found, by line. */
  readonly problems: readonly Problem[];
  /** Number of problems in the whole file. */
  readonly total: number;

  constructor(problems: readonly Problem[], total: number) {
    const shown = problems.slice(0, 3).map(sentence).join('\n');
    super(`El fichero tiene ${total} ${total === 1 ? 'error' : 'errores'} y no se ha importado nada.\n${shown}`);
    this.name = 'AccountFileError';
    this.problems = problems;
    this.total = total;
  }
}

/** A problem as one line of text. */
export const sentence = ({ line, coleccion, ref, campo, mensaje }: Problem) => {
  const record = [coleccion, ref].filter(Boolean).join(' ');
  return `Línea ${line}: ${[record, campo, mensaje].filter(Boolean).join(': ')}`;
};

/** The position of a record in the file. */
export interface Position {
  line: number;
  coleccion: string;
  ref: string;
}

export class Problems {
  readonly #kept: Problem[] = [];
  readonly #faulty = new Set<string>();
  total = 0;

  add({ line, coleccion, ref }: Position, campo: string, mensaje: string): void {
    this.total++;
    if (this.#kept.length < KEPT) this.#kept.push({ line, coleccion, ref, campo, mensaje });
    if (ref && this.#faulty.size < REMEMBERED) this.#faulty.add(`${coleccion}\n${ref}`);
  }

  /** The current state, for `backTo` when a batch is tried again. */
  mark(): { total: number; kept: number } {
    return { total: this.total, kept: this.#kept.length };
  }

  backTo({ total, kept }: { total: number; kept: number }): void {
    this.total = total;
    this.#kept.length = kept;
  }

  /** Whether the file has this record, with a problem. */
  isFaulty(coleccion: string, ref: string): boolean {
    return this.#faulty.has(`${coleccion}\n${ref}`);
  }

  /** Throws if there are problems. */
  check(): void {
    if (this.total > 0) {
      throw new AccountFileError(
        this.#kept.toSorted((one, other) => one.line - other.line),
        this.total,
      );
    }
  }
}
