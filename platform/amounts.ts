// Checks a document's amounts before it is stored, computed exactly as the database does. W-08
import { type Decimal, percentOf, rounded, times } from './decimal.ts';

/** A line as sent: JSON numbers, read as the decimals that JSON shows. Percentages are out of 100. */
export interface AmountLine {
  quantity: number;
  unitPrice: number;
  /** Multiplies the unit price; default 1. */
  factor?: number | undefined;
  discount: number;
  vat: number;
  /** The equivalence surcharge, on the same base as VAT; default 0. */
  surcharge?: number | undefined;
}

/** Limit of a line's amount, in either direction. */
export const MAX_LINE = 1_000_000_000;
/** Limit of a document's sums, with and without VAT, in either direction. */
export const MAX_SUM = 100_000_000_000;

export const LINE_TOO_LARGE = 'el importe de la línea no puede pasar de ±1.000.000.000';
export const SUM_TOO_LARGE = 'la suma de los importes no puede pasar de ±100.000.000.000, sin IVA ni con él';

/** The indexes of lines beyond their limit, and whether a sum of all lines is, without or with VAT. */
export function beyondLimits(lines: readonly AmountLine[]): { lines: number[]; sum: boolean } {
  // Floating point is exact enough to accept amounts far below the limits. Only larger ones need the exact computation.
  const estimates = lines.map(({ quantity, unitPrice, factor = 1, discount }) =>
    Math.abs(quantity * unitPrice * factor * (1 - discount / 100)),
  );
  const total = lines.reduce(
    (sum, { vat, surcharge = 0 }, index) => sum + (estimates[index] ?? 0) * (1 + (Math.abs(vat) + surcharge) / 100),
    0,
  );
  if (total < MAX_SUM / 10 && estimates.every((amount) => amount < MAX_LINE / 10)) return { lines: [], sum: false };

  const cents = lines.map(lineCents);
  const rates = Map.groupBy(lines.keys(), (index) => `${lines[index]?.vat} ${lines[index]?.surcharge ?? 0}`);
  let [base, withVat] = [0n, 0n];
  for (const ofRate of rates.values()) {
    const sum = ofRate.reduce((amount, index) => amount + (cents[index] ?? 0n), 0n);
    const { vat = 0, surcharge = 0 } = lines[ofRate[0] ?? 0] ?? {};
    const fee = (percent: number) => centsOf(percentOf({ units: sum, scale: 2 }, decimalOf(percent)));
    base += sum;
    withVat += sum + fee(vat) + fee(surcharge);
  }
  return {
    lines: cents.flatMap((amount, index) => (isBeyond(amount, MAX_LINE) ? [index] : [])),
    sum: isBeyond(base, MAX_SUM) || isBeyond(withVat, MAX_SUM),
  };
}

/** The number as the decimal that JSON shows, which is what the database receives. */
function decimalOf(value: number): Decimal {
  const [digits = '0', exponent = '0'] = value.toExponential().split('e');
  const decimals = digits.split('.')[1]?.length ?? 0;
  return { units: BigInt(digits.replace('.', '')), scale: decimals - Number(exponent) };
}

const centsOf = (value: Decimal): bigint => rounded(value, 2).units;

function lineCents({ quantity, unitPrice, factor = 1, discount }: AmountLine): bigint {
  const { units, scale } = decimalOf(discount);
  // 1 - discount / 100. The scale of a discount such as 1e12 is negative.
  const places = Math.max(scale, 0);
  const left = { units: 10n ** BigInt(places + 2) - units * 10n ** BigInt(places - scale), scale: places + 2 };
  return centsOf([quantity, unitPrice, factor].map(decimalOf).reduce(times, left));
}

const isBeyond = (cents: bigint, limit: number) => (cents < 0n ? -cents : cents) > BigInt(limit) * 100n;
