// Bank and cash accounts with their movements.
import { collection } from '../collection.ts';
import { choice, date, decimal, decimalOr, optionalText, reference, text } from '../fields.ts';

export const treasuryAccounts = collection('cuentas_tesoreria', 'treasury_accounts', {
  titulo: text('title'),
  tipo: choice('kind', { banco: 'bank', caja: 'cash' }),
  iban: optionalText('iban'),
  saldo_inicial: decimalOr('opening_balance', 0),
});

export const treasuryMovements = collection('movimientos_tesoreria', 'treasury_movements', {
  cuenta: reference(treasuryAccounts, 'treasury_account_id'),
  fecha: date('date'),
  concepto: text('concept'),
  importe: decimal('amount'),
});
