// Parsers of the options of `albaran account`.
import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { isTimeZone } from '../../account-file/local-times.ts';
import { type Picture, readLogo } from '../../documents/company-logo.ts';
import { isColor } from '../../documents/pdf/color.ts';
import { isSeries } from '../../documents/series.ts';
import { REGISTER_MODES, type RegisterMode, VAT_SCHEMES } from '../../entities/values.ts';
import { isEmail, isIban, withoutSpaces } from '../../platform/text.ts';

export function slug(text: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected lower case letters, digits and dashes, 63 at most.');
}

export function callsPerMinute(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number of calls, 1 or more.');
}

export function onOrOff(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new InvalidArgumentError('Expected on or off.');
}

export function timeZone(text: string): string {
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError('Expected the IANA name of a time zone, such as Europe/Madrid.');
}

export function email(text: string): string {
  if (text === '' || isEmail(text)) return text.trim();
  throw new InvalidArgumentError('Expected an e-mail address.');
}

export function iban(text: string): string {
  const written = withoutSpaces(text);
  if (written === '' || isIban(written)) return written;
  throw new InvalidArgumentError('Expected an IBAN with its check digits.');
}

/** '' for none: commander takes null for it. */
export function logo(path: string): Picture | '' {
  if (path === '') return path;
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : `It can't be read: ${path}`);
  }
  const picture = readLogo(bytes);
  if ('en' in picture) throw new InvalidArgumentError(`${path}: ${picture.en}.`);
  return picture;
}

export function color(text: string): string {
  if (text === '' || isColor(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Expected a colour, #rrggbb.');
}

/** '' for the general one, as for none of the others. */
export function vatScheme(text: string): (typeof VAT_SCHEMES)[number] | '' {
  const scheme = VAT_SCHEMES.find((scheme) => scheme === text);
  if (scheme || text === 'general' || text === '') return scheme ?? '';
  throw new InvalidArgumentError(`Expected general or ${VAT_SCHEMES.join(', ')}.`);
}

export function series(text: string): string {
  if (text === '' || isSeries(text)) return text;
  throw new InvalidArgumentError('Expected 1 to 10 capitals, digits, / or -, and no digit at the end.');
}

export function modeOrOff(text: string): RegisterMode | 'off' {
  const mode = REGISTER_MODES.find((mode) => mode === text);
  if (mode || text === 'off') return mode ?? 'off';
  throw new InvalidArgumentError(`Expected ${REGISTER_MODES.join(', ')} or off.`);
}
