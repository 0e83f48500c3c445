// The company's calendar: holidays of Valencia (national, regional, local), closures, and which days are worked.
import { daysBetween, plus, type Random, type Row, range, seeded, table } from './tools.ts';

/** What all parts of the demo company share. */
export interface Context {
  today: string;
  /** The first day with data: two years ago. */
  from: string;
  /** Every date from `from` to today. */
  days: readonly string[];
  calendario: Row[];
  isHoliday(date: string): boolean;
  /** Monday to Friday and neither holiday nor closure. */
  isWorkday(date: string): boolean;
  /** The randomness of one area. */
  random(area: string): Random;
}

const FIXED = table(`01-01|Año Nuevo
  01-06|Epifanía del Señor
  01-22|San Vicente Mártir (Valencia)
  03-19|San José
  05-01|Fiesta del Trabajo
  06-24|San Juan
  08-15|Asunción de la Virgen
  10-09|Día de la Comunitat Valenciana
  10-12|Fiesta Nacional de España
  11-01|Todos los Santos
  12-06|Día de la Constitución
  12-08|Inmaculada Concepción
  12-25|Navidad`);

/** Easter Sunday (Meeus, Jones and Butcher). */
function easter(year: number): string {
  const [golden, century, rest] = [year % 19, Math.floor(year / 100), year % 100];
  const correction = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
  const moon = (19 * golden + century - Math.floor(century / 4) - correction + 15) % 30;
  const sunday = (32 + 2 * (century % 4) + 2 * Math.floor(rest / 4) - moon - (rest % 4)) % 7;
  const late = Math.floor((golden + 11 * moon + 22 * sunday) / 451);
  const day = moon + sunday - 7 * late + 114;
  return Temporal.PlainDate.from({ year, month: Math.floor(day / 31), day: (day % 31) + 1 }).toString();
}

function entriesOf(year: number): Row[] {
  const sunday = easter(year);
  const august = Temporal.PlainDate.from({ year, month: 8, day: 10 });
  const closing = august.add({ days: (8 - august.dayOfWeek) % 7 }).toString();
  const entries = [
    ...FIXED.map(([day, titulo]) => [`${year}-${day}`, `${year}-${day}`, titulo, 'festivo']),
    [plus(sunday, -2), plus(sunday, -2), 'Viernes Santo', 'festivo'],
    [plus(sunday, 1), plus(sunday, 1), 'Lunes de Pascua', 'festivo'],
    [plus(sunday, 8), plus(sunday, 8), 'San Vicente Ferrer (Valencia)', 'festivo'],
    [closing, plus(closing, 6), 'Cierre de verano', 'cierre'],
    [`${year}-12-24`, `${year}-12-24`, 'Cierre de Nochebuena', 'cierre'],
    [`${year}-12-31`, `${year}-12-31`, 'Cierre de Nochevieja', 'cierre'],
  ].sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return entries.map(([fecha_inicio, fecha_fin, titulo, tipo], index) => {
    return { ref: `cal-${year}-${index + 1}`, titulo, tipo, fecha_inicio, fecha_fin };
  });
}

/** The context of a company that lives on the given day. */
export function contextOf(day: Temporal.PlainDate, seed: number): Context {
  const today = day.toString();
  const from = day.subtract({ years: 2 }).toString();
  const calendario = range(4, (index) => day.year - 2 + index).flatMap(entriesOf);
  const closed = new Set<string>();
  for (const { fecha_inicio, fecha_fin } of calendario) {
    for (let date = String(fecha_inicio); date <= String(fecha_fin); date = plus(date, 1)) closed.add(date);
  }
  const isWorkday = (date: string) => !closed.has(date) && Temporal.PlainDate.from(date).dayOfWeek < 6;
  return {
    today,
    from,
    days: range(daysBetween(from, today) + 1, (index) => plus(from, index)),
    calendario,
    isHoliday: (date) => closed.has(date),
    isWorkday,
    random: (area) => seeded(seed, area),
  };
}
