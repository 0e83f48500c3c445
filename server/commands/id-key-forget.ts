// `albaran id-key forget`
import { fingerprintOf, forgetIdKey, idKeysOf } from '../../platform/id-keys.ts';
import type { AddCommand } from '../command.ts';
import { Failure } from '../failure.ts';

export const addIdKeyForget: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('forget')
    .description('forgets a key that has sealed record ids: the service starts without it, and those ids are 404')
    .argument('<fingerprint>', 'the key, as id-key list shows it')
    .action((fingerprint: string) =>
      onDatabase(async ({ config, database }) => {
        const [newest = ''] = await idKeysOf(database, config.idKeys);
        if (fingerprintOf(newest) === fingerprint) {
          throw new Failure(`${fingerprint} is the key that ids are sealed with here: put another first in ID_KEYS`);
        }
        if (!(await forgetIdKey(database, fingerprint))) {
          throw new Failure(`No ids were sealed with a key ${JSON.stringify(fingerprint)}`);
        }
        return {
          json: { fingerprint, forgotten: true },
          text: `${fingerprint} is given up: processes without it start, and ids that were sealed with it are 404 there`,
        };
      }),
    );
