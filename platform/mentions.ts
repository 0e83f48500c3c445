// Where a text mentions a person: by e-mail, by phone in its written forms, by tax id, by full name or by address; in any case,
// with or without accents.
import { emailKey, phoneKey, taxKey } from './text.ts';

/** What a person is known by. Empty values count as none. */
export interface Person {
  /** In each form it is written: `Ana García Pons`. */
  names: readonly string[];
  /** With some of the surnames only: it is somebody else's where another surname follows. */
  shortNames: readonly string[];
  emails: readonly string[];
  phones: readonly string[];
  taxIds: readonly string[];
  addresses: readonly string[];
}

/** What stands where a person was mentioned. */
export const ANONYMOUS = '[anónimo]';

const SHORTEST_PHONE = 7;
const SHORTEST_TAX_ID = 7;
const SHORTEST_ADDRESS = 8;

/**
 * Takes a person out of texts: the text without them, or undefined where they are not in it. A name of one word is not
 * looked for, since it may be anybody's.
 */
export function withoutMentions(person: Person): (text: string) => string | undefined {
  const names = filled(person.names).map((name) => wordsOf(name));
  const patterns = [
    ...filled(person.emails).map(emailPattern),
    ...filled(person.phones).flatMap(phonePattern),
    ...filled(person.taxIds).flatMap(taxPattern),
    // The longest first, so that nothing of a name stays behind.
    ...names
      .filter((words) => words.length > 1)
      .sort((one, other) => other.length - one.length)
      .flatMap(namePatterns),
    ...filled(person.shortNames).map((name) => joined(wordsOf(name)) + NO_SURNAME_AFTER),
    ...filled(person.addresses).flatMap(addressPattern),
  ];
  const found = patterns.length > 0 ? new RegExp(patterns.join('|'), 'giu') : undefined;
  return (text) => {
    if (!found) return undefined;
    const plain = text.normalize('NFD');
    const replaced = plain.replace(found, ANONYMOUS);
    return replaced === plain ? undefined : replaced.normalize('NFC');
  };
}

const filled = (texts: readonly string[]) => [
  ...new Set(texts.map((text) => text.trim()).filter((text) => text !== '')),
];

const bare = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '');
const wordsOf = (text: string) =>
  bare(text)
    .toLowerCase()
    .split(/[\s,]+/u)
    .filter((word) => word !== '');

/** The text, each letter with whatever accents. */
const anyAccents = (text: string) =>
  Array.from(bare(text), (letter) => (/\p{L}/u.test(letter) ? `${letter}\\p{M}*` : RegExp.escape(letter))).join('');

const WORD_BEFORE = '(?<![\\p{L}\\p{N}]\\p{M}*)';
const WORD_AFTER = '(?![\\p{L}\\p{N}\\p{M}])';

const NO_SURNAME_AFTER = '(?![\\s,]+(?-i:\\p{Lu}))';
const joined = (words: readonly string[]) => WORD_BEFORE + words.map(anyAccents).join('[\\s,]+') + WORD_AFTER;

/** First names first, and surnames first with a comma or without. */
const namePatterns = (words: readonly string[]): string[] =>
  words.map((_, index) => joined([...words.slice(index), ...words.slice(0, index)]));

const emailPattern = (email: string) =>
  `(?<![\\p{L}\\p{N}.+_-])${anyAccents(emailKey(email) ?? '')}(?![\\p{L}\\p{N}_-])`;

function phonePattern(phone: string): string[] {
  const digits = (phoneKey(phone) ?? '').replace(/^00/, '');
  if (digits.length < SHORTEST_PHONE) return [];
  const apart = '[\\s.()\\/·-]{0,3}';
  return [`(?<!\\d)(?:(?:\\+|00)${apart})?(?:34${apart})?${Array.from(digits).join(apart)}(?!\\d)`];
}

function taxPattern(taxId: string): string[] {
  const key = taxKey(taxId) ?? '';
  if (key.length < SHORTEST_TAX_ID) return [];
  const apart = '[\\s.-]{0,2}';
  return [`${WORD_BEFORE}(?:ES${apart})?${Array.from(key, RegExp.escape).join(apart)}${WORD_AFTER}`];
}

function addressPattern(address: string): string[] {
  if (address.length < SHORTEST_ADDRESS) return [];
  return [WORD_BEFORE + address.split(/\s+/u).map(anyAccents).join('\\s+') + WORD_AFTER];
}
