import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Operation, operations } from '../../bridges/operations.ts';
import { demoCompany } from '../../entities/account-file/demo/index.ts';
import { importAccountFile } from '../../entities/account-file/import.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';

const TODAY = '2026-03-10';
let server: Server;
let demo: Company;

beforeAll(async () => {
  server = await startServer({ clock: new TestClock(`${TODAY}T10:00:00Z`) });
  demo = await server.company();
  const records = demoCompany({ today: Temporal.PlainDate.from(TODAY) });
  await importAccountFile(
    server.service.database,
    demo.id,
    Iterator.from(records).map((record) => JSON.stringify(record)),
  );
});
afterAll(() => server.stop());

/** What a person would ask first: the last three months, and for what needs an id, the first there is. */
function firstQuestion({ input, routes }: Operation): Record<string, unknown> {
  const asked = Object.keys(input.shape);
  const needed = routes[0]?.parameters ?? [];
  // Of one record, which may be old, whatever there is where no dates are needed.
  const anytime = needed.length > 0 && z.safeParse(input.shape.fecha_inicio ?? z.never(), undefined).success;
  return {
    ...(asked.includes('fecha_inicio') && !anytime ? { fecha_inicio: '2026-01-01', fecha_fin: '2026-03-31' } : {}),
    ...(asked.includes('agrupar') ? { agrupar: 'mes' } : {}),
    ...Object.fromEntries(needed.map((name) => [name, 1])),
  };
}

/** The lists of an answer, however deep; a list that is empty shows nothing. */
const listsIn = (value: unknown): unknown[][] =>
  Array.isArray(value)
    ? [value, ...value.slice(0, 3).flatMap(listsIn)]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(listsIn)
      : [];

test.each(operations.filter(({ write }) => !write).map((operation) => [operation.path, operation] as const))(
  'the demo company has something to show for %s',
  async (_, operation) => {
    const { status, body } = await demo.alias(operation.alias, firstQuestion(operation));
    expect([status, body.errorMsg]).toEqual([200, '']);
    const lists = listsIn(body.data);
    expect(JSON.stringify(body.data).length).toBeGreaterThan(60);
    if (lists.length > 0) expect(Math.max(...lists.map(({ length }) => length))).toBeGreaterThan(0);
  },
);
