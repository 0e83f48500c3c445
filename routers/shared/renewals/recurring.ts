// What the reports on recurring services share.
import { badInput } from '../../../platform/errors.ts';
import { idOf, textOf } from '../shape.ts';
import { CYCLES, type Periodicity } from './renewal-dates.ts';

/** `cliente`: the client `c` of a recurring service `r`. */
export const clientName = { clienteId: idOf('client', 'r.client_id'), nombre_fiscal: textOf('c.legal_name') };

export const MAX_YEARS = 5;
const TOO_LONG = `El rango máximo es de ${MAX_YEARS} años`;

/** 400 for a range beyond the fifth anniversary of its first day. REN-05 */
export function refuseLongRange(from: Temporal.PlainDate, to: Temporal.PlainDate): void {
  if (Temporal.PlainDate.compare(to, from.add({ years: MAX_YEARS })) > 0) {
    throw badInput([{ campo: 'fecha_fin', mensaje: TOO_LONG }], TOO_LONG);
  }
}

/** Amounts in whole cents, so that sums and products are exact. */
export const cents = (amount: number) => Math.round(amount * 100);
export const fromCents = (amount: number) => amount / 100;

/** Rows by wire name of their periodicity, from the shortest to the longest; those without rows are left out. */
export function byPeriodicity<Row extends { periodicity: Periodicity }>(rows: readonly Row[]) {
  const groups = Map.groupBy(rows, ({ periodicity }) => periodicity);
  return Object.entries(CYCLES).flatMap(([key, { name, periodicidad_dias }]) => {
    const group = groups.get(key as Periodicity);
    return group ? [{ name, periodicidad_dias, rows: group }] : [];
  });
}
