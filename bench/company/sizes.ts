// The sizes of the measured company. Deterministic: the same scale makes the same records.

export interface Sizes {
  days: number;
  people: number;
  timeEntries: number;
  products: number;
  clients: number;
  suppliers: number;
  projects: number;
  /** With three lines each; half are sales, half purchases. */
  documents: number;
  opportunities: number;
  contacts: number;
  recurrings: number;
}

export const FIRST_DAY = Temporal.PlainDate.from('2023-01-01');
const DAYS = 1461;

/** `scale` 1 is the company of the targets; 0.1 has a tenth of everything except the length of time. */
export function sizesAt(scale: number): Sizes {
  const of = (full: number, least: number) => Math.max(Math.round(full * scale), least);
  return {
    days: DAYS,
    people: of(200, 4),
    timeEntries: of(1_000_000, 2_000),
    products: of(10_000, 100),
    clients: of(20_000, 100),
    suppliers: of(500, 10),
    projects: of(2_000, 20),
    documents: of(66_668, 120),
    opportunities: of(100_000, 100),
    contacts: of(10_000, 100),
    recurrings: of(10_000, 20),
  };
}

/** The day `days` after the first, `YYYY-MM-DD`. */
export const day = (days: number) => FIRST_DAY.add({ days }).toString();

/** A number with leading zeros. */
export const padded = (number: number, digits: number) => String(number).padStart(digits, '0');

/** The element at this index, wrapping around. */
export function around<T>(list: readonly [T, ...T[]], index: number): T {
  return list[index % list.length] ?? list[0];
}

/** The results of `make` for 1 to `count`. */
export function* each<T>(count: number, make: (n: number) => T): Generator<T> {
  for (let n = 1; n <= count; n++) yield make(n);
}
