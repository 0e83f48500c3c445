// Amounts, dates and accounts as Spain writes them. Amounts are exact decimals as text and never become floating point.

const NBSP = '\u00a0';

interface Decimal {
  units: bigint;
  scale: number;
}

function read(text: string): Decimal {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) throw new Error(`Not a decimal: ${text}`);
  return { units: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length };
}

const at = ({ units, scale }: Decimal, wanted: number) => units * 10n ** BigInt(wanted - scale);

/** The sum of amounts, as text. */
export function sum(texts: readonly string[]): string {
  const parts = texts.map(read);
  const scale = Math.max(0, ...parts.map((part) => part.scale));
  const units = parts.reduce((total, part) => total + at(part, scale), 0n);
  const digits = `${units < 0n ? -units : units}`.padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${units < 0n ? '-' : ''}${whole}${scale > 0 ? `.${digits.slice(-scale)}` : ''}`;
}

export const negated = (text: string) => (text.startsWith('-') ? text.slice(1) : `-${text}`);

export const isZero = (text: string) => read(text).units === 0n;

/** `1234.5` -> `1.234,50`: at least `places` decimals, and more where they are not zeros. */
export function decimal(text: string, places = 0): string {
  const { units } = read(text);
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const decimals = fraction.replace(/0+$/, '').padEnd(places, '0');
  const grouped = whole.replace(/^0+(?=\d)/, '').replace(/\B(?=(\d{3})+$)/g, '.');
  return `${units < 0n ? '-' : ''}${grouped}${decimals && `,${decimals}`}`;
}

/** `1234.5` -> `1.234,50 €` */
export const euros = (text: string) => `${decimal(text, 2)}${NBSP}€`;

/** `21.00` -> `21 %` */
export const percent = (text: string) => `${decimal(text)}${NBSP}%`;

/** `2026-11-22` -> `22/11/2026` */
export const day = (date: string) => date.split('-').reverse().join('/');

/** In groups of four, as it is printed. ISO 13616 */
export const iban = (text: string) =>
  text
    .replace(/\s/g, '')
    .toUpperCase()
    .replace(/(.{4})(?=.)/g, `$1${NBSP}`);
