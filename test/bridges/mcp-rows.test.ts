import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowsOf } from '../../bridges/mcp/rows.ts';
import { jsonText } from '../../platform/json-text.ts';

const rows = (answer: unknown) => rowsOf(jsonText(answer));

test.each([
  [{ clientes: [{ a: 1 }, { a: 2 }], total: 2 }, 2],
  [{ clientes: [] }, 0],
  [{ cliente: { lineas: [{}, {}] } }, 1],
  [{ permisos: ['uno', 'dos'] }, 1],
  [{ a: [{ b: [{}, {}, {}] }, { c: '],[{' }], d: [{}] }, 3],
  [[{}, {}, {}], 3],
  [{ a: [{ text: 'an \\ and a " and \\"' }, { text: '\\' }] }, 2],
  [5, 1],
])('%j has %i rows', async (answer, number) => {
  expect(await rows(answer)).toBe(number);
});

test('a long answer is counted part by part, whatever its texts hold', async () => {
  const texts = fc.array(fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', ']', '{', '}', 'ñ') }), {
    maxLength: 50,
  });
  await fc.assert(
    fc.asyncProperty(texts, async (some) => {
      const filas = [...some, 'x'.repeat(100_000)].map((text) => ({ text, lista: [text, { text }] }));
      expect(await rows({ total: 1, filas })).toBe(filas.length);
    }),
    { numRuns: 30 },
  );
});
