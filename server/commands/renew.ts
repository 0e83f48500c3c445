// `albaran renew`
import { systemClock } from '../../platform/clock.ts';
import type { DueRenewal, Renewal, Since } from '../../routers/shared/renewals/issue-renewals.ts';
import { type AddCommand, type Answer, commandAuthor, counted, plainDate, table } from '../command.ts';
import { type Company, companies, companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';

interface Options {
  until?: Temporal.PlainDate;
  since?: Temporal.PlainDate;
  skipBefore?: Temporal.PlainDate;
  dryRun?: boolean;
  account?: string;
}

type Line<R extends Renewal = Renewal> = R & { account: string };

const HELP = `
Every company's renewals are issued, whether or not it has automatic issuing on
(albaran account set --automatic-issuing), from the day on that each recurring
service was created here or imported. Earlier ones stay due until --since
issues them or --skip-before skips them. What comes to 0 or less is not issued:
it stays due until its lines come to more, or it is skipped. --dry-run shows
what stays due.`;

export const addRenew: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('renew')
    .description('issues a delivery note for every due renewal of a recurring service, each once')
    .option('--until <date>', 'the last day whose renewals count, YYYY-MM-DD (default: the company’s today)', plainDate)
    .option(
      '--since <date>',
      'the first day whose renewals are issued (default: for each recurring service the day it came into this service); with --account',
      plainDate,
    )
    .option(
      '--skip-before <date>',
      'issues nothing; marks the renewals that are due before that day as skipped, for good: never issued, never due again; with --account',
      plainDate,
    )
    .option('--dry-run', 'shows what would be issued or skipped, and what stays due, and writes nothing')
    .option('--account <slug>', 'the company (default: all)')
    .addHelpText('after', HELP)
    .action((options: Options) => {
      refuseCombinations(options);
      const { until, skipBefore, dryRun = false, account } = options;
      const since: Since = options.since ?? 'entered';
      return onDatabase(
        async ({ database }) => {
          const { dueRenewals, skipRenewals } = await import('../../routers/shared/renewals/issue-renewals.ts');
          const { daysOf, failureLine, renewCompanies } = await import('../renewals.ts');
          const all = account ? [await companyOf(database, account)] : await Array.fromAsync(companies(database));
          for (const company of all) {
            const { today } = daysOf(company, systemClock.now());
            refuseFuture('--until', company, today, until);
            refuseFuture('--skip-before', company, today.add({ days: 1 }), skipBefore);
          }
          const author = { ...commandAuthor(), actor: 'albaran renew' };
          const dueOf = async (company: Company) => {
            const days = daysOf(company, systemClock.now(), until);
            const renewals = { database, accountId: company.id, ...days, since: skipBefore ?? since };
            const due = await dueRenewals(renewals);
            return due.map((renewal): Line<DueRenewal> => ({ account: company.slug, ...renewal }));
          };
          const dueOfAll = async () => {
            const due: Line<DueRenewal>[] = [];
            for await (const company of counted(all, interruption, 'Looking')) {
              for (const line of await dueOf(company)) due.push(line);
            }
            return due;
          };

          if (skipBefore) {
            const before = skipBefore.toString();
            if (dryRun) {
              const lines = (await dueOfAll()).filter(({ cycle }) => cycle < before).map(withoutReason);
              return answerOf(lines, 'to be skipped', { dryRun });
            }
            const lines: Line[] = [];
            for (const company of all) {
              const now = systemClock.now();
              const renewals = { database, accountId: company.id, ...daysOf(company, now), now, author };
              for (const skipped of await skipRenewals(renewals, skipBefore)) {
                lines.push({ account: company.slug, ...skipped });
              }
            }
            return answerOf(lines, 'skipped', { dryRun });
          }

          if (dryRun) {
            const due = await dueOfAll();
            const lines = due.filter(({ stays }) => stays === null).map(withoutReason);
            return withStaying(answerOf(lines, 'due', { dryRun }), due);
          }

          const run = { database, clock: systemClock, author, stop: interruption.stop, since, until };
          const lines: (Line & { noteId: number })[] = [];
          const failures: string[] = [];
          for await (const { company, ...outcome } of counted(renewCompanies(run, all), interruption, 'Issuing')) {
            if ('failure' in outcome) failures.push(failureLine({ company, ...outcome }));
            else lines.push({ account: company.slug, ...outcome });
          }
          const answer = withStaying(answerOf(lines, 'issued', { dryRun, failures }), await dueOfAll());
          if (failures.length === 0) return answer;
          throw new Failure([answer.text, ...failures.map((line) => `Failed: ${line}`)], { json: answer.json });
        },
        dryRun ? 'current' : 'forward',
      );
    });

/** Checks the combination of options: `--since` and `--skip-before` need `--account`, and exclude each other. */
function refuseCombinations({ account, since, until, skipBefore }: Options): void {
  const refuse = (message: string) => {
    throw new Failure(message, { exitCode: 2 });
  };
  if (skipBefore && since) refuse('--skip-before and --since: give one of them; what is skipped is never issued');
  if (skipBefore && until) refuse('--skip-before and --until: give one of them; --skip-before issues nothing');
  if (skipBefore && !account) refuse('--skip-before: name the company with --account');
  if (since && !account) refuse('--since: name the company with --account');
  if (since && until && Temporal.PlainDate.compare(until, since) < 0) {
    refuse(`--until: ${until} is before --since, ${since}`);
  }
}

/** Refuses future days: notes are dated the day they are issued, so a renewal can't be issued early. */
function refuseFuture(
  option: string,
  { slug, time_zone }: Company,
  last: Temporal.PlainDate,
  day?: Temporal.PlainDate,
): void {
  if (!day || Temporal.PlainDate.compare(day, last) <= 0) return;
  throw new Failure(`${option}: ${day} has not come yet for ${slug}; the latest is ${last} (${time_zone})`, {
    exitCode: 2,
  });
}

const withoutReason = ({ stays: _, ...renewal }: Line<DueRenewal>): Line => renewal;

/** Sums amounts as whole cents. */
const sumOf = (renewals: readonly Renewal[]) =>
  renewals.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0) / 100;

