// `albaran migrate`
import type { AddCommand } from '../command.ts';

interface Options {
  dryRun?: boolean;
}

export const addMigrate: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('migrate')
    .description('migrates the database to the schema of this version')
    .option('--dry-run', 'shows what it would run, and changes nothing')
    .action(({ dryRun = false }: Options) =>
      onDatabase(
        async ({ migrated, pending }) => {
          const [names, done] = dryRun ? [pending, 'Would run'] : [migrated, 'Ran'];
          const nothing = 'Nothing to do: the schema is that of this version';
          return {
            json: dryRun ? { pending } : { migrated },
            text: names.length > 0 ? `${done} ${names.join(', ')}` : nothing,
          };
        },
        dryRun ? 'any' : 'forward',
      ),
    );
