// Ids of records that are about to be written: each once, by however many callers and processes.
import { expect, test } from 'vitest';
import { NewIds } from '../../platform/new-ids.ts';
import { ownDatabase, tenantsOf } from '../helpers/own-database.ts';

test('[ID-06] two processes draw no id twice, callers at once neither', async () => {
  await using own = await ownDatabase();
  const database = await tenantsOf(own);
  const processes = [new NewIds(), new NewIds()];
  const ids = await Promise.all(
    Array.from({ length: 500 }, async (_, call) => processes[call % 2]?.next('opportunity', database.service)),
  );
  expect(new Set(ids).size).toBe(500);
  await database.close();
});

test('[ID-06] one call after another, ids follow each other, whichever process draws them', async () => {
  await using own = await ownDatabase();
  const database = await tenantsOf(own);
  const processes = [new NewIds(), new NewIds()];
  const ids: number[] = [];
  for (const ones of [...processes, ...processes, ...processes]) {
    ids.push(await ones.next('opportunity', database.service));
  }
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  await database.close();
});
