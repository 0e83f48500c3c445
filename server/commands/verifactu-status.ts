// `albaran verifactu status`
import { sql } from 'kysely';
import type { RegisterMode } from '../../entities/values.ts';
import { type AddCommand, counted, table } from '../command.ts';
import { companies, companyOf } from '../companies.ts';

interface ChainRow {
  mode: RegisterMode;
  on: boolean;
  installation: string;
  registers: number;
  pending: number;
  with_errors: number;
  rejected: number;
  sent_at: string | null;
  problem: string | null;
}

export const addVerifactuStatus: AddCommand = (parent, { onDatabase, ...interruption }) =>
  parent
    .command('status')
    .description('how many registers of invoices companies have, and what became of them')
    .option('--account <slug>', 'the company (default: all that have any)')
    .action(({ account }: { account?: string }) =>
      onDatabase(async ({ database }) => {
        const all = account
          ? [await companyOf(database, account)]
          : companies(database, (id) => sql`exists (select from register_chains c where c.account_id = ${id})`);
        const chains: (ChainRow & { account: string })[] = [];
        for await (const { id, slug } of counted(all, interruption, 'Counting')) {
          const { rows } = await database.transaction(id, {}, (db) => chainsOf(id).execute(db));
          for (const row of rows) chains.push({ account: slug, ...row });
        }
        const lines = chains.map((chain) => [
          chain.account,
          chain.mode,
          chain.on ? 'on' : 'off',
          ...[chain.registers, chain.pending, chain.with_errors, chain.rejected].map(String),
          chain.sent_at ?? 'never',
          chain.problem ?? '',
        ]);
        const titles = [
          'COMPANY',
          'MODE',
          'NOW',
          'REGISTERS',
          'PENDING',
          'WITH ERRORS',
          'REJECTED',
          'LAST SENT',
          'PROBLEM',
        ];
        return { json: { chains }, text: lines.length > 0 ? table(titles, lines) : 'No registers' };
      }, 'current'),
    );

/** An invoice counts as rejected, or as taken with errors, by its last register. */
const chainsOf = (accountId: number) => sql<ChainRow>`
  select c.mode, coalesce(c.mode = a.verifactu_mode, false) as on, c.installation, c.n as registers, c.n - c.answered as pending,
    count(*) filter (where l.state = 'accepted_with_errors')::int as with_errors,
    count(*) filter (where l.state = 'rejected')::int as rejected, c.sent_at, c.problem
  from register_chains c
  join accounts a on a.id = ${accountId}
  left join (
    select distinct on (r.mode, r.invoice_id) r.mode, w.state
    from invoice_registers r
    left join register_answers w on w.account_id = ${accountId} and w.register_id = r.id
    where r.account_id = ${accountId}
    order by r.mode, r.invoice_id, r.n desc) l on l.mode = c.mode
  where c.account_id = ${accountId}
  group by c.mode, a.verifactu_mode, c.installation, c.n, c.answered, c.sent_at, c.problem
  order by c.mode`;
