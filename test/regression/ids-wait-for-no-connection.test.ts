import { expect, inject, test } from 'vitest';
import { startServer } from '../helpers/world.ts';

test('[FAIR-01] writes that draw ids need one connection each: more callers at once than connections are all answered', async () => {
  await using server = await startServer({ database: { url: inject('databaseUrl'), poolSize: 2 } });
  const companies = await Promise.all(Array.from({ length: 6 }, () => server.company()));
  const calls = companies.flatMap((company) =>
    ['Ana', 'Eva', 'Luz'].map((nombre) => company.post('/crm/contacts', { datos: { nombre } })),
  );
  const answers = await Promise.all(calls);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});
