// Purchases: delivery notes of suppliers, their monthly invoices, subcontractors and general expenses.

import type { Company, Draft, Line, Payment } from './documents.ts';
import * as documents from './documents.ts';
import { TRADES, type Trade } from './names-and-places.ts';
import type { Supplier } from './parties.ts';
import type { Project } from './projects.ts';
import { materials } from './sales.ts';
import { along, at, euros, monthDay, pad, plus, type Row, range, table } from './tools.ts';

const SUBTYPES = table(`600|Compras de mercaderías//607|Trabajos realizados por otras empresas
  621|Arrendamientos y cánones//622|Reparaciones y conservación//623|Servicios de profesionales independientes
  624|Transportes//625|Primas de seguros//627|Publicidad y relaciones públicas//628|Suministros`);

// Prefix of the supplier's name, what it bills, lowest and highest euros, VAT, months between invoices.
const EXPENSES = table(`Naves|Alquiler de la nave|2350|2350|21|1//Renting|Cuota de nueve furgonetas|3390|3510|21|1
  Talleres|Revisión y neumáticos|180|920|21|1//Gestoría|Asesoría fiscal y laboral|540|540|21|1
  Mensajería|Portes del mes|90|310|21|1//Correduría|Seguros de flota y responsabilidad|1980|2240|0|3
  Rotulación|Campaña local|260|980|21|2//Energía|Electricidad de la nave|310|640|21|1
  Telefonía|Telefonía y fibra|245|268|21|1//Estaciones|Carburante|1650|2480|21|1`);

type Bought = Draft<Supplier> & { subtipo?: string };

/** The purchases and their payments. Received goods are in the stock, without stock movements. */
export function planPurchases({ context, suppliers, articles, projects }: Company) {
  const { today, from } = context;
  const random = context.random('purchases');
  const past = ({ fecha }: { fecha: string }) => fecha >= from && fecha < today;
  const order = (fecha: string, trade: Trade, cents: number, project?: Project): Draft<Supplier> => {
    const party = random.pick(suppliers.filter(({ sells }) => sells.includes(trade)));
    const lineas = documents.articleLines(random, materials(articles, trade), 'compra', cents);
    return { fecha, party, project, lineas };
  };
  const forProjects = projects.flatMap((project) => {
    const { start, until, trade, cents, client } = project;
    const [share, count] = [client ? cents * random.real(0.24, 0.34) : 350_000, random.int(2, 5)];
    return range(count, () =>
      order(context.workday(along(start, until, random.real(0, 0.8))), trade, share / count, project),
    );
  });
  const forStock = range(90, (index) => {
    return order(context.done(along(from, today, random.real())), at(TRADES, index), 10 ** random.real(4.6, 5.5));
  });
  const notes = documents.numbered([...forProjects, ...forStock].filter(past), 'E');
  const albaranes_compra = notes.map(({ numero: ref, fecha, party, project, lineas }): Row => {
    const numero = random.chance(0.9) ? ref.replace('E', `${party.ref.slice(4)}/`) : null;
    return { ref, numero, fecha, proveedor: party.ref, proyecto: project?.ref, lineas };
  });

  const bill = (fecha: string, who: string, line: Omit<Line, 'ref' | 'cantidad'>, project?: Project): Bought => {
    const party = random.pick(suppliers.filter(({ nombre, sells }) => nombre.startsWith(who) || sells === who));
    const lineas: Line[] = [{ ref: 'l1', cantidad: 1, ...line }];
    return { fecha, party, project, lineas, subtipo: random.chance(0.95) ? party.sells : undefined };
  };
  const expenses = EXPENSES.flatMap(([who = '', descripcion = '', ...figures]) => {
    const [low = 0, high = 0, iva = 21, every = 1] = figures.map(Number);
    return range(Math.ceil(25 / every), (index) => {
      const importe_unitario = euros(random.int(low * 100, high * 100));
      return bill(context.workday(monthDay(from, index * every, random.int(1, 28))), who, {
        descripcion,
        importe_unitario,
        iva,
      });
    });
  });
  const subcontracted = projects.flatMap((project) => {
    const fecha = context.workday(along(project.start, project.end, random.real(0.5, 0.9)));
    const importe_unitario = euros(Math.round(project.cents * random.real(0.03, 0.08)));
    if (!project.client || random.chance(0.4)) return [];
    return [bill(fecha, '607', { descripcion: 'Trabajos auxiliares en obra', importe_unitario }, project)];
  });
  const ready = notes.filter(({ fecha }) => fecha < plus(today, -40) || random.chance(0.7));
  const goods = documents.monthly(context, ready).map(({ lineas, ...draft }): Bought => {
    const received = lineas.map(({ albaran, ...line }) => ({ ...line, albaran_compra: albaran }));
    return { ...draft, lineas: received, subtipo: random.chance(0.94) ? '600' : undefined };
  });
  const paid: Payment[] = [];
  const counts = new Map<string, number>();
  const invoices = documents.numbered([...goods, ...expenses, ...subcontracted].filter(past), 'C');
  const facturas_compra = invoices.map(({ numero: ref, fecha, party, project, lineas, subtipo }): Row => {
    const series = `${party.nombre.slice(0, 2).toUpperCase()}${party.ref.slice(4)}/${fecha.slice(2, 4)}`;
    const count = (counts.get(series) ?? random.int(10, 900)) + random.int(1, 40);
    counts.set(series, count);
    const numero = `${series}-${pad(count, 5)}`;
    const total = documents.totalCents(lineas);
    const { vencimientos, payments } = documents.dueDates(context, random, fecha, total, 'pagado');
    const payment = { concepto: `Pago ${numero} ${party.nombre}`, expense: Number(party.sells) > 607 };
    for (const { fecha: day, cents, vencimiento } of payments) {
      paid.push({ ...payment, fecha: day, cents: -cents, settles: { factura_compra: ref, vencimiento } });
    }
    const pagado = euros(payments.reduce((sum, { cents }) => sum + cents, 0));
    return { ref, numero, fecha, proveedor: party.ref, proyecto: project?.ref, subtipo, lineas, pagado, vencimientos };
  });
  const subtipos_gasto = SUBTYPES.map(([subtipo, titulo]) => ({ ref: `sub-${subtipo}`, subtipo, titulo }));
  return { paid, rows: { albaranes_compra, subtipos_gasto, facturas_compra } };
}
