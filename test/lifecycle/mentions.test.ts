// Where a text mentions a person, and where it only seems to.
import { decodeHTML, encodeHTML } from 'entities';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Person, withoutMentions } from '../../lifecycle/mentions.ts';

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

describe('a person is found in HTML as its reader sees it, and the rest of it stays as it was', () => {
  test.each([
    ['<p>Llamar a Ana Garc&iacute;a &amp; hijos</p>', '<p>Llamar a [anónimo] &amp; hijos</p>'],
    ['<b>Ana</b> Garc&iacutea', '<b>[anónimo]</b>'],
    ['A<i class="x">n</i>a Gar<b>c</b>&#237;a.', '[anónimo]<i class="x"></i><b></b>.'],
    ['Ana<br>Garc&#xED;a', '[anónimo]<br>'],
    ['<td>Ana Mar&iacute;a</td><td>Garc&iacute;a-Pons &Ntilde;&uacute;&ntilde;ez</td>', '<td>[anónimo]</td><td></td>'],
    ['<td>Ana García</td><td>Pedro</td>', '<td>[anónimo]</td><td>Pedro</td>'],
    ['Ana&nbsp;Garc&iacute;a', '[anónimo]'],
    ['Ana&#32;García, y Ana&Tab;García', '[anónimo], y [anónimo]'],
    ['A\u00adna Gar&shy;cía y A\u200bna García', '[anónimo] y [anónimo]'],
    ['ana.garcia&#64;example&period;com', '[anónimo]'],
    ['ana.garcia<wbr>@example.com', '[anónimo]<wbr>'],
    [
      '<a href="mailto:ana.garcia&commat;example.com">escr&iacute;bale</a>',
      '<a href="mailto:[anónimo]">escr&iacute;bale</a>',
    ],
    ['tel.&nbsp;612&nbsp;34<b>5</b>&nbsp;678', 'tel.&nbsp;[anónimo]<b></b>'],
    ['NIF&colon; 12&period;345&period;678-Z', 'NIF&colon; [anónimo]'],
    ['{"nota":"<p class=\\"x\\">Ana Garc&iacute;a</p>"}', '{"nota":"<p class=\\"x\\">[anónimo]</p>"}'],
    ['1 < 2 & Ana García > x', '1 < 2 & [anónimo] > x'],
  ])('%s', (text, expected) => {
    expect(without(text)).toBe(expected);
    expect(without(expected)).toBeUndefined();
  });

  test('nor is who is not there', () => {
    for (const text of [
      '<b>Mari</b>ana García',
      'Ana <b>y</b> Garc&iacute;a',
      '<p>Ana</p>',
      'Ana Garc&iacute;a P&eacute;rez',
      '<b>Ana García</b> Pérez',
    ]) {
      expect(without(text), text).toBeUndefined();
    }
  });

  /** An HTML letter of a typical editor. */
  const written = (letter: string) =>
    fc.constantFrom(
      letter,
      `&#${letter.codePointAt(0)};`,
      `&#x${letter.codePointAt(0)?.toString(16)};`,
      encodeHTML(letter),
      `<b>${letter}</b>`,
      `<span title="a &gt; b">${letter}</span>`,
      `&shy;${letter}`,
      `${letter}\u200b`,
      ...(letter === ' ' ? ['&nbsp;', '\u00a0', ' <br/> ', '</p><p>'] : []),
    );
  const around = fc.constantFrom(
    '',
    '<p>Obra &amp; reforma: ',
    '1 < 2, ',
    '{"a":"',
    '<!-- x -->',
    'Señor: ',
    '<ul><li>',
  );
  const mentions = ['Ana María García-Pons Ñúñez', 'Ana García', 'ana.garcia@example.com', '612345678'];

  test('however each letter is written: no letter of the person is left, and every tag and all around is', () => {
    const text = fc.record({
      before: around,
      mention: fc.constantFrom(...mentions).chain((mention) => fc.tuple(...Array.from(mention, written))),
      after: fc.constantFrom('', ' &eacute; &notareference; </p>', '. <i>fin</i>', '"}', ' & cía'),
    });
    fc.assert(
      fc.property(text, ({ before, mention, after }) => {
        const source = before + mention.join('') + after;
        const result = without(source) ?? '';
        expect(result.startsWith(before) && result.endsWith(after), result).toBe(true);
        const inside = result.slice(before.length, result.length - after.length);
        const tags = /<[^<>]*>/g;
        expect(inside.match(tags)).toEqual(mention.join('').match(tags));
        expect(decodeHTML(inside.replace(tags, '')).replace(/[\s\u00ad\u200b]/g, '')).toBe('[anónimo]');
        expect(without(result)).toBeUndefined();
      }),
    );
  });

  test('whatever else the text is, it is read without fault and changed only where the person is', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'<>&;#x1a"= /!é\u00ad', 'Ana García') }), (text) => {
        const result = without(text);
        const seen = decodeHTML(text.replace(/<[/!]?[a-z][^<>]*>/gi, '\u00ad')).replaceAll('\u00ad', '');
        if (result === undefined) expect(seen).not.toMatch(/(^|[^\p{L}\p{N}])Ana García(?![\p{L}\p{N}]|[\s,]+\p{Lu})/u);
        else expect(result).toContain('[anónimo]');
      }),
    );
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
