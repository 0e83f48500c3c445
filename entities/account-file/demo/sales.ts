// Sales: estimates, delivery notes with their stock movements, and invoices.
import { pdf } from './attachments.ts';
import type { Context } from './calendar.ts';
import type { Article } from './catalogue.ts';
import * as documents from './documents.ts';
import type { Draft, Line, Payment } from './documents.ts';
import { TRADES, type Trade, WORKS } from './names-and-places.ts';
import type { Client } from './parties.ts';
import type { Project } from './projects.ts';
import { planRecurring } from './recurring.ts';
import { at, dateIn, daysBetween, earlier, euros, instant, plus, type Random, type Row, range } from './tools.ts';

/** The families that each trade installs. */
export const FAMILIES: Record<Trade, readonly string[]> = {
  ele: ['CAB', 'MEC', 'CUA', 'CAN', 'ILU'],
  fon: ['PEX', 'PVC', 'VAL', 'SAN'],
  cli: ['CAL', 'CLI', 'COB'],
  sol: ['SOL', 'CUA'],
};

type Note = Draft<Client> & { recurrente?: string };

const REMARKS = [
  '<p>Entregar en obra, preguntar por <strong>el encargado</strong>.</p>',
  '<p>Llamar antes de ir.</p><ul><li>Llaves en conserjería</li></ul>',
  'Material revisado y conforme.',
];

const priced = (line: Line, home: boolean): Line => ({ ...line, iva: home ? 10 : 21 });
const saleRow = ({ party, project, fecha, concepto, lineas }: Draft<Client>) => {
  return { fecha, concepto, cliente: party.ref, proyecto: project?.ref, lineas };
};

/** Materials and labour of each project with a client, as it went on. */
function projectNotes(
  context: Context,
  random: Random,
  projects: readonly Project[],
  articles: readonly Article[],
): Note[] {
  return projects.flatMap(({ client, trade, start, end, cents, ...rest }) => {
    if (!client || start >= context.today) return [];
    const stock = articles.filter(({ family }) => FAMILIES[trade].includes(family));
    const labour = at(
      articles.filter(({ descripcion }) => descripcion.startsWith('Hora de ')),
      TRADES.indexOf(trade),
    );
    const count = random.int(3, 7);
    return range(count, (index): Note[] => {
      const fecha = plus(start, Math.round((daysBetween(start, end) * (index + 0.7)) / count));
      if (fecha > context.today) return [];
      const lineas = documents.articleLines(random, stock, client.tarifa, (cents * 0.4) / count);
      const hours = { ...documents.articleLine(random, labour, client.tarifa, 1), cantidad: random.int(4, 60) / 2 };
      if (index % 2 === 1) lineas.push({ ...hours, ref: `l${lineas.length + 1}` });
      const project = { client, trade, start, end, cents, ...rest };
      return [{ fecha, party: client, project, lineas, concepto: `Entrega ${index + 1} de obra` }];
    }).flat();
  });
}

/** Over the counter and small jobs, sometimes with something brought back. */
function counterNotes(
  context: Context,
  random: Random,
  clients: readonly Client[],
  articles: readonly Article[],
  projects: readonly Project[],
): Note[] {
  const dates = context.days.filter((day) => context.isWorkday(day) && day < context.today);
  return range(560, () => {
    const party = random.pick(clients);
    const fecha = random.pick(dates);
    const lineas = documents.articleLines(random, articles, party.tarifa, 10 ** random.real(3.6, 5.4));
    const first = at(lineas, 0);
    const whole = first.cantidad > 3 && first.cantidad_base_real === undefined;
    if (whole && random.chance(0.06)) lineas.push({ ...first, ref: `l${lineas.length + 1}`, cantidad: -1 });
    const own = projects.filter(({ client, start, end }) => client === party && start <= fecha && fecha <= end);
    if (own.length > 0) first.proyecto = at(own, 0).ref;
    return {
      fecha,
      party,
      lineas,
      concepto: random.pick(['Venta en tienda', 'Reparación de avería', 'Suministro de material']),
    };
  });
}

/** Rentals of two years; the last ones reserve today and the coming weeks. */
function rentalNotes(
  context: Context,
  random: Random,
  clients: readonly Client[],
  articles: readonly Article[],
): Note[] {
  return range(84, (index) => {
    const article = at(articles, index * 5);
    const party = random.pick(clients);
    const fecha =
      index < 60 ? dateIn(random, context.from, plus(context.today, -30)) : plus(context.today, -random.int(0, 20));
    const startDate = plus(fecha, random.int(0, index < 60 ? 3 : 30));
    const days = random.int(2, 12);
    const daily = article.cents[party.tarifa];
    const line: Line = {
      ref: 'l1',
      descripcion: `${article.descripcion.replace(' (día)', '')}, ${days} días`,
      cantidad: random.pick([1, 1, 1, 2]),
      importe_unitario: euros(daily * days),
      articulo: article.ref,
      startDate,
      endDate: plus(startDate, days - 1),
    };
    return { fecha, party, lineas: [line], concepto: 'Alquiler de maquinaria' };
  });
}

/** Certified stages of the works, invoiced without delivery notes. */
function stageInvoices(context: Context, random: Random, projects: readonly Project[]): Draft<Client>[] {
  return projects.flatMap((project) => {
    const { client, start, end, cents } = project;
    const count = random.int(1, 4);
    return range(count, (index): Draft<Client>[] => {
      const fecha = plus(start, Math.round((daysBetween(start, end) * (index + 1)) / count));
      if (!client || fecha > context.today) return [];
      const concepto = `Certificación ${index + 1} de ${count}, obra ${project.ref}`;
      const amount = Math.round(((cents * 0.6) / count) * random.real(0.94, 1.08));
      const line: Line = { ref: 'l1', descripcion: concepto, cantidad: 1, importe_unitario: euros(amount) };
      return [{ fecha, party: client, project, concepto, lineas: [priced(line, client.home)] }];
    }).flat();
  });
}

