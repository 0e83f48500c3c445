// Recurring services of all seven periodicities and the delivery notes issued from them.
import type { Context } from './calendar.ts';
import { type Draft, type Line, numberedLines } from './documents.ts';
import type { Client } from './parties.ts';
import { earlier, later, monthDay, plus, type Row, range, table } from './tools.ts';

// Description, periodicity, euros a cycle, months since the start, day of the cycle, active months, months until it ends.
const SERVICES = table(`Limpieza semanal de filtros en cocinas|semanal|268|14|3
  Control de cloro y depuración de piscina|semanal|94.5|22|6|5,6,7,8,9//Revisión de grupo de presión|quincenal|192|16|9
  Lectura quincenal de contadores|quincenal|91.3|10|20||-2//Mantenimiento eléctrico de oficinas|mensual|485|23|31
  Telegestión de sala de calderas|mensual|229|20|31|1,2,3,4,10,11,12//Guardia de averías 24 horas|mensual|640|8|1||10
  Monitorización de planta fotovoltaica|mensual|139.9|18|5//Mantenimiento de climatización de hotel|mensual|960|21|12
  Alumbrado de aparcamiento|mensual|196.75|12|30//Control de legionela|mensual|218|19|15||-5
  Revisión de bombas y aljibe|bimensual|242|20|31//Limpieza de conductos de extracción|bimensual|310|15|18
  Revisión de caldera comunitaria|trimestral|475|23|30//Centro de transformación|trimestral|790|21|31
  Revisión de emergencias y extracción|trimestral|255.4|11|10//Puesta a punto de climatización|semestral|620|22|31
  Limpieza de módulos fotovoltaicos|semestral|465|17|14//Revisión de instalación de gas|semestral|88|9|22
  Revisión de caldera individual|anual|96|23|8//Inspección anual de baja tensión|anual|640|20|31
  Inspección anual de autoconsumo|anual|280|13|25||36//Mantenimiento de cargadores|anual|150|0|2||24
  Telegestión de climatización de clínica|mensual|174|0|4//Mantenimiento preventivo de nave|trimestral|910|-1|15||23`);

// Which clients have which services: a word of the description, and the prefix of the client's name.
const KEPT_FOR: [RegExp, RegExp][] = [
  [/cocinas|extracción/, /^(Restaurante|Hotel|Residencia|Panadería)/],
  [/hotel/, /^Hotel/],
  [/clínica/, /^Clínica/],
  [/oficinas/, /^(Gestión|Academia|Promociones)/],
  [/piscina|grupo de presión|contadores|comunitaria|sala de calderas|bombas/i, /^Comunidad/],
  [/individual|gas$/, /^(?!Comunidad)[^,]*$/],
];
const FIRM = /,/;
const whoFor = (service: string): RegExp => KEPT_FOR.find(([kept]) => kept.test(service))?.[1] ?? FIRM;

const MONTHS: Record<string, number> = { mensual: 1, bimensual: 2, trimestral: 3, semestral: 6, anual: 12 };
const DAYS: Record<string, number> = { semanal: 7, quincenal: 14 };

/** The services and the notes of their past cycles; a few cycles were not issued, so forecast and issued differ. */
export function planRecurring(context: Context, clients: readonly Client[]) {
  const { today, from } = context;
  const random = context.random('recurring');
  const notes: (Draft<Client> & { recurrente: string })[] = [];
  const recurrentes = SERVICES.map(([descripcion = '', periodicidad = '', ...cells], index): Row => {
    const [price = 0, ago = 0, day = 1] = cells.map(Number);
    const [active, expiry] = cells.slice(3);
    const suited = clients.filter(({ nombre }) => whoFor(descripcion).test(nombre));
    const [ref, client, days] = [`rec-${index + 1}`, random.pick(suited), DAYS[periodicidad]];
    const start = days ? context.workday(monthDay(today, -ago, day)) : monthDay(today, -ago, day);
    const fecha_caducidad = expiry ? monthDay(today, Number(expiry), day) : null;
    const meses_activos = active ? active.split(',').map(Number) : null;
    const line: Line = { ref: '', descripcion, cantidad: 1, importe_unitario: price, iva: client.home ? 10 : 21 };
    const travel = { ...line, descripcion: 'Desplazamiento', importe_unitario: 18 };
    const lineas = numberedLines(index % 4 === 1 ? [line, travel] : [line]);
    const months = MONTHS[periodicidad] ?? 1;
    const cycles = range(120, (cycle) => (days ? plus(start, days * cycle) : monthDay(start, months * cycle, day)));
    const issued = cycles.filter((date) => {
      const alive = date >= from && date <= earlier(today, fecha_caducidad ?? today);
      return alive && (meses_activos?.includes(Number(date.slice(5, 7))) ?? true) && !random.chance(0.03);
    });
    for (const date of issued) {
      const fecha = context.done(date);
      notes.push({ fecha, party: client, lineas, concepto: descripcion, recurrente: ref });
    }
    const fecha_creacion = context.done(later(plus(start, -random.int(0, 12)), from));
    const dates = { fecha_creacion, fecha_inicio: index === 7 ? null : start, fecha_caducidad };
    const cycle = { ultima_facturacion: issued.at(-1) ?? null, dia_ancla: days ? null : day, meses_activos };
    return { ref, descripcion, cliente: client.ref, periodicidad, ...dates, ...cycle, lineas };
  });
  return { notes, recurrentes };
}
