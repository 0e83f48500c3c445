import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowsOf } from '../../bridges/mcp/rows.ts';
import { callOperation, operations } from '../../bridges/operations.ts';
import { JsonText, jsonText } from '../../platform/json-text.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { startServer, TestClock } from '../helpers/world.ts';

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

test('a page of a list knows its number of records, which is that of its text', async () => {
  await using server = await startServer({ clock: new TestClock(EXAMPLE_NOW), quotaPerMinute: 1_000_000 });
  const { 'x-api-key': key, 'x-api-secret': secret } = (
    await server.company([...exampleRecords], { cuenta: exampleAccount })
  ).headers;
  const known: string[] = [];
  for (const operation of operations.filter(({ input }) => 'cursor' in input.shape)) {
    const read = (more: object) => {
      const credentials = { key, secret, address: '' };
      const door = 'v1' as const;
      const call = { service: server.service, door, requestId: 'rows', credentials, idempotencyKeys: [], headers: {} };
      return callOperation(operation, call, { ...examples[operation.path], ...more });
    };
    const check = async (more: object) => {
      const { text, rows } = await read(more);
      if (rows !== undefined) {
        expect(rows, `${operation.path} ${JSON.stringify(more)}`).toBe(await rowsOf(new JsonText(text)));
        known.push(operation.path);
      }
      return JSON.parse(text).cursor;
    };
    await check({});
    await check({ pagina: 9 });
    const cursor = await check({ por_pagina: 1 });
    if (cursor) await check({ por_pagina: 1, cursor });
  }
  expect(new Set(known).size).toBeGreaterThan(20);
});
