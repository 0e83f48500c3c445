// Checks that several collections share.
import type { Wrong } from './fields.ts';

/** Reports a range of dates that ends before it starts. */
export function inOrder<Name extends string>(
  record: Readonly<Record<Name, string | null>>,
  start: Name,
  end: Name,
  wrong: Wrong,
): void {
  const [from, until] = [record[start], record[end]];
  if (from !== null && until !== null && until < from) wrong(end, `es anterior a ${start}`);
}

// Exact decimals as whole millionths, without binary floating point.
const MILLION = 1_000_000n;
/** A number of the file (at most 6 decimals) in millionths. */
export const millionths = (value: number): bigint => BigInt(value.toFixed(6).replace('.', ''));

/** `price` plus `percent` of it, rounded half away from zero to 2 decimals. */
export function plusPercent(price: number, percent: number): number {
  const scaled = millionths(price) * (100n * MILLION + millionths(percent));
  const unit = MILLION * MILLION;
  const [size, sign] = scaled < 0n ? [-scaled, -1n] : [scaled, 1n];
  return Number(sign * ((size + unit / 2n) / unit)) / 100;
}
