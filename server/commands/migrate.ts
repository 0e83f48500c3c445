// `albaran migrate`
import type { AddCommand } from '../command.ts';

export const addMigrate: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('migrate')
    .description('brings the database forward to the schema of this version')
    .action(() =>
      onDatabase(async ({ migrated }) => ({
        json: { migrated },
        text: migrated.length > 0 ? `Ran ${migrated.join(', ')}` : 'Nothing to do: the schema is that of this version',
      })),
    );
