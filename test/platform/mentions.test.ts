// Where a text mentions a person, and where it only looks as if.
import { describe, expect, test } from 'vitest';
import { type Person, withoutMentions } from '../../platform/mentions.ts';

const ana: Person = {
  names: ['Ana María García-Pons Ñúñez', 'Anita'],
  shortNames: ['Ana García'],
  emails: ['Ana.Garcia@example.com'],
  phones: ['+34 612 345 678', '961234567', '33'],
  taxIds: ['12.345.678-Z', ''],
  addresses: ['Calle Mayor 5, 3º'],
};
const without = withoutMentions(ana);

describe('a person is found', () => {
  test.each([
    ['Llamar a ana garcía mañana', 'Llamar a [anónimo] mañana'],
    ['ANA  GARCÍA.', '[anónimo].'],
    ['Ana García, y nadie más', '[anónimo], y nadie más'],
    ['Firma: Ana Maria Garcia-Pons Nuñez', 'Firma: [anónimo]'],
    ['García-Pons Ñúñez, Ana María (nueva)', '[anónimo] (nueva)'],
    ['Ana Mari\u0301a Garci\u0301a-Pons Ñúñez', '[anónimo]'],
    ['Escribir a ANA.GARCIA@EXAMPLE.COM.', 'Escribir a [anónimo].'],
    ['<a href="mailto:ana.garcia@example.com">correo</a>', '<a href="mailto:[anónimo]">correo</a>'],
    ['tel 612345678', 'tel [anónimo]'],
    ['612 34 56 78 / 96 123-45-67', '[anónimo] / [anónimo]'],
    ['(+34) 612.345.678', '([anónimo]'],
    ['0034612345678', '[anónimo]'],
    ['NIF ES12345678z, o 12.345.678 Z', 'NIF [anónimo], o [anónimo]'],
    ['Entrega en calle  mayor 5, 3º', 'Entrega en [anónimo]'],
    ['{"nombre":"Ana García","movil":"612345678"}', '{"nombre":"[anónimo]","movil":"[anónimo]"}'],
    ['Señor: niño, ana garcía', 'Señor: niño, [anónimo]'],
  ])('in %s', (text, expected) => {
    expect(without(text)).toBe(expected);
  });
});

describe('nobody is found', () => {
  test.each([
    'Mariana García',
    'Ana Garcíaz',
    'Ana García Pérez',
    'Ana y García',
    'Anita viene',
    'anita',
    'mariana.garcia@example.com y ana.garcia@example.community',
    '9612345678, 1612345678901, 61234567',
    'AB12345678Z, 12345678ZA',
    'Calle Mayor 5',
    '33',
    '',
  ])('in %s', (text) => {
    expect(without(text)).toBeUndefined();
  });
});

test('of whom nothing is known, nothing is found', () => {
  const nobody = withoutMentions({
    names: ['', ' '],
    shortNames: [''],
    emails: [''],
    phones: ['-'],
    taxIds: [' '],
    addresses: [''],
  });
  expect(nobody('Ana García, ana@example.com')).toBeUndefined();
  expect(nobody('')).toBeUndefined();
});
