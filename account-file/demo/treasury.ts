// Treasury: two banks and the cash box; payments received and made, with what they settle, payroll, taxes and petty cash.
import type { Context } from './calendar.ts';
import { byDate, type Payment } from './documents.ts';
import type { Wage } from './people.ts';
import { euros, list, monthDay, type Row, range, table } from './tools.ts';

const ACCOUNTS = table(`cue-1|Banco del Túria|banco|480500|ES4999810142560012345678
  cue-2|Caja de Levante, gastos|banco|41250.5|ES2499760310440098765432//cue-3|Caja de la tienda|caja|640|`);
const PETTY = list('Ferretería, material menudo|Aparcamiento|Dietas de obra|Tasas municipales|Agua y café');

/** The accounts and all movements up to today. `offsets` are settlements without a movement. */
export function planTreasury(
  context: Context,
  payments: readonly Payment[],
  offsets: readonly Row[],
  wages: readonly Wage[],
) {
  const { today, from } = context;
  const random = context.random('treasury');
  const months = range(25, (month) => monthDay(from, month, 28)).filter((day) => day >= from && day < today);
  const monthly = months.flatMap((day, index) => {
    const fecha = context.done(day);
    const [month, since] = [fecha.slice(0, 7), monthDay(fecha, -3, 28)];
    const staff = wages.filter(({ start, end }) => start <= fecha && fecha <= end);
    const gross = staff.reduce((sum, wage) => sum + wage.gross, 0);
    const social = staff.reduce((sum, wage) => sum + wage.social, 0);
    const quarter = payments.filter((payment) => since < payment.fecha && payment.fecha <= fecha);
    const vat = Math.round(quarter.reduce((sum, { cents }) => sum + cents, 0) * (21 / 121));
    const move = (account: number, concepto: string, cents: number) => {
      return { cuenta: `cue-${account}`, fecha, concepto, cents: Math.round(cents) };
    };
    return [
      move(1, `Nóminas ${month}`, gross * -0.79),
      move(1, `Seguros sociales ${month}`, -social - gross * 0.065),
      move(1, `Retenciones de IRPF ${month}`, gross * -0.145),
      ...(index % 3 === 2 && vat > 0 ? [move(1, `IVA, criterio de caja, trimestre hasta ${month}`, -vat)] : []),
      move(1, 'Traspaso a gastos', -1_250_000),
      move(2, 'Traspaso de la cuenta corriente', 1_250_000),
      move(2, 'Reintegro para la caja', -60_000),
      move(3, 'Reintegro del banco', 60_000),
      ...range(7, () => move(3, random.pick(PETTY), -random.int(1_200, 15_000))),
    ];
  });
  const settled = payments.map(({ expense, ...payment }) => ({ ...payment, cuenta: expense ? 'cue-2' : 'cue-1' }));
  const moves: (Omit<Payment, 'settles' | 'expense'> & { cuenta: string; settles?: Row })[] = [...settled, ...monthly];
  const settlements: Row[] = [];
  const movimientos_tesoreria = moves.sort(byDate).map(({ cents, settles, ...row }, index): Row => {
    const ref = `mte-${index + 1}`;
    const { fecha } = row;
    if (settles) settlements.push({ ...settles, fecha, importe: euros(Math.abs(cents)), movimiento: ref });
    return { ref, ...row, importe: euros(cents) };
  });
  const liquidaciones = [...settlements, ...offsets].map((row, index): Row => ({ ref: `liq-${index + 1}`, ...row }));
  const cuentas_tesoreria = ACCOUNTS.map(([ref, titulo, tipo, balance, iban]) => {
    return { ref, titulo, tipo, iban: iban || null, saldo_inicial: Number(balance) };
  });
  return { cuentas_tesoreria, movimientos_tesoreria, liquidaciones };
}
