// What the reports on recurring services share.
import { z } from 'zod';
import { badInput } from '../../platform/errors.ts';
import { sealedId } from '../shared/id.ts';
import { CYCLES, type Periodicity } from './renewal-dates.ts';

export const clientName = z.object({ clienteId: sealedId('client'), nombre_fiscal: z.string() });

export const MAX_YEARS = 5;
const TOO_LONG = `El rango máximo es de ${MAX_YEARS} años`;

/** 400 for a range beyond the fifth anniversary of its first day. REN-05 */
export function refuseLongRange(from: Temporal.PlainDate, to: Temporal.PlainDate): void {
  if (Temporal.PlainDate.compare(to, from.add({ years: MAX_YEARS })) > 0) {
    throw badInput([{ campo: 'fecha_fin', mensaje: TOO_LONG }], TOO_LONG);
  }
}

/** Amounts of the database are whole cents: products and sums of them are made of those, exactly. */
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
