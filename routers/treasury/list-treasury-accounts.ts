import { sql } from 'kysely';
import { operation } from '../operation.ts';
import { jsonArray, jsonRow } from '../shared/pages.ts';
import { arrayOf, decimalOf, enumOf, idOf, shape, textOf } from '../shared/shape.ts';

const treasuryAccount = shape({
  cuentaId: idOf('treasuryAccount', 'id'),
  titulo: textOf('title'),
  tipo: enumOf('kind', { banco: 'bank', caja: 'cash' }),
  iban: textOf('masked_iban'),
  saldo: decimalOf('balance'),
});

const treasuryAccounts = shape({ cuentas: arrayOf(treasuryAccount, 'accounts'), saldo_total: decimalOf('total') });

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
  output: treasuryAccounts.schema,
  async handler({ db, accountId, today }) {
    // Of an IBAN, the first four characters and the last four; one so short that they would be all of it shows none. The collation
    // makes every white space of Unicode one, whatever the database's locale.
    return jsonRow(
      db,
      sql<typeof treasuryAccounts.needs>`
        with account as (
          select a.id, a.title, a.kind, a.opening_balance + coalesce(m.moved, 0) as balance,
            case when length(i.iban) <= 8 then repeat('*', length(i.iban))
              else left(i.iban, 4) || repeat('*', length(i.iban) - 8) || right(i.iban, 4) end as masked_iban
          from treasury_accounts a
          cross join lateral (select regexp_replace(a.iban collate "es-x-icu", '\\s', '', 'g') as iban) i
          left join (select treasury_account_id, sum(amount) as moved from treasury_movements
            where account_id = ${accountId} and date <= ${today.toString()}::date
            group by treasury_account_id) m on m.treasury_account_id = a.id
          where a.account_id = ${accountId})
        select coalesce(sum(balance), 0) as total, ${jsonArray(
          sql<typeof treasuryAccount.needs>`select * from account order by title, id`,
          treasuryAccount,
        )} as accounts
        from account`,
      treasuryAccounts,
    );
  },
});