function answerOf(renewals: readonly Line[], participle: string, more: object): Answer {
  const json = { ...more, renewals, count: renewals.length, amount: sumOf(renewals) };
  if (renewals.length === 0) return { json, text: `Nothing ${participle}` };
  const rows = renewals.map((line) => [line.account, line.description, line.cycle, line.amount.toFixed(2)]);
  const total = `${json.count} ${participle}, ${json.amount.toFixed(2)} without VAT`;
  return { json, text: `${table(['COMPANY', 'RECURRING', 'CYCLE', 'AMOUNT'], rows)}\n\n${total}` };
}

const WHY = { earlier: 'earlier', amount: '0 or less' };

/** Adds the renewals that stay due: each one in JSON, one line for each recurring service in text. */
function withStaying({ json, text }: Answer, due: readonly Line<DueRenewal>[]): Answer {
  const staying = due.filter(({ stays }) => stays !== null);
  const whole = { ...json, staysDue: { renewals: staying, count: staying.length, amount: sumOf(staying) } };
  if (staying.length === 0) return { json: whole, text };
  const groups = Map.groupBy(staying, ({ account, recurringId, stays }) => `${account} ${recurringId} ${stays}`);
  const rows = [...groups.values()].map((group) => {
    const { account = '', description = '', cycle: first = '', stays } = group[0] ?? {};
    const cells = [account, description, String(group.length), first, group.at(-1)?.cycle ?? first];
    return [...cells, sumOf(group).toFixed(2), stays ? WHY[stays] : ''];
  });
  const titles = ['COMPANY', 'RECURRING', 'CYCLES', 'FIRST', 'LAST', 'AMOUNT', 'WHY'];
  const total = `${staying.length} stay due: --since issues the earlier ones, --skip-before skips them; 0 or less is not issued`;
  return { json: whole, text: [text, '', table(titles, rows), '', total].join('\n') };
}
