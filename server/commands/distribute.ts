// `albaran distribute`
import pg from 'pg';
import { distribute, planDistribution, type Step } from '../../platform/distribution.ts';
import type { AddCommand } from '../command.ts';
import { Failure } from '../failure.ts';

export const addDistribute: AddCommand = (parent, { onDatabase, stop }) =>
  parent
    .command('distribute')
    .description(
      'spreads the database over a Citus cluster, by company; run again, it goes on where it was (docs/scale.md)',
    )
    .option('--dry-run', 'prints the statements, and runs none')
    .action(({ dryRun }: { dryRun?: boolean }) =>
      onDatabase(async ({ directUrl }) => {
        const client = new pg.Client({ connectionString: directUrl });
        client.on('error', () => {}); // A connection that is lost fails the statement under way, which says so.
        await client.connect();
        try {
          const steps = await planDistribution(client);
          const json = { dryRun: dryRun === true, steps };
          if (steps.length === 0) return { json, text: 'Nothing to do: every table of companies is distributed' };
          if (dryRun) return { json, text: script(steps) };
          const { rowCount } = await client.query(`select from pg_available_extensions where name = 'citus'`);
          if (rowCount === 0)
            throw new Failure('This PostgreSQL has no Citus: install it on every node first (docs/scale.md)');
          let count = 0;
          for await (const { title } of distribute(client, steps)) {
            stop.throwIfAborted();
            console.error(`${++count}/${steps.length} ${title}`);
          }
          return { json, text: `Distributed, in ${steps.length} steps` };
        } finally {
          await client.end();
        }
      }),
    );

const script = (steps: readonly Step[]) =>
  steps
    .map(({ title, statements }) =>
      [`-- ${title}`, 'begin;', ...statements.map((statement) => `${statement};`), 'commit;'].join('\n'),
    )
    .join('\n\n');
