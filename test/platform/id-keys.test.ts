// The keys of sealed ids: the database records them, and ids open only with one of them.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../platform/database.ts';
import { fingerprintOf, forgetIdKey, MissingIdKey, readyIdKeys, usedIdKeys } from '../../platform/id-keys.ts';
import { type OwnDatabase, ownDatabase, tenantsOf } from '../helpers/own-database.ts';

const OLD = 'the key of before, long enough to be one';
const NEW = 'the key of today, long enough to be one';

let own: OwnDatabase;
let database: Database;
beforeEach(async () => {
  own = await ownDatabase();
  database = await tenantsOf(own);
});
afterEach(async () => {
  await database.close();
  await own[Symbol.asyncDispose]();
});

const used = async () => (await usedIdKeys(database)).map(({ fingerprint }) => fingerprint).sort();
const fingerprints = (...secrets: string[]) => secrets.map(fingerprintOf).sort();

test('[ID-02] a key counts as used once it is the first, and from then on none does without it', async () => {
  await readyIdKeys(database, [OLD]);
  await readyIdKeys(database, [OLD, NEW]);
  expect(await used(), 'in the second place it seals nothing').toEqual(fingerprints(OLD));
  expect(await readyIdKeys(database, [OLD]), 'so the rotation can be called off').toEqual([OLD]);
  await readyIdKeys(database, [NEW, OLD]);
  expect(await used()).toEqual(fingerprints(OLD, NEW));
  await expect(readyIdKeys(database, [OLD])).rejects.toThrow(new MissingIdKey([fingerprintOf(NEW)]));
  await expect(readyIdKeys(database, undefined)).rejects.toThrow(MissingIdKey);
  expect(await used(), 'what was refused leaves nothing').toEqual(fingerprints(OLD, NEW));
  expect([await forgetIdKey(database, fingerprintOf(OLD)), await forgetIdKey(database, fingerprintOf(OLD))]).toEqual([
    true,
    false,
  ]);
  expect(await readyIdKeys(database, [NEW])).toEqual([NEW]);
});

test('[ID-02] after the upgrade all that are given count as used, and the kept one when it is in use', async () => {
  await readyIdKeys(database, [NEW, OLD]);
  expect(await used()).toEqual(fingerprints(OLD, NEW));
  await own.admin.query('delete from id_keys');
  const [kept = ''] = await readyIdKeys(database, undefined);
  expect(await used()).toEqual(fingerprints(kept));
  await expect(readyIdKeys(database, [NEW])).rejects.toThrow(fingerprintOf(kept));
});

test('a fingerprint tells nothing of its key, nor does what is said of a key that is missing', async () => {
  const { message } = new MissingIdKey([fingerprintOf(OLD), fingerprintOf(NEW)]);
  expect(message).toMatch(
    /^ID_KEYS: the keys with the fingerprint [\da-f]{12}, [\da-f]{12} are missing, .*\bforget\b.*$/,
  );
  for (const secret of [OLD, NEW]) expect(message).not.toContain(secret.slice(0, 12));
});
