// `albaran id-key list`
import { fingerprintOf, idKeysOf, usedIdKeys } from '../../platform/id-keys.ts';
import { type AddCommand, table } from '../command.ts';

export const addIdKeyList: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('list')
    .description('lists the keys that have sealed record ids, by fingerprint, and whether this environment has them')
    .action(() =>
      onDatabase(async ({ config, database }) => {
        const here = (await idKeysOf(database, config.idKeys)).map(fingerprintOf);
        const used = new Map(
          (await usedIdKeys(database)).map(({ fingerprint, used_since }) => [
            fingerprint,
            Temporal.Instant.from(used_since).round({ smallestUnit: 'second', roundingMode: 'floor' }).toString(),
          ]),
        );
        const keys = [...new Set([...here, ...used.keys()])].map((fingerprint) => ({
          fingerprint,
          here: fingerprint === here[0] ? 'seals and opens' : here.includes(fingerprint) ? 'opens' : 'missing',
          usedSince: used.get(fingerprint) ?? null,
        }));
        const rows = keys.map((key) => [key.fingerprint, key.here, key.usedSince ?? '']);
        return { json: { keys }, text: table(['FINGERPRINT', 'HERE IT', 'USED SINCE'], rows) };
      }, 'current'),
    );
