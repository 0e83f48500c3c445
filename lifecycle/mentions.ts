// Finds mentions of a person in texts: e-mail, phone in its usual spellings, tax id, full name or address. Case and accents do not
// matter. HTML is searched as the reader sees it: character references are decoded and tags are skipped.
import { DecodingMode, HtmlEntityDecoder } from 'entities/decode';
import { emailKeys, phoneKey, taxKey } from '../platform/text.ts';

/** What to search for. Empty values are ignored. */
export interface Person {
  /** Full names: `Ana García Pons`. */
  names: readonly string[];
  /** Names with only some of the surnames. If another surname follows, it is a different person. */
  shortNames: readonly string[];
  emails: readonly string[];
  phones: readonly string[];
  taxIds: readonly string[];
  addresses: readonly string[];
}

/** Replaces each mention. */
export const ANONYMOUS = '[anónimo]';

const SHORTEST_PHONE = 7;
const SHORTEST_TAX_ID = 7;
const SHORTEST_ADDRESS = 8;

/**
 * Returns a function that removes a person from a text; it returns undefined if the text does not mention them. Names of a single
 * word are not searched for: they are too common.
 */
export function withoutMentions(person: Person): (text: string) => string | undefined {
  const names = filled(person.names).map((name) => wordsOf(name));
  const patterns = [
    ...filled(person.emails).flatMap(emailPattern),
    ...filled(person.phones).flatMap(phonePattern),
    ...filled(person.taxIds).flatMap(taxPattern),
    // Longest first, so that no part of a name is left over.
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
    if (MARKUP.test(text)) {
      // First inside tags (`href="mailto:..."`), then the text between them.
      const inTags = text.replace(TAGS, (tag) => withoutMatches(found, tag, readAs(tag, { tags: true })));
      const all = withoutMatches(found, inTags, readAs(inTags, { tags: false }));
      return all === text ? undefined : all;
    }
    const plain = text.normalize('NFD');
    const replaced = plain.replace(found, ANONYMOUS);
    return replaced === plain ? undefined : replaced.normalize('NFC');
  };
}

/** Soft hyphens and zero-width characters: invisible, and possible anywhere in a word. */
const UNSEEN = /[\u00ad\u200b-\u200d\u2060\ufeff]/;
const MARKUP = new RegExp(`[<&]|${UNSEEN.source}`);
const TAG = /<[/!]?([a-z][a-z\d]*)[^<>]*>/iy;
const TAGS = new RegExp(TAG, 'gi');
/** Tags that separate words. */
const BREAKS =
  /^(?:address|article|aside|blockquote|br|dd|div|dl|dt|fieldset|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|t[dhr]|table|tbody|tfoot|thead|ul)$/i;

/** The visible text, and the source range of each of its code units: from `starts` (inclusive) to `ends` (exclusive). */
interface Reading {
  seen: string;
  starts: number[];
  ends: number[];
}

/** Reads text that may be HTML. `tags`: keep the tags as text. */
function readAs(source: string, { tags }: { tags: boolean }): Reading {
  const reading: Reading = { seen: '', starts: [], ends: [] };
  const add = (text: string, start: number, end: number) => {
    if (UNSEEN.test(text)) return;
    const plain = text.normalize('NFD');
    reading.seen += plain;
    for (let unit = 0; unit < plain.length; unit++) {
      reading.starts.push(start);
      reading.ends.push(end);
    }
  };
  let decoded = '';
  const decoder = new HtmlEntityDecoder((unit) => {
    decoded += String.fromCodePoint(unit);
  });
  for (let at = 0; at < source.length; ) {
    const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
    let end = at + character.length;
    if (character === '<' && !tags) {
      TAG.lastIndex = at;
      const [tag, name = ''] = TAG.exec(source) ?? [];
      if (tag !== undefined) {
        end = at + tag.length;
        // The break has an empty source range, so a match can span it and the tag stays.
        if (BREAKS.test(name)) add(BREAK, end, end);
        at = end;
        continue;
      }
    }
    decoded = '';
    if (character === '&') {
      decoder.startEntity(DecodingMode.Legacy);
      const length = decoder.write(source, at + 1);
      end = at + Math.max(1, length < 0 ? decoder.end() : length);
    }
    add(decoded === '' ? character : decoded, at, end);
    at = end;
  }
  return reading;
}

/** The source with every match in its reading replaced. Tags between the characters of a mention stay. */
function withoutMatches(found: RegExp, source: string, { seen, starts, ends }: Reading): string {
  let [result, copied] = ['', 0];
  for (const { index, 0: match } of seen.matchAll(found)) {
    let mark = ANONYMOUS;
    for (let unit = index; unit < index + match.length; unit++) {
      const [start = 0, end = 0] = [starts[unit], ends[unit]];
      if (start < copied) continue; // Same source character: a letter and its accent.
      const between = source.slice(copied, start);
      // Between two characters of a mention there are only tags, which stay, and invisible characters, which go.
      result += mark === '' ? (between.match(TAGS) ?? []).join('') : between + mark;
      [mark, copied] = ['', end];
    }
  }
  return result + source.slice(copied);
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

/** A pattern for the text in which each letter may have any accents. */
const anyAccents = (text: string) =>
  Array.from(bare(text), (letter) => (/\p{L}/u.test(letter) ? `${letter}\\p{M}*` : RegExp.escape(letter))).join('');

const WORD_BEFORE = '(?<![\\p{L}\\p{N}]\\p{M}*)';
const WORD_AFTER = '(?![\\p{L}\\p{N}\\p{M}])';

/** Marks the end of a paragraph, cell or line of HTML. As whitespace, it may occur in a name; a word after it is no further surname. */
const BREAK = '\u2029';
const NO_SURNAME_AFTER = `(?!(?:(?!${BREAK})[\\s,])+(?-i:\\p{Lu}))`;
const joined = (words: readonly string[]) => WORD_BEFORE + words.map(anyAccents).join('[\\s,]+') + WORD_AFTER;

/** First name first, and surnames first with or without a comma. */
const namePatterns = (words: readonly string[]): string[] =>
  words.map((_, index) => joined([...words.slice(index), ...words.slice(0, index)]));

const emailPattern = (email: string) =>
  emailKeys(email).map((key) => `(?<![\\p{L}\\p{N}.+_-])${anyAccents(key)}(?![\\p{L}\\p{N}_-])`);

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
