// Tax ids as the agency tells them apart: Spanish ones (NIF), VAT numbers of the European Union (NIF-IVA), and others with their country.
// A wrong control character is told here, as the agency refuses such a NIF only when the invoice is issued already.

const NIF_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE';
const ENTITY_LETTERS = 'JABCDEFGHI';

/** Without blanks and signs, in capitals, without the prefix ES of a Spanish VAT number. */
export const plainTaxId = (text: string): string =>
  text
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/^ES(?=.{9}$)/, '');

/** Whether a plain tax id is a Spanish one with its right control character: of a person, a foreigner (X, Y, Z) or an entity. */
export function isNif(id: string): boolean {
  const person = /^([XYZKLM]\d{7}|\d{8})([A-Z])$/.exec(id);
  if (person) {
    const [, number = '', letter] = person;
    const digits = number.replace(/^[XYZ]/, (first) => String('XYZ'.indexOf(first))).replace(/^[KLM]/, '');
    return NIF_LETTERS[Number(digits) % 23] === letter;
  }
  const entity = /^[ABCDEFGHJNPQRSUVW](\d{7})([0-9A-J])$/.exec(id);
  if (!entity) return false;
  const [, digits = '', control] = entity;
  const sum = [...digits].reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  const expected = (10 - (sum % 10)) % 10;
  return control === String(expected) || control === ENTITY_LETTERS[expected];
}

/** What follows the prefix in VAT numbers of the member states, and of Northern Ireland. */
const VAT_NUMBERS: Record<string, RegExp> = {
  AT: /^[A-Z\d]{9}$/,
  BE: /^\d{10}$/,
  BG: /^\d{9,10}$/,
  CY: /^[A-Z\d]{9}$/,
  CZ: /^\d{8,10}$/,
  DE: /^\d{9}$/,
  DK: /^\d{8}$/,
  EE: /^\d{9}$/,
  EL: /^\d{9}$/,
  FI: /^\d{8}$/,
  FR: /^[A-Z\d]{11}$/,
  HR: /^\d{11}$/,
  HU: /^\d{8}$/,
  IE: /^[A-Z\d]{8,9}$/,
  IT: /^\d{11}$/,
  LT: /^(\d{9}|\d{12})$/,
  LU: /^\d{8}$/,
  LV: /^\d{11}$/,
  MT: /^\d{8}$/,
  NL: /^[A-Z\d]{12}$/,
  PL: /^\d{10}$/,
  PT: /^\d{9}$/,
  RO: /^[1-9]\d{1,9}$/,
  SE: /^\d{12}$/,
  SI: /^\d{8}$/,
  SK: /^\d{10}$/,
  XI: /^([A-Z\d]{5}|[A-Z\d]{9}|[A-Z\d]{12})$/,
};

/** Whether a plain tax id is a VAT number of the European Union, written with the prefix of its state. */
export const isVatNumber = (id: string): boolean => VAT_NUMBERS[id.slice(0, 2)]?.test(id.slice(2)) ?? false;

/** The prefix of a country's VAT numbers. */
export const vatPrefixOf = (country: string): string => (country === 'GR' ? 'EL' : country);

/** The countries of the agency's list (CountryType2), without its places that are none. */
const COUNTRIES = new Set(
  `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AZ BA BB BD BE BF BG BH BI BJ BM BN BO BQ BR BS BT BV BW BY BZ CA
  CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FK FM FO FR
  GA GB GD GE GG GH GI GL GM GN GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO
  JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MG MH MK ML MM MN MO MP MR
  MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA
  RE RO RS RU RW SA SB SC SD SE SG SH SI SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO
  TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XB YE YT ZA ZM ZW
`
    .trim()
    .split(/\s+/),
);

const folded = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').trim().toLowerCase();

const NAMES = new Map(
  ['en', 'es'].flatMap((language) => {
    const names = new Intl.DisplayNames(language, { type: 'region' });
    return [...COUNTRIES].map((code) => [folded(names.of(code) ?? code), code] as const);
  }),
);

/** The code of a country that is written by its code, or by its Spanish or English name; undefined if it is none of them. */
export const countryOf = (text: string): string | undefined => {
  const code = text.trim().toUpperCase();
  return COUNTRIES.has(code) ? code : NAMES.get(folded(text));
};
