// Exact decimals outside PostgreSQL. That they are rounded as PostgreSQL does is in amounts.test.ts.
import { expect, test } from 'vitest';
import { decimal, literal, negated, percentOf, rounded, sum } from '../../platform/decimal.ts';

test.each([
  ['12.5', 2, 8, '12.50'],
  ['12', 0, 0, '12'],
  ['12.500', 0, 3, '12.5'],
  ['-0.005', 2, 2, '-0.01'],
  ['0.004', 2, 2, '0.00'],
  ['0.123456789', 2, 8, '0.12345679'],
  ['99999999999999999999.99', 2, 2, '99999999999999999999.99'],
])('%s with %i to %i decimals is %s', (text, least, most, written) => {
  expect(literal(decimal(text), least, most)).toBe(written);
});

test('sums, percentages and signs are exact', () => {
  expect(literal(sum(['0.1', '0.2', '-1'].map(decimal)), 0, 20)).toBe('-0.7');
  expect(literal(sum([]), 2, 2)).toBe('0.00');
  expect(literal(rounded(percentOf(decimal('112.50'), decimal('5.2')), 2), 2, 2)).toBe('5.85');
  expect(literal(negated(decimal('0.00')), 2, 2)).toBe('0.00');
  expect(() => decimal('1e3')).toThrow('Not a decimal: 1e3');
});
