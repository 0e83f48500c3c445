// Normalised forms of texts for comparison. They are stored beside the original, so that the database can compare by equality.
import { domainToASCII, domainToUnicode } from 'node:url';

const folded = (text: string) =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();

/** The text that `busqueda` searches: lower case, without accents, one line for each non-empty text. PRO-01 */
export const searchable = (...texts: (string | null | undefined)[]) =>
  texts.flatMap((text) => (text ? [folded(text)] : [])).join('\n');

/** A LIKE pattern that finds `text` anywhere in a `searchable` column. */
export const containing = (text: string) => `%${searchable(text).replace(/[\\%_]/g, '\\$&')}%`;

/** A normalised tax id: upper case, without spaces, dots, dashes or a leading ES; null if empty. DLV-01 */
export const taxKey = (taxId: string | null | undefined) =>
  (taxId ?? '')
    .toUpperCase()
    .replace(/[\s.-]/g, '')
    .replace(/^ES/, '') || null;

/** Longest e-mail in characters: a local part of 64, `@` and a domain of 255. */
const MAX_EMAIL = 320;
// The unquoted forms, in any script: a local part, and labels separated by single dots.
const LOCAL_PART = String.raw`[^\s@\p{Cc}\p{Cs}()<>\[\]\\,;:"]+`;
const LABEL = String.raw`(?:[A-Za-z0-9_-]|[^\s\p{Cc}\p{Cs}\p{ASCII}])+`;
const EMAIL = new RegExp(`^${LOCAL_PART}@${LABEL}(?:\\.${LABEL})*$`, 'u');

/** Whether a trimmed text has the form of an e-mail address. Every door uses this rule. W-11 */
export const isEmail = (text: string) => text.trim().length <= MAX_EMAIL && EMAIL.test(text.trim());

/** An IBAN as it is stored: capital letters and digits. */
export const withoutSpaces = (iban: string) => iban.replace(/\s+/g, '').toUpperCase();

/** Whether a text is an IBAN, by its form and its check digits. ISO 13616 */
export function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text)) return false;
  const digits = (text.slice(4) + text.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(Number.parseInt(letter, 36)));
  return BigInt(digits) % 97n === 1n;
}

/**
 * A normalised e-mail: trimmed, lower case, composed (NFC), its domain in Unicode rather than `xn--`; null if empty. OPP-03, W-11
 */
export function emailKey(email: string | null | undefined): string | null {
  const address = (email ?? '').trim().normalize('NFC').toLowerCase();
  return withDomain(address, /\P{ASCII}|xn--/u, (domain) => domainToUnicode(domainToASCII(domain))) || null;
}

/** The keys under which an e-mail may be stored: its `emailKey`, and the same with the domain as `xn--`. */
export function emailKeys(email: string | null | undefined): string[] {
  const key = emailKey(email);
  return key === null ? [] : [...new Set([key, withDomain(key, /\P{ASCII}/u, domainToASCII)])];
}

/** Converts the domain of an address if it matches `needs`. Other domains stay: the conversions would read `1.2` as an IP address. */
function withDomain(address: string, needs: RegExp, form: (domain: string) => string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  return at > 0 && needs.test(domain) ? address.slice(0, at) + (form(domain) || domain) : address;
}

/** A normalised mobile: digits without the Spanish prefix; null if there are none. OPP-03 */
export const phoneKey = (phone: string | null | undefined) =>
  (phone ?? '')
    .replace(/\D/g, '')
    .replace(/^0034/, '')
    .replace(/^34(?=\d{9}$)/, '') || null;
