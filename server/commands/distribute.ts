// `albaran distribute`
import pg from 'pg';
import type { AddCommand } from '../command.ts';
import { Failure } from '../failure.ts';
import { complaints } from '../output.ts';
import { distribute, obstacle, planDistribution, type Step } from '../postgres/distribution.ts';

export const addDistribute: AddCommand = (parent, { onDatabase, stop }) =>
  parent
    .command('distribute')
    .description(
      'distributes the database over a Citus cluster, by company; run it again after an interruption (docs/scale.md)',
    )
    .option('--dry-run', 'prints the statements without running them')
    .action(({ dryRun }: { dryRun?: boolean }) =>
      onDatabase(async ({ directUrl }) => {
        const client = new pg.Client({ connectionString: directUrl });
        client.on('error', () => {}); // The current statement reports the error.
        await client.connect();
        try {
          const steps = await planDistribution(client);
          const json = { dryRun: dryRun === true, steps };
          if (steps.length === 0) return { json, text: 'Nothing to do: every table of companies is distributed' };
          if (dryRun) return { json, text: script(steps) };
          const problem = await obstacle(client);
          if (problem) throw new Failure(problem);
          let count = 0;
          for await (const { title } of distribute(client, steps)) {
            stop.throwIfAborted();
            complaints.say(`${++count}/${steps.length} ${title}`);
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
