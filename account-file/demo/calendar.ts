// The company's calendar: holidays of Valencia (national, regional, local), closures and working days.
import { daysBetween, plus, type Row, range, seeded, table } from './tools.ts';

const FIXED = table(`01-01|Año Nuevo//01-06|Epifanía del Señor//01-22|San Vicente Mártir (Valencia)//03-19|San José
  05-01|Fiesta del Trabajo//06-24|San Juan//08-15|Asunción de la Virgen//10-09|Día de la Comunitat Valenciana
  10-12|Fiesta Nacional de España//11-01|Todos los Santos//12-06|Día de la Constitución//12-08|Inmaculada Concepción
  12-24|Cierre de Nochebuena//12-25|Navidad//12-31|Cierre de Nochevieja`);

/** Easter Sunday (Meeus, Jones and Butcher). */
function easter(year: number): string {
  const [golden, century, rest] = [year % 19, Math.floor(year / 100), year % 100];
  const correction = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
  const moon = (19 * golden + century - Math.floor(century / 4) - correction + 15) % 30;
  const sunday = (32 + 2 * (century % 4) + 2 * Math.floor(rest / 4) - moon - (rest % 4)) % 7;
  const day = moon + sunday - 7 * Math.floor((golden + 11 * moon + 22 * sunday) / 451) + 114;
  return Temporal.PlainDate.from({ year, month: Math.floor(day / 31), day: (day % 31) + 1 }).toString();
}

function entriesOf(year: number): Row[] {
  const sunday = easter(year);
  const august = Temporal.PlainDate.from({ year, month: 8, day: 10 });
  const monday = august.add({ days: (8 - august.dayOfWeek) % 7 }).toString();
  const entries = [
    ...FIXED.map(([day, title = '']) => [`${year}-${day}`, title]),
    [plus(sunday, -2), 'Viernes Santo'],
    [plus(sunday, 1), 'Lunes de Pascua'],
    [plus(sunday, 8), 'San Vicente Ferrer (Valencia)'],
    [monday, 'Cierre de verano'],
  ];
  return entries.sort().map(([fecha_inicio = '', titulo = ''], index) => {
    const fecha_fin = titulo === 'Cierre de verano' ? plus(fecha_inicio, 6) : fecha_inicio;
    const tipo = titulo.startsWith('Cierre') ? 'cierre' : 'festivo';
    return { ref: `cal-${year}-${index + 1}`, titulo, tipo, fecha_inicio, fecha_fin };
  });
}

/** Context of all parts: the two years (`from` to `today`, and their `days`), the calendar and the random numbers. */
export type Context = ReturnType<typeof contextOf>;

/** The context for this day and time. */
export function contextOf(day: Temporal.PlainDate, time: Temporal.PlainTime, seed: number) {
  const today = day.toString();
  const [yesterday, clock] = [plus(today, -1), time.toString({ smallestUnit: 'minute' })];
  const from = day.subtract({ years: 2 }).toString();
  const calendario = range(4, (index) => entriesOf(day.year - 2 + index)).flat();
  const closed = new Set<string>();
  for (const { fecha_inicio, fecha_fin } of calendario) {
    for (let date = String(fecha_inicio); date <= String(fecha_fin); date = plus(date, 1)) closed.add(date);
  }
  const days = range(daysBetween(from, today) + 1, (index) => plus(from, index));
  const isHoliday = (date: string): boolean => closed.has(date);
  const isWorkday = (date: string): boolean => !isHoliday(date) && Temporal.PlainDate.from(date).dayOfWeek < 6;
  /** The last working day up to this one. */
  const workday = (date: string): string => (isWorkday(date) ? date : workday(plus(date, -1)));
  /** The last working day up to this one that has ended. */
  const done = (date: string): string => workday(date < yesterday ? date : yesterday);
  return {
    today,
    clock,
    from,
    days,
    workday,
    done,
    calendario,
    isHoliday,
    isWorkday,
    random: (area: string) => seeded(seed, area),
  };
}
