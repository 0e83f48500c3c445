// Treasury: two banks and the cash box; what was collected and paid, payroll, social security and petty cash.
import type { Context } from './calendar.ts';
import { byDate, type Payment } from './documents.ts';
import { at, euros, monthDay, type Row, range } from './tools.ts';

/** What the contracts cost while they last; `hourly` and `social` in euros. */
interface Wage {
  start: string;
  end: string;
  hourly: number;
  social: number;
  hours: number;
}

/** A Spanish IBAN with its check digits. */
function iban(account: string): string {
  const check = 98n - (BigInt(`${account}142800`) % 97n);
  return `ES${check < 10n ? '0' : ''}${check}${account}`;
}

const PETTY = ['Ferretería, material menudo', 'Aparcamiento', 'Dietas de obra', 'Tasas municipales', 'Agua y café'];

/** The accounts and every movement to today. */
export function planTreasury(context: Context, payments: readonly Payment[], payroll: readonly Wage[]) {
  const { today, from } = context;
  const random = context.random('treasury');
  const cuentas_tesoreria: Row[] = [
    {
      ref: 'cue-1',
      titulo: 'Banco del Túria, cuenta corriente',
      tipo: 'banco',
      iban: iban('99810142560012345678'),
      saldo_inicial: 182_400,
    },
    {
      ref: 'cue-2',
      titulo: 'Caja Rural de Levante, gastos',
      tipo: 'banco',
      iban: iban('99760310440098765432'),
      saldo_inicial: 41_250.5,
    },
    { ref: 'cue-3', titulo: 'Caja de la tienda', tipo: 'caja', saldo_inicial: 640 },
  ];
  const monthEnds = range(25, (month) => monthDay(from, month, 28)).filter((day) => day >= from && day < today);
  const monthlyMoves = monthEnds.flatMap((fecha) => {
    const staff = payroll.filter(({ start, end }) => start <= fecha && fecha <= end);
    const month = fecha.slice(0, 7);
    const cents = (rate: (wage: Wage) => number) =>
      -staff.reduce((sum, wage) => sum + Math.round(rate(wage) * wage.hours * 1825), 0);
    const move = (cuenta: string, concepto: string, amount: number) => ({ cuenta, fecha, concepto, cents: amount });
    return [
      move(
        'cue-1',
        `Nóminas ${month}`,
        cents(({ hourly }) => hourly * 0.79),
      ),
      move(
        'cue-1',
        `Seguros sociales ${month}`,
        cents(({ hourly, social }) => social + hourly * 0.065),
      ),
      move(
        'cue-1',
        `Retenciones IRPF ${month}`,
        cents(({ hourly }) => hourly * 0.145),
      ),
      move('cue-1', 'Traspaso a la cuenta de gastos', -1_250_000),
      move('cue-2', 'Traspaso de la cuenta corriente', 1_250_000),
      move('cue-2', 'Reintegro para la caja', -60_000),
      move('cue-3', 'Reintegro del banco', 60_000),
      ...range(6, () => move('cue-3', random.pick(PETTY), -random.int(1_200, 16_500))),
    ];
  });
  const settled = payments.map(({ fecha, concepto, party, cents }) => {
    const expense = cents < 0 && Number(party.slice(4)) > 20;
    return { cuenta: expense ? 'cue-2' : 'cue-1', fecha, concepto, cents };
  });
  const movimientos_tesoreria = [...settled, ...monthlyMoves].sort(byDate).map(({ cents, ...row }, index): Row => {
    return { ref: `mte-${index + 1}`, ...row, importe: euros(cents) };
  });
  return { cuentas_tesoreria, movimientos_tesoreria };
}
