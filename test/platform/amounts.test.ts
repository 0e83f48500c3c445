import fc from 'fast-check';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { beyondLimits } from '../../platform/amounts.ts';

const pool = new pg.Pool({ connectionString: inject('databaseUrl'), max: 1 });
afterAll(() => pool.end());

const line = (unitPrice: number, more: object = {}) => ({ quantity: 1, unitPrice, discount: 0, vat: 0, ...more });

test('[W-08] a line is within ±10^9, and sums within ±10^11, with VAT and without, to the cent', () => {
  expect(beyondLimits([])).toEqual({ lines: [], sum: false });
  expect(beyondLimits([line(1e9), line(-1e9)])).toEqual({ lines: [], sum: false });
  expect(beyondLimits([line(1), line(1e9 + 0.01), line(-1e9 - 0.01)]).lines).toEqual([1, 2]);
  // Half a cent is rounded away from zero, as in the database.
  expect(beyondLimits([line(1e9 + 0.004999), line(1e9 + 0.005), line(-1e9 - 0.005)]).lines).toEqual([1, 2]);
  expect(beyondLimits([line(1e12, { quantity: 1e12 })])).toEqual({ lines: [0], sum: true });
  expect(beyondLimits([line(2e9, { discount: 50 }), line(2e9, { discount: 49.999999 })]).lines).toEqual([1]);
  expect(beyondLimits([line(1e7, { factor: 100 }), line(1e7, { factor: 100.000001 })]).lines).toEqual([1]);
  const hundred = Array.from({ length: 100 }, () => line(1e9));
  expect(beyondLimits(hundred)).toEqual({ lines: [], sum: false });
  expect(beyondLimits([...hundred, line(0.01)])).toEqual({ lines: [], sum: true });
  expect(beyondLimits([...hundred.slice(1), line(1e9, { vat: 0.000001 })])).toEqual({ lines: [], sum: true });
});

test('[W-08] what is told beforehand is what the database computes', async () => {
  const near = fc.oneof(fc.integer({ min: -2e6, max: 2e6 }), fc.constantFrom(1e6, 1e9, -1e9, 999_999_999_999));
  const number = fc
    .tuple(near, fc.integer({ min: -999_999, max: 999_999 }))
    .map(([n, part]) => Number((n + part / 1e6).toFixed(6)));
  const lines = fc.array(
    fc.record({
      quantity: fc.oneof(number, fc.constantFrom(1, 0.000001, 1000)),
      unitPrice: fc.oneof(number, fc.constantFrom(1e30, 1e-12, 1_000_000, 123_456_789_012.12346)),
      factor: fc.oneof(fc.constant(1), number),
      discount: fc.oneof(fc.constantFrom(0, 10, -100, 33.333333, 1e12), number),
      vat: fc.constantFrom(0, 4, 10, 21, 5.2),
    }),
    { minLength: 1, maxLength: 6 },
  );
  for (const some of fc.sample(lines, 300)) {
    const { rows: told } = await pool.query<{ lines: number[] | null; sum: boolean }>(
      `with amounts as (
         select ordinal, vat, round(quantity * ("unitPrice" * factor) * (1 - discount / 100), 2) as amount
         from rows from (json_to_recordset($1) as (quantity numeric, "unitPrice" numeric, factor numeric, discount numeric,
           vat numeric)) with ordinality as l(quantity, "unitPrice", factor, discount, vat, ordinal))
       select (select array_agg(ordinal::int - 1 order by ordinal) from amounts where abs(amount) > 1e9) as lines,
         (select greatest(abs(sum(base)), abs(sum(base + round(base * vat / 100, 2)))) > 1e11
          from (select vat, sum(amount) as base from amounts group by vat) rates) as sum`,
      [JSON.stringify(some)],
    );
    expect({ ...told[0], lines: told[0]?.lines ?? [] }, JSON.stringify(some)).toEqual(beyondLimits(some));
  }
});
