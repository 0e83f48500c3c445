// Helpers of the demo company: seeded random numbers, text tables, dates as ISO strings.

/** A record or inner record of the account file. */
export type Row = Record<string, unknown>;
/** A reproducible source of random numbers. */
export type Random = ReturnType<typeof seeded>;

/** mulberry32 over the seed and the name of an area, so that a change in one area does not affect the others. */
export function seeded(seed: number, area: string) {
  let state = seed ^ 0x811c9dc5;
  for (const letter of area) state = Math.imul(state ^ letter.charCodeAt(0), 16777619);
  const real = (min = 0, max = 1): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return min + (((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * (max - min);
  };
  /** A whole number, both ends included. */
  const int = (min: number, max: number): number => Math.floor(real(min, max + 1));
  const pick = <T>(items: readonly T[]): T => at(items, int(0, items.length - 1));
  const digits = (count: number): string => range(count, () => String(int(0, 9))).join('');
  return { real, int, pick, digits, chance: (probability: number): boolean => real() < probability };
}

/** `count` values made from 0, 1, 2... */
export const range = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** An element by its index, which wraps around. */
export function at<T>(items: readonly T[], index: number): T {
  if (items.length === 0) throw new RangeError('Nothing to choose from');
  return items.at(index % items.length) as T;
}

/** Items separated by bars or line ends. */
export const list = (text: string): string[] => text.split(/[|\n]/).flatMap((item) => item.trim() || []);

/** Rows of cells: rows separated by line ends or `//`, cells by bars. */
export const table = (text: string): string[][] =>
  text.split(/\n|\/\//).map((line) => line.split('|').map((cell) => cell.trim()));

/** Catalogue records from their titles, with refs `prefix-1`, `prefix-2`... */
export const titled = (prefix: string, titles: string, field = 'titulo'): (Row & { ref: string })[] =>
  list(titles).map((title, index) => ({ ref: `${prefix}-${index + 1}`, [field]: title }));

/** The records with the numeric ids 1, 2, 3... */
export const withIds = (rows: readonly Row[]): Row[] => rows.map((row, index) => ({ ...row, id: index + 1 }));

/** A number with leading zeros. */
export const pad = (value: number, width = 2): string => String(value).padStart(width, '0');

/** The words of a name in lower-case ASCII, for e-mail addresses. */
export const slug = (text: string, joint = '.'): string =>
  (at(text.split(','), 0).normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().match(/\w+/g) ?? []).join(joint);

/** The amount in euros, from whole cents. */
export const euros = (cents: number): number => cents / 100;

/** The date `days` later. */
export const plus = (date: string, days: number): string => Temporal.PlainDate.from(date).add({ days }).toString();

/** A day of the month that is `months` later than the date's, or the month's last day if it is shorter. */
export const monthDay = (date: string, months: number, day: number): string =>
  Temporal.PlainDate.from(`${date.slice(0, 7)}-01`)
    .add({ months })
    .with({ day })
    .toString();

/** How many days later the end is. */
export const daysBetween = (start: string, end: string): number =>
  Temporal.PlainDate.from(start).until(Temporal.PlainDate.from(end)).days;

/** The date at a fraction of the range. */
export const along = (start: string, end: string, part: number): string =>
  plus(start, Math.round(Math.max(0, daysBetween(start, end)) * part));

/** An instant in office hours. */
export const instant = ({ int }: Random, date: string): string =>
  `${date} ${pad(int(8, 18))}:${pad(int(0, 59))}:${pad(int(0, 59))}`;

/** The earlier of two dates. */
export const earlier = (a: string, b: string): string => (a < b ? a : b);
/** The later of two dates. */
export const later = (a: string, b: string): string => (a > b ? a : b);
