// Recurring services of all seven periodicities, and the delivery notes that were issued from them.
import type { Context } from './calendar.ts';
import type { Draft, Line } from './documents.ts';
import type { Client } from './parties.ts';
import { at, earlier, later, monthDay, plus, type Row, range, table } from './tools.ts';

// Description, periodicity, euros a cycle, months since the start, day (the cycle's), active months, months until it expires.
const SERVICES = table(`Limpieza semanal de filtros en cocinas|semanal|68|14|3||
  Control semanal de cloro y depuración de piscina|semanal|54.5|22|6|5,6,7,8,9|
  Revisión quincenal de grupo de presión|quincenal|92|16|9||
  Lectura quincenal de contadores|quincenal|41.3|10|20||-2
  Telegestión de sala de calderas|mensual|129|20|31|10,11,12,1,2,3,4|
  Mantenimiento eléctrico de oficinas|mensual|185|23|31||
  Monitorización de planta fotovoltaica|mensual|39.9|18|5||
  Mantenimiento de climatización de hotel|mensual|460|21|12||
  Mantenimiento de alumbrado de aparcamiento|mensual|96.75|12|30||
  Guardia de averías 24 horas|mensual|240|8|1||10
  Control de legionela|mensual|118|19|15||-5
  Revisión de bombas y aljibe|bimensual|142|20|31||
  Limpieza de conductos de extracción|bimensual|210|15|18||
  Revisión de caldera comunitaria|trimestral|275|23|30||
  Mantenimiento de centro de transformación|trimestral|390|21|31||
  Revisión de emergencias y extracción|trimestral|155.4|11|10|1,4,7,10|
  Puesta a punto de climatización|semestral|320|22|31|4,10,5,11|
  Limpieza de módulos fotovoltaicos|semestral|265|17|14||
  Revisión de instalación de gas|semestral|88|9|22||
  Revisión anual de caldera individual|anual|96|23|8||
  Inspección anual de baja tensión|anual|340|20|31||
  Inspección anual de autoconsumo|anual|180|13|25||36
  Mantenimiento anual de cargadores de vehículo|anual|150|0|2||24
  Telegestión de climatización de clínica|mensual|74|0|4||
  Mantenimiento preventivo de nave|trimestral|410|-1|15||23`);

const MONTHS: Record<string, number> = { mensual: 1, bimensual: 2, trimestral: 3, semestral: 6, anual: 12 };
const WEEKS: Record<string, number> = { semanal: 1, quincenal: 2 };

/** The services and the notes of their past cycles; a few cycles were not issued, so forecast and issued differ. */
export function planRecurring(context: Context, clients: readonly Client[]) {
  const { today, from } = context;
  const random = context.random('recurring');
  const notes: (Draft<Client> & { recurrente: string })[] = [];
  const recurrentes = SERVICES.map(([descripcion = '', periodicidad = '', price, ...rest], index): Row => {
    const [ago = '', day = '', active = '', expiry = ''] = rest;
    const ref = `rec-${index + 1}`;
    const client = random.pick(clients);
    const fecha_inicio = monthDay(today, -Number(ago), Number(day));
    const fecha_caducidad = expiry === '' ? null : monthDay(today, Number(expiry), Number(day));
    const months = active === '' ? [] : active.split(',').map(Number);
    const line: Line = {
      ref: 'l1',
      descripcion,
      cantidad: 1,
      importe_unitario: Number(price),
      iva: client.home ? 10 : 21,
    };
    const lineas =
      index % 4 === 1 ? [line, { ...line, ref: 'l2', descripcion: 'Desplazamiento', importe_unitario: 18 }] : [line];
    const weeks = WEEKS[periodicidad];
    const dates = range(120, (cycle) =>
      weeks
        ? plus(fecha_inicio, 7 * weeks * cycle)
        : monthDay(fecha_inicio, (MONTHS[periodicidad] ?? 1) * cycle, Number(day)),
    );
    const issued = dates.filter((date) => {
      const inactive = months.length > 0 && periodicidad !== 'anual' && !months.includes(Number(date.slice(5, 7)));
      return date >= from && date <= earlier(today, fecha_caducidad ?? today) && !inactive && !random.chance(0.03);
    });
    for (const fecha of issued) notes.push({ fecha, party: client, lineas, concepto: descripcion, recurrente: ref });
    return {
      ref,
      descripcion,
      cliente: client.ref,
      periodicidad,
      fecha_creacion: earlier(later(plus(fecha_inicio, -random.int(0, 12)), from), today),
      fecha_inicio: index === 6 ? null : fecha_inicio,
      fecha_caducidad,
      ultima_facturacion: issued.length > 0 ? at(issued, -1) : null,
      meses_activos: months.length > 0 ? months.sort((a, b) => a - b) : null,
      dia_ancla: weeks ? null : Number(day),
      lineas,
    };
  });
  return { notes, recurrentes };
}
