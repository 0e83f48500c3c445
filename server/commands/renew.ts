// `albaran renew`
import { systemClock } from '../../platform/clock.ts';
import type { Renewal } from '../../routers/recurring/issue-renewals.ts';
import { type AddCommand, type Answer, commandAuthor, counted, plainDate, table } from '../command.ts';
import { type Company, companies, companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';

interface Options {
  until?: Temporal.PlainDate;
  dryRun?: boolean;
  account?: string;
}

type Line = Renewal & { account: string };

export const addRenew: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('renew')
    .description('issues the delivery note of every renewal of a recurring service that is due, each once')
    .option('--until <date>', 'the last day whose renewals count, YYYY-MM-DD (default: the company’s today)', plainDate)
    .option('--dry-run', 'shows what would be issued, and writes nothing')
    .option('--account <slug>', 'the company (default: all)')
    .action(({ until, dryRun, account }: Options) =>
      onDatabase(async ({ database }) => {
        const { dueRenewals } = await import('../../routers/recurring/issue-renewals.ts');
        const { daysOf, failureLine, renewCompanies } = await import('../renewals.ts');
        const all = account ? [await companyOf(database, account)] : await Array.fromAsync(companies(database));
        for (const company of all) refuseTomorrow(company, daysOf(company, systemClock.now()).today, until);

        if (dryRun) {
          const lines: Line[] = [];
          for await (const company of counted(all, interruption, 'Looking')) {
            const renewals = { database, accountId: company.id, ...daysOf(company, systemClock.now(), until) };
            for (const due of await dueRenewals(renewals)) lines.push({ account: company.slug, ...due });
          }
          return answerOf(lines, 'due', { dryRun: true });
        }

        const author = { ...commandAuthor(), actor: 'albaran renew' };
        const run = { database, clock: systemClock, author, stop: interruption.stop, until };
        const lines: (Line & { noteId: number })[] = [];
        const failures: string[] = [];
        for await (const { company, ...outcome } of counted(renewCompanies(run, all), interruption, 'Issuing')) {
          if ('failure' in outcome) failures.push(failureLine({ company, ...outcome }));
          else lines.push({ account: company.slug, ...outcome });
        }
        const answer = answerOf(lines, 'issued', { dryRun: false, failures });
        if (failures.length === 0) return answer;
        throw new Failure([answer.text, ...failures.map((line) => `Failed: ${line}`)], { json: answer.json });
      }),
    );

/** Notes are dated the day they are issued, so what is not due yet waits for its day. */
function refuseTomorrow({ slug, time_zone }: Company, today: Temporal.PlainDate, until?: Temporal.PlainDate): void {
  if (!until || Temporal.PlainDate.compare(until, today) <= 0) return;
  throw new Failure(`--until: ${until} has not come yet for ${slug}, where it is ${today} (${time_zone})`, {
    exitCode: 2,
  });
}

/** Amounts are whole cents, and are summed as such. */
function answerOf(renewals: readonly Line[], participle: string, more: object): Answer {
  const cents = renewals.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0);
  const json = { ...more, renewals, count: renewals.length, amount: cents / 100 };
  if (renewals.length === 0) return { json, text: `Nothing ${participle}` };
  const rows = renewals.map((line) => [line.account, line.description, line.cycle, line.amount.toFixed(2)]);
  const total = `${json.count} ${participle}, ${json.amount.toFixed(2)} without VAT`;
  return { json, text: `${table(['COMPANY', 'RECURRING', 'CYCLE', 'AMOUNT'], rows)}\n\n${total}` };
}
