// The keys that record ids are sealed with. The database stores the fingerprints of the keys in use. A process that lacks one would
// answer 404 for ids that callers hold, so it does not start. ID-02
import { createHash, randomBytes } from 'node:crypto';
import type { Database } from './database.ts';

/** Identifies a key without revealing it. */
export const fingerprintOf = (secret: string): string =>
  createHash('sha256').update('albaran id key fingerprint\0').update(secret).digest('hex').slice(0, 12);

/** Ids were sealed with a key that this process lacks. */
export class MissingIdKey extends Error {
  constructor(fingerprints: readonly string[]) {
    const [which, it, one] = fingerprints.length === 1 ? ['key', 'it', 'is'] : ['keys', 'each', 'are'];
    const forget = fingerprints.map((fingerprint) => `"albaran id-key forget ${fingerprint}"`).join(', ');
    super(
      `ID_KEYS: the ${which} with the fingerprint ${fingerprints.join(', ')} ${one} missing, and ids that callers hold were sealed with ${it}: add ${it} at the end, or give ${it} up with ${forget}`,
    );
    this.name = 'MissingIdKey';
  }
}

/** The keys of this process, newest first: the given ones, or else the one stored in the database. */
export const idKeysOf = async (database: Database, given: readonly string[] | undefined): Promise<readonly string[]> =>
  given ?? [await storedIdKey(database)];

/**
 * The same keys, for sealing and opening ids: records the first as used. Throws MissingIdKey if a used key is missing. If the
 * database has no used keys yet (after the upgrade to this version), all keys are recorded.
 */
export async function readyIdKeys(
  database: Database,
  given: readonly string[] | undefined,
): Promise<readonly string[]> {
  const secrets = await idKeysOf(database, given);
  const fingerprints = secrets.map(fingerprintOf);
  const used = (await usedIdKeys(database)).map(({ fingerprint }) => fingerprint);
  const missing = used.filter((fingerprint) => !fingerprints.includes(fingerprint));
  if (missing.length > 0) throw new MissingIdKey(missing);
  const fresh = (used.length === 0 ? fingerprints : fingerprints.slice(0, 1)).filter((one) => !used.includes(one));
  if (fresh.length > 0) {
    await database.service
      .insertInto('id_keys')
      .values(fresh.map((fingerprint) => ({ fingerprint })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  return secrets;
}

/** The keys that have sealed ids and were not forgotten, oldest first. */
export const usedIdKeys = (database: Database) =>
  database.service.selectFrom('id_keys').select(['fingerprint', 'used_since']).orderBy('used_since').execute();

/** Forgets a key, so that processes start without it. Returns whether it was recorded as used. */
export async function forgetIdKey(database: Database, fingerprint: string): Promise<boolean> {
  const { numDeletedRows } = await database.service
    .deleteFrom('id_keys')
    .where('fingerprint', '=', fingerprint)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** The id key stored in the database, so that every process and every backup has the same one. Creates it if missing. */
async function storedIdKey(database: Database): Promise<string> {
  const name = 'id_key';
  await database.service
    .insertInto('service_secrets')
    .values({ name, value: randomBytes(32).toString('base64url') })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { value } = await database.service
    .selectFrom('service_secrets')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return value;
}