/** What documents moved: only articles that are sold out of stock. */
function movementsOf(random: Random, articles: ReadonlyMap<string, Article>, albaran: string, note: Note): Row[] {
  const fecha = instant(random, note.fecha);
  return note.lineas.flatMap((line) => {
    const article = articles.get(line.articulo ?? '');
    if (article?.modo !== 'venta') return [];
    const factor = article.formatos.find(({ ref }) => ref === line.formato)?.factor ?? 1;
    const cantidad = -(line.cantidad_base_real ?? line.cantidad * factor);
    return [{ articulo: article.ref, variacion: line.variacion, fecha, cantidad, albaran, linea: line.ref, factor }];
  });
}

function planEstimates(context: Context, clients: readonly Client[], articles: readonly Article[]) {
  const random = context.random('estimates');
  const drafts = range(150, (): Draft<Client> => {
    const party = random.pick(clients);
    const trade = random.pick(TRADES);
    const stock = articles.filter(({ family }) => FAMILIES[trade].includes(family) || family === 'SER');
    const lineas = documents.articleLines(random, stock, party.tarifa, 10 ** random.real(4.5, 6.5));
    const concepto = `${random.pick(WORKS[trade])} en ${party.town}`;
    return { fecha: dateIn(random, context.from, context.today), party, concepto, lineas };
  });
  const presupuestos: Row[] = [];
  const adjuntos: Row[] = [];
  for (const { numero, ...draft } of documents.numbered(drafts, 'P')) {
    presupuestos.push({ ref: numero, id: presupuestos.length + 1, numero, ...saleRow(draft) });
    if (presupuestos.length > 1 && random.chance(0.6)) continue;
    const fecha_subida = instant(random, earlier(draft.fecha, plus(context.today, -1)));
    const page = ['Instalaciones Montalt, S.L.', `Presupuesto ${numero}`, `${draft.concepto}`, draft.party.nombre];
    const note = `Visita a obra: ${draft.concepto}. Acceso por la calle, sin restricciones de horario.\n`;
    const add = (nombre: string, tipo_mime: string, content: Buffer) => {
      const ref = `adj-${adjuntos.length + 1}`;
      adjuntos.push({
        ref,
        presupuesto: numero,
        nombre,
        tipo_mime,
        fecha_subida,
        contenido: content.toString('base64'),
      });
    };
    add(`${numero}.pdf`, 'application/pdf', pdf(page));
    if (random.chance(0.4)) add('notas-de-la-visita.txt', 'text/plain', Buffer.from(note));
  }
  return { presupuestos, adjuntos };
}

/** All sale documents, and what was collected of the invoices. */
export function planSales(
  context: Context,
  clients: readonly Client[],
  articles: readonly Article[],
  projects: readonly Project[],
) {
  const random = context.random('sales');
  const { today } = context;
  const recurring = planRecurring(context, clients);
  const byRef = new Map(articles.map((article) => [article.ref, article]));
  const rented = articles.filter(({ modo }) => modo === 'alquiler');
  const sold = articles.filter(({ modo, cents }) => modo !== 'alquiler' && cents[0] < 50_000);
  const notes = documents.numbered<Note>(
    [
      ...recurring.notes,
      ...projectNotes(context, random, projects, articles),
      ...counterNotes(context, random, clients, sold, projects),
      ...rentalNotes(context, random, clients, rented),
    ],
    'A',
  );
  const albaranes = notes.map(({ numero, recurrente, ...note }): Row => {
    const row = { ref: numero, numero, ...saleRow(note), recurrente, revisado: note.fecha < plus(today, -5) };
    if (random.chance(0.02)) Object.assign(row, { promo_code: 'CLIENTE10' });
    return random.chance(0.08) ? { ...row, observaciones: random.pick(REMARKS) } : row;
  });
  const movimientos = notes
    .flatMap(({ numero, ...note }) => movementsOf(random, byRef, numero, note))
    .map((row, index) => {
      return { ref: `mov-${index + 1}`, ...row };
    });
  const invoiced = notes.filter(({ fecha }) => random.chance(fecha < plus(today, -75) ? 0.97 : 0.6));
  const fromNotes = documents.monthly(invoiced, today, (line, { numero }) => ({ ...line, albaran: numero }));
  const collections: Payment[] = [];
  const facturas = documents
    .numbered([...fromNotes, ...stageInvoices(context, random, projects)], 'F')
    .map(({ numero, ...draft }): Row => {
      const dues = documents.dueDates(context, random, draft.fecha, documents.totalCents(draft.lineas));
      for (const { settled, when } of dues) {
        const concepto = `Cobro ${numero} ${draft.party.nombre}`;
        if (settled !== 0) collections.push({ fecha: when, concepto, party: draft.party.ref, cents: settled });
      }
      const vencimientos = dues.map(({ fecha, importe, settled }, index) => {
        return { ref: `v${index + 1}`, fecha, importe: euros(importe), cobrado: euros(settled) };
      });
      return { ref: numero, numero, ...saleRow(draft), vencimientos };
    });
  const rows = { recurrentes: recurring.recurrentes, albaranes, movimientos_stock: movimientos, facturas };
  return { collections, rows: { ...planEstimates(context, clients, articles), ...rows } };
}
