// Exact decimals, where PostgreSQL does not compute them.

/** `units` x 10^-`scale` */
export interface Decimal {
  units: bigint;
  scale: number;
}

/** Reads a decimal as PostgreSQL writes it. */
export function decimal(text: string): Decimal {
  const [, whole, fraction = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) throw new Error(`Not a decimal: ${text}`);
  return { units: BigInt(whole + fraction), scale: fraction.length };
}

export const times = (one: Decimal, other: Decimal): Decimal => ({
  units: one.units * other.units,
  scale: one.scale + other.scale,
});

/** `per` percent of `value`. */
export const percentOf = (value: Decimal, per: Decimal): Decimal => {
  const { units, scale } = times(value, per);
  return { units, scale: scale + 2 };
};

export const negated = ({ units, scale }: Decimal): Decimal => ({ units: -units, scale });

export const sum = (values: readonly Decimal[]): Decimal =>
  values.reduce(
    (total, value) => {
      const scale = Math.max(total.scale, value.scale);
      return { units: rounded(total, scale).units + rounded(value, scale).units, scale };
    },
    { units: 0n, scale: 0 },
  );

/** With `scale` decimals; half is rounded away from zero, like `numeric`. */
export function rounded({ units, scale: had }: Decimal, scale: number): Decimal {
  if (had <= scale) return { units: units * 10n ** BigInt(scale - had), scale };
  const unit = 10n ** BigInt(had - scale);
  return { units: (units < 0n ? units - unit / 2n : units + unit / 2n) / unit, scale };
}

/** Its text, with at least and at most so many decimals. */
export function literal(value: Decimal, least: number, most: number): string {
  const { units, scale } = rounded(value, Math.min(Math.max(value.scale, least), most));
  const digits = `${units < 0n ? -units : units}`.padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits
    .slice(digits.length - scale)
    .replace(/0+$/, '')
    .padEnd(least, '0');
  return `${units < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`;
}
