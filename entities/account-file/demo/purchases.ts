// Purchases: delivery notes of suppliers, their monthly invoices, subcontractors, and what any firm spends on.
import type { Context } from './calendar.ts';
import type { Article } from './catalogue.ts';
import {
  articleLines,
  type Draft,
  dueDates,
  type Line,
  monthly,
  numbered,
  type Payment,
  totalCents,
} from './documents.ts';
import type { Supplier } from './parties.ts';
import type { Project } from './projects.ts';
import { FAMILIES } from './sales.ts';
import { at, dateIn, daysBetween, euros, monthDay, pad, plus, type Row, range, table } from './tools.ts';

const SUBTYPES = table(`600|Compras de mercaderías
  607|Trabajos realizados por otras empresas
  621|Arrendamientos y cánones
  622|Reparaciones y conservación
  623|Servicios de profesionales independientes
  624|Transportes
  625|Primas de seguros
  627|Publicidad y relaciones públicas
  628|Suministros`);

// Who (a word of the supplier's name), what, lowest and highest euros, VAT, every how many months.
const EXPENSES = table(`Naves|Alquiler de la nave|2350|2350|21|1
  Renting|Cuota de nueve furgonetas|3390|3510|21|1
  Talleres|Revisión y neumáticos|180|920|21|1
  Gestoría|Asesoría fiscal y laboral|540|540|21|1
  Mensajería|Portes del mes|90|310|21|1
  Correduría|Seguro de flota y responsabilidad civil|1980|2240|0|3
  Rotulación|Campaña local y rotulación|260|980|21|2
  Energía|Electricidad de la nave|310|640|21|1
  Telefonía|Telefonía y fibra|245|268|21|1
  Estaciones|Carburante|1650|2480|21|1`);

type Bought = Draft<Supplier> & { subtipo?: string };

/** The purchases and what was paid of them. What was received stands in the stock, not in its movements. */
export function planPurchases(
  context: Context,
  suppliers: readonly Supplier[],
  articles: readonly Article[],
  projects: readonly Project[],
) {
  const { today, from } = context;
  const random = context.random('purchases');
  const materials = suppliers.filter(({ sells }) => !/\d/.test(sells));
  const order = (fecha: string, trade: Project['trade'], cents: number, project?: Project): Draft<Supplier> => {
    const party = random.pick(materials.filter(({ sells }) => sells.includes(trade)));
    const stock = articles.filter(({ family }) => FAMILIES[trade].includes(family));
    return { fecha, party, project, lineas: articleLines(random, stock, 'compra', cents) };
  };
  const forProjects = projects.flatMap((project) => {
    const share = project.client ? project.cents * random.real(0.24, 0.34) : 350_000;
    const count = random.int(2, 5);
    const dates = range(count, () =>
      dateIn(random, project.start, plus(project.start, daysBetween(project.start, project.end) - 5)),
    );
    return dates.filter((fecha) => fecha <= today).map((fecha) => order(fecha, project.trade, share / count, project));
  });
  const forStock = range(90, (index) => {
    const trade = at(['ele', 'fon', 'cli', 'sol'] as const, index);
    return order(dateIn(random, from, today), trade, 10 ** random.real(4.6, 5.5));
  });
  const notes = numbered([...forProjects, ...forStock], 'E');
  const albaranes_compra = notes.map(({ numero, fecha, party, project, lineas }): Row => {
    return {
      ref: numero,
      numero: random.chance(0.9) ? numero.replace('E', 'ALB-') : null,
      fecha,
      proveedor: party.ref,
      proyecto: project?.ref,
      lineas,
    };
  });

  const expenses = EXPENSES.flatMap(([who = '', descripcion = '', ...figures]): Bought[] => {
    const [low = 0, high = 0, iva, every = 1] = figures.map(Number);
    const party = at(
      suppliers.filter(({ nombre }) => nombre.startsWith(who)),
      0,
    );
    return range(25, (month): Bought[] => {
      const fecha = monthDay(from, month, random.int(1, 28));
      if (month % every !== 0 || fecha < from || fecha > today) return [];
      const line: Line = {
        ref: 'l1',
        descripcion,
        cantidad: 1,
        importe_unitario: random.int(low * 100, high * 100) / 100,
        iva,
      };
      return [{ fecha, party, lineas: [line], subtipo: random.chance(0.95) ? party.sells : undefined }];
    }).flat();
  });
  const subcontracted = projects.flatMap((project): Bought[] => {
    const fecha = plus(project.start, Math.round(daysBetween(project.start, project.end) * random.real(0.5, 0.9)));
    if (!project.client || fecha > today || random.chance(0.4)) return [];
    const party = random.pick(suppliers.filter(({ sells }) => sells === '607'));
    const amount = Math.round(project.cents * random.real(0.03, 0.08));
    const line: Line = {
      ref: 'l1',
      descripcion: 'Trabajos auxiliares en obra',
      cantidad: 1,
      importe_unitario: euros(amount),
    };
    return [{ fecha, party, project, lineas: [line], subtipo: '607' }];
  });
  const invoicedNotes = notes.filter(({ fecha }) => fecha < plus(today, -40) || random.chance(0.7));
  const goods = monthly(invoicedNotes, today, (line) => line).map((draft): Bought => {
    return { ...draft, subtipo: random.chance(0.94) ? '600' : undefined };
  });
  const payments: Payment[] = [];
  const counts = new Map<string, number>();
  const facturas_compra = numbered([...goods, ...expenses, ...subcontracted], 'C').map((draft): Row => {
    const { numero: ref, fecha, party, project, lineas, subtipo } = draft;
    const series = `${at([...party.nombre], 0)}${party.ref.slice(4)}/${fecha.slice(2, 4)}`;
    counts.set(series, (counts.get(series) ?? random.int(10, 900)) + random.int(1, 40));
    const numero = `${series}-${pad(counts.get(series) ?? 0, 5)}`;
    const dues = dueDates(context, random, fecha, totalCents(lineas));
    for (const { settled, when } of dues) {
      const concepto = `Pago ${numero} ${party.nombre}`;
      if (settled !== 0) payments.push({ fecha: when, concepto, party: party.ref, cents: -settled });
    }
    const vencimientos = dues.map((due, index) => {
      return { ref: `v${index + 1}`, fecha: due.fecha, importe: euros(due.importe), pagado: euros(due.settled) };
    });
    const pagado = euros(dues.reduce((sum, { settled }) => sum + settled, 0));
    return { ref, numero, fecha, proveedor: party.ref, proyecto: project?.ref, subtipo, lineas, pagado, vencimientos };
  });
  const subtipos_gasto = SUBTYPES.map(([subtipo, titulo]) => ({ ref: `sub-${subtipo}`, subtipo, titulo }));
  return { payments, rows: { albaranes_compra, subtipos_gasto, facturas_compra } };
}
