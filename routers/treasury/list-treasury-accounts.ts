import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';

const KINDS = { bank: 'banco', cash: 'caja' } as const;

const treasuryAccount = z.object({
  cuentaId: sealedId('treasuryAccount'),
  titulo: z.string(),
  tipo: z.enum(['banco', 'caja']),
  iban: z.string(),
  saldo: z.number(),
});

interface AccountRow {
  id: number;
  title: string;
  kind: keyof typeof KINDS;
  iban: string | null;
  balance: number;
  total: number;
}

/**
 * Bank and cash accounts by title, with the balance at the end of the company's today: the opening one and every movement
 * dated up to it. PAG-02, DATE-02
 */
export const listTreasuryAccounts = operation({
  title: 'Cuentas de tesorería',
  description:
    'Bancos y cajas con su saldo de hoy y el total. Da el cuentaId por el que filtra consultar_movimientos_tesoreria.',
  rest: ['GET /treasury/accounts'],
  alias: 'consultarCuentasTesoreria',
  scope: 'svc.read',
  input: {},
  output: z.object({ cuentas: z.array(treasuryAccount), saldo_total: z.number() }),
  async handler({ db, accountId, today }) {
    const { rows } = await sql<AccountRow>`
      select a.id, a.title, a.kind, a.iban, b.balance, sum(b.balance) over () as total
      from treasury_accounts a
      left join (select treasury_account_id, sum(amount) as moved from treasury_movements
        where account_id = ${accountId} and date <= ${today.toString()}::date
        group by treasury_account_id) m on m.treasury_account_id = a.id
      cross join lateral (select a.opening_balance + coalesce(m.moved, 0) as balance) b
      where a.account_id = ${accountId}
      order by a.title, a.id`.execute(db);
    return {
      cuentas: rows.map(({ id, title, kind, iban, balance }) => ({
        cuentaId: id,
        titulo: title,
        tipo: KINDS[kind],
        iban: masked(iban ?? ''),
        saldo: balance,
      })),
      saldo_total: rows[0]?.total ?? 0,
    };
  },
});

/** The first four characters and the last four; one so short that they would be all of it shows none. */
function masked(iban: string): string {
  const whole = iban.replace(/\s/g, '');
  if (whole.length <= 8) return '*'.repeat(whole.length);
  return whole.slice(0, 4) + '*'.repeat(whole.length - 8) + whole.slice(-4);
}
