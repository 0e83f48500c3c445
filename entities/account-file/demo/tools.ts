// What every part of the demo company is made with: seeded randomness, text tables, dates as ISO strings.

/** A record of the account file, or an inner one, with its wire names. */
export type Row = Record<string, unknown>;

/** A source of randomness that repeats itself for the same seed. */
export interface Random {
  /** A whole number, both ends included. */
  int(min: number, max: number): number;
  /** A fraction, `min` included. */
  real(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  digits(count: number): string;
}

/** mulberry32 over the seed and the name of an area, so that a change in one area leaves the others as they were. */
export function seeded(seed: number, area: string): Random {
  let state = seed ^ 0x811c9dc5;
  for (const letter of area) state = Math.imul(state ^ letter.charCodeAt(0), 16777619);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    int,
    real: (min, max) => min + next() * (max - min),
    chance: (probability) => next() < probability,
    pick: (list) => at(list, int(0, list.length - 1)),
    digits: (count) => range(count, () => String(int(0, 9))).join(''),
  };
}

/** `count` values made from 0, 1, 2... */
export const range = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** An element by its place, going round at either end. */
export function at<T>(list: readonly T[], index: number): T {
  if (list.length === 0) throw new RangeError('Nothing to choose from');
  return list.at(index % list.length) as T;
}

/** Items separated by bars or line ends. */
export const list = (text: string): string[] => text.split(/[|\n]/).flatMap((item) => item.trim() || []);

/** Rows of cells: a line each, separated by bars. */
export const table = (text: string): string[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

/** Catalogue records from their titles: `prefix-1`, `prefix-2`... */
export const titled = (prefix: string, titles: readonly string[]): (Row & { ref: string })[] =>
  titles.map((titulo, index) => ({ ref: `${prefix}-${index + 1}`, titulo }));

export const pad = (value: number, width: number): string => String(value).padStart(width, '0');

/** Lower-case ASCII words, for e-mail addresses. */
export const slug = (text: string, joint = '.'): string =>
  at(text.split(/[,(]/), 0)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g)
    ?.join(joint) ?? '';

/** The amount in euros, from whole cents. */
export const euros = (cents: number): number => cents / 100;

/** A date so many days later (or earlier). */
export const plus = (date: string, days: number): string => Temporal.PlainDate.from(date).add({ days }).toString();

/** A day of the month, so many months from the date's; the last one where the month is shorter. */
export const monthDay = (date: string, months: number, day: number): string =>
  Temporal.PlainDate.from(`${date.slice(0, 7)}-01`)
    .add({ months })
    .with({ day })
    .toString();

export const daysBetween = (start: string, end: string): number =>
  Temporal.PlainDate.from(start).until(Temporal.PlainDate.from(end)).days;

/** A date in the range, both ends included; the start where the range is empty. */
export const dateIn = (random: Random, start: string, end: string): string =>
  plus(start, random.int(0, Math.max(0, daysBetween(start, end))));

/** An instant in office hours. */
export const instant = (random: Random, date: string): string =>
  `${date} ${pad(random.int(8, 18), 2)}:${pad(random.int(0, 59), 2)}:${pad(random.int(0, 59), 2)}`;

export const earlier = (a: string, b: string): string => (a < b ? a : b);
export const later = (a: string, b: string): string => (a > b ? a : b);
