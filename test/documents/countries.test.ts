// Countries as people write them.
import { expect, test } from 'vitest';
import { countryOf, isInUnion, threeLetters, vatPrefix } from '../../documents/countries.ts';

test.each([
  ['', 'ES'],
  ['  ', 'ES'],
  ['es', 'ES'],
  ['ESP', 'ES'],
  ['ESPAÑA', 'ES'],
  ['Espanya', 'ES'],
  ['Spain', 'ES'],
  ['Alemania', 'DE'],
  ['Deutschland', 'DE'],
  ['EE. UU.', 'US'],
  ['UK', 'GB'],
  ['EL', 'GR'],
  ['Holanda', 'NL'],
  ['Costa de Marfil', 'CI'],
  ['Côte d’Ivoire', 'CI'],
  ['Atlántida', undefined],
  ['🇪🇸', undefined],
])('%j is %s', (text, code) => {
  expect(countryOf(text)).toBe(code);
});

test('each has a code of three letters; those of the Union prefix their VAT numbers', () => {
  expect([threeLetters('ES'), threeLetters('GB'), threeLetters('XX')]).toEqual(['ESP', 'GBR', undefined]);
  expect(['ES', 'GB', 'GR'].map(isInUnion)).toEqual([true, false, true]);
  expect(['ES', 'GR'].map(vatPrefix)).toEqual(['ES', 'EL']);
});
