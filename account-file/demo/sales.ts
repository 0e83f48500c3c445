// Sales: estimates, delivery notes with their stock movements, invoices and what rectifies them.
import { pdf } from './attachments.ts';
import type { Context } from './calendar.ts';
import type { Article } from './catalogue.ts';
import type { Company, Draft, Line, Payment } from './documents.ts';
import * as documents from './documents.ts';
import { suits, TRADES, type Trade, WORKS } from './names-and-places.ts';
import type { Client } from './parties.ts';
import type { Project } from './projects.ts';
import { planRecurring } from './recurring.ts';
import { along, at, euros, instant, plus, type Random, type Row, range } from './tools.ts';

type Note = Draft<Client> & { recurrente?: string };

const REMARKS = [
  '<p>Entregar en obra, preguntar por <strong>el encargado</strong>.</p>',
  '<p>Llamar antes de ir.</p><ul><li>Llaves en conserjería</li></ul>',
  'Material revisado y conforme.',
];

// The families that a trade installs.
const FAMILIES: Record<Trade, RegExp> = {
  ele: /CAB|MEC|CUA|CAN|ILU/,
  fon: /PEX|PVC|VAL|SAN/,
  cli: /CAL|CLI|COB/,
  sol: /SOL|CUA/,
};

/** The articles that a trade installs. */
export const materials = (articles: readonly Article[], trade: Trade): Article[] =>
  articles.filter(({ family }) => FAMILIES[trade].test(family));

// Services of a trade beside its materials, by their descriptions.
const SERVICES: Record<Trade, RegExp> = {
  ele: /electric|Desplazamiento/,
  fon: /fontaner|agua|Desplazamiento/,
  cli: /calefactor|climatización|caldera|gas|Desplazamiento/,
  sol: /solar|autoconsumo|Desplazamiento/,
};

/** The services of a trade; some are only for homes or only for firms. */
const servicesOf = (articles: readonly Article[], trade: Trade, { home }: Client): Article[] =>
  articles.filter(
    ({ modo, descripcion }) => modo === 'servicio' && SERVICES[trade].test(descripcion) && suits(descripcion, home),
  );

const saleRow = ({ party, project, fecha, concepto, lineas }: Draft<Client>): Row => {
  return { fecha, concepto, cliente: party.ref, proyecto: project?.ref, lineas };
};

/** A work's delivery notes, with materials and labour. */
function worksNotes({ context, articles }: Company, random: Random, project: Project): Note[] {
  const { client: party, trade, start, end, until, cents } = project;
  const stock = materials(articles, trade);
  const labour = articles.filter(({ descripcion }) => descripcion.startsWith('Hora de'));
  const count = random.int(3, 7);
  if (!party) return [];
  return range(count, (index) => {
    const { ref: articulo, descripcion, cents: price } = at(labour, TRADES.indexOf(trade) + random.pick([0, 4]));
    const cantidad = random.int(4, 60) / 2;
    const hours: Line = { ref: '', descripcion, cantidad, importe_unitario: euros(price[party.tarifa]), articulo };
    const goods = documents.articleLines(random, stock, party.tarifa, (cents * 0.4) / count);
    const lineas = documents.numberedLines(index % 2 === 1 ? [...goods, hours] : goods);
    const fecha = context.workday(along(start, end, (index + 0.7) / count));
    return { fecha, party, project, lineas, concepto: `Entrega ${index + 1} de obra` };
  }).filter(({ fecha }) => fecha <= until && fecha < context.today);
}

/** The certified stages of a work, invoiced without delivery notes. */
function stageInvoices({ today, workday }: Context, random: Random, project: Project): Draft<Client>[] {
  const { client: party, start, end, until, cents, ref } = project;
  const count = random.int(1, 4);
  if (!party) return [];
  return range(count, (index) => {
    const descripcion = `Certificación ${index + 1} de ${count}, obra ${ref}`;
    const importe_unitario = euros(Math.round(((cents * 0.6) / count) * random.real(0.94, 1.08)));
    const line: Line = { ref: 'l1', descripcion, cantidad: 1, importe_unitario, iva: party.home ? 10 : 21 };
    return {
      fecha: workday(along(start, end, (index + 1) / count)),
      party,
      project,
      lineas: [line],
      concepto: descripcion,
    };
  }).filter(({ fecha }) => fecha <= until && fecha < today);
}

/** Counter sales and small jobs, some for a work in progress, some with a return. */
function counterNotes({ context, clients, articles, projects }: Company, random: Random): Note[] {
  const dates = context.days.filter((day) => context.isWorkday(day) && day < context.today);
  return range(560, () => {
    const [party, fecha] = [random.pick(clients), random.pick(dates)];
    const work = projects.find(({ client, start, until }) => client === party && start <= fecha && fecha <= until);
    const trade = work?.trade ?? random.pick(TRADES);
    const concepto = random.pick(['Venta en tienda', 'Reparación de avería', 'Suministro de material']);
    const labour = concepto.startsWith('Reparación') ? servicesOf(articles, trade, party) : [];
    const sold = [...materials(articles, trade).filter(({ cents }) => cents[0] < 50_000), ...labour];
    const lineas = documents.articleLines(random, sold, party.tarifa, 10 ** random.real(3.7, 5.6));
    const first = at(lineas, 0);
    if (first.cantidad > 2 && !first.cantidad_base_real && random.chance(0.1)) lineas.push({ ...first, cantidad: -1 });
    first.proyecto = work?.ref;
    return { fecha, party, lineas: documents.numberedLines(lineas), concepto };
  });
}

/** Rentals of the two years; the last ones reserve today and the coming weeks. */
function rentalNotes({ context, clients, articles }: Company, random: Random): Note[] {
  const { today, from } = context;
  const rented = articles.filter(({ modo }) => modo === 'alquiler');
  return range(84, (index) => {
    const [party, article, last] = [random.pick(clients), at(rented, index * 5), index >= 60];
    const fecha = context.done(last ? plus(today, -random.int(0, 20)) : along(from, plus(today, -30), random.real()));
    const [startDate, days] = [context.workday(plus(fecha, random.int(0, last ? 30 : 3))), random.int(2, 12)];
    const descripcion = `${article.descripcion.replace(' (día)', '')}, ${days} días`;
    const what = { ref: 'l1', descripcion, cantidad: random.pick([1, 1, 1, 2]), articulo: article.ref };
    const importe_unitario = euros(article.cents[party.tarifa] * days);
    const line: Line = { ...what, importe_unitario, startDate, endDate: plus(startDate, days - 1) };
    return { fecha, party, lineas: [line], concepto: 'Alquiler de maquinaria' };
  });
}

/** The stock movements of the notes: only articles with stock. */
function movementsOf({ articles }: Company, random: Random, notes: readonly (Note & { numero: string })[]): Row[] {
  const byRef = new Map(articles.map((article) => [article.ref, article]));
  return notes.flatMap(({ numero: albaran, ...note }) => {
    const fecha = instant(random, note.fecha);
    return note.lineas.flatMap((line) => {
      const { articulo = '', variacion, ref: linea } = line;
      const article = byRef.get(articulo);
      if (article?.modo !== 'venta') return [];
      const factor = article.formatos.find(({ ref }) => ref === line.formato)?.factor;
      const cantidad = -(line.cantidad_base_real ?? line.cantidad * (factor ?? 1));
      return [{ ref: `mov-${albaran}-${linea}`, articulo, variacion, fecha, cantidad, albaran, linea, factor }];
    });
  });
}

/** When and why a few of the notes that are not invoiced were annulled, by number. */
function annulments({ context }: Company, notes: readonly (Note & { numero: string })[]): Map<string, Row> {
  const old = notes.filter(({ fecha, recurrente }) => !recurrente && fecha < plus(context.today, -5));
  return new Map(
    old
      .filter((_, index) => index % 16 === 0)
      .map(({ numero, fecha }) => {
        const anulado_el = `${context.workday(plus(fecha, 1))} 09:30:00`;
        return [numero, { anulado_el, anulado_por: 'command', motivo_anulacion: 'Albarán duplicado' }];
      }),
  );
}

/** The movements that bring back the goods of annulled notes. */
const returned = (movements: readonly Row[], annulled: ReadonlyMap<string, Row>): Row[] =>
  movements.flatMap(({ ref, ...row }) => {
    const { anulado_el } = annulled.get(String(row.albaran)) ?? {};
    return anulado_el ? [{ ...row, ref: `${ref}-anulado`, fecha: anulado_el, cantidad: -Number(row.cantidad) }] : [];
  });

function planEstimates({ context, clients, articles }: Company) {
  const random = context.random('estimates');
  const drafts = range(150, () => {
    const [party, trade] = [random.pick(clients), random.pick(TRADES)];
    const stock = [...materials(articles, trade), ...servicesOf(articles, trade, party)];
    const lineas = documents.articleLines(random, stock, party.tarifa, 10 ** random.real(4.5, 6.5));
    const concepto = `${random.pick(WORKS[trade].filter((work) => suits(work, party.home)))} en ${party.town}`;
    return { fecha: context.done(along(context.from, context.today, random.real())), party, concepto, lineas };
  });
  const [presupuestos, adjuntos, notes]: [Row[], Row[], Note[]] = [[], [], []];
  const answers = context.random('answers');
  for (const [index, { numero, ...draft }] of documents.numbered(drafts, 'P').entries()) {
    const converted = context.workday(plus(draft.fecha, answers.int(3, 15)));
    const answered = converted < plus(context.today, -10);
    const estado = answered
      ? answers.pick(['aceptado', 'aceptado', 'rechazado', 'rechazado', 'pendiente'])
      : 'pendiente';
    const valido_hasta = plus(draft.fecha, 30);
    presupuestos.push({ ref: numero, id: index + 1, numero, ...saleRow(draft), estado, valido_hasta });
    if (estado === 'aceptado' && index % 4 === 0) notes.push(noteOf(numero, draft, converted));
    const fecha_subida = instant(random, draft.fecha);
    const add = (nombre: string, tipo_mime: string, content: Buffer) => {
      const [ref, contenido] = [`adj-${adjuntos.length + 1}`, content.toString('base64')];
      adjuntos.push({ ref, presupuesto: numero, nombre, tipo_mime, fecha_subida, contenido });
    };
    const page = ['Instalaciones Montalt, S.L.', `Presupuesto ${numero}`, draft.concepto, draft.party.nombre];
    if (index % 3 === 0) add(`${numero}.pdf`, 'application/pdf', pdf(page));
    if (index % 7 === 0) add('visita.txt', 'text/plain', Buffer.from(`Visita a la obra: ${draft.concepto}\n`));
  }
  return { notes, rows: { presupuestos, adjuntos } };
}

/** The note that an estimate was converted into; of long ones a line is left. */
function noteOf(presupuesto: string, draft: Draft<Client>, fecha: string): Note {
  const lines = draft.lineas.length > 3 ? draft.lineas.slice(0, -1) : draft.lineas;
  return { ...draft, fecha, lineas: lines.map((line) => ({ ...line, presupuesto, linea_presupuesto: line.ref })) };
}

type Invoice = Draft<Client> & { numero: string; vencimientos: Row[] };

/**
 * Rectifying invoices of goods that came back from invoices that nobody has paid yet: they are set off against the first due date,
 * and the goods are in stock again.
 */
function planReturns({ context, articles }: Company, invoices: readonly Invoice[]) {
  const random = context.random('returns');
  const stored = new Map(articles.flatMap((article) => (article.modo === 'venta' ? [[article.ref, article]] : [])));
  const found = invoices.flatMap(({ numero, vencimientos, ...draft }) => {
    const place = draft.lineas.findIndex(
      ({ articulo = '', cantidad, cantidad_base_real }) => stored.has(articulo) && cantidad > 1 && !cantidad_base_real,
    );
    const [line, due] = [draft.lineas[place], vencimientos[0]];
    if (!line || !due || vencimientos.some(({ cobrado }) => cobrado !== 0)) return [];
    const { proviene_albaranes, albaran, ...goods } = line;
    const lineas = [{ ...goods, ref: 'l1', cantidad: -1, linea_rectificada: place + 1 }];
    const cents = documents.totalCents(lineas);
    if (-cents > Math.round(Number(due.importe) * 100)) return [];
    return [
      { ...draft, fecha: context.done(plus(draft.fecha, random.int(3, 9))), lineas, cents, rectifica: numero, due },
    ];
  });
  const chosen = found.filter((_, index) => index % 6 === 0);
  const [facturas, offsets, movimientos]: [Row[], Row[], Row[]] = [[], [], []];
  for (const { numero, cents, rectifica, due, ...draft } of documents.numbered(chosen, 'R')) {
    const importe = euros(cents);
    due.cobrado = -importe;
    const vencimientos = [{ ref: 'v1', fecha: draft.fecha, importe, cobrado: importe }];
    const motivo_rectificacion = 'Material devuelto';
    facturas.push({ ref: numero, numero, ...saleRow(draft), rectifica, motivo_rectificacion, vencimientos });
    const { fecha } = draft;
    offsets.push({ factura: rectifica, vencimiento: 1, fecha, importe: -importe });
    offsets.push({ factura: numero, vencimiento: 1, fecha, importe });
    for (const { articulo = '', variacion, formato } of draft.lineas) {
      const factor = stored.get(articulo)?.formatos.find(({ ref }) => ref === formato)?.factor;
      const moved = {
        articulo,
        variacion,
        fecha: instant(random, fecha),
        cantidad: factor ?? 1,
        factor,
        factura: numero,
      };
      movimientos.push({ ref: `mov-${numero}`, ...moved });
    }
  }
  return { facturas, offsets, movimientos };
}

/** All sale documents, and the payments received for the invoices. */
export function planSales(company: Company) {
  const { context, projects } = company;
  const { today } = context;
  const random = context.random('sales');
  const { notes: renewals, recurrentes } = planRecurring(context, company.clients);
  const works = projects.flatMap((project) => worksNotes(company, random, project));
  const estimates = planEstimates(company);
  const others = [...counterNotes(company, random), ...rentalNotes(company, random), ...estimates.notes];
  const notes = documents.numbered<Note>([...renewals, ...works, ...others], 'A');
  const issued = notes.map(({ numero, recurrente, ...note }, index) => {
    const observaciones = random.chance(0.08) ? random.pick(REMARKS) : null;
    const promo_code = random.chance(0.02) ? 'CLIENTE10' : null;
    const state = { recurrente, observaciones, promo_code, revisado: note.fecha < plus(today, -5) };
    return { ref: numero, id: index + 1, numero, ...saleRow(note), ...state };
  });
  const moved = movementsOf(company, random, notes);
  const ready = notes.filter(({ fecha }) => random.chance(fecha < plus(today, -75) ? 0.97 : 0.6));
  const annulled = annulments(
    company,
    notes.filter((note) => !ready.includes(note)),
  );
  const albaranes = issued.map((note): Row => ({ ...note, ...annulled.get(note.numero) }));
  const stages = projects.flatMap((project) => stageInvoices(context, random, project));
  const invoices = [...documents.monthly(context, ready).filter(({ fecha }) => fecha < today), ...stages];
  const collected: Payment[] = [];
  const issuedInvoices = documents.numbered(invoices, 'F').map((draft): Invoice => {
    const { numero } = draft;
    const total = documents.totalCents(draft.lineas);
    const { vencimientos, payments } = documents.dueDates(context, random, draft.fecha, total, 'cobrado');
    const concepto = `Cobro ${numero} ${draft.party.nombre}`;
    for (const { vencimiento, ...payment } of payments) {
      collected.push({ ...payment, concepto, settles: { factura: numero, vencimiento } });
    }
    return { ...draft, vencimientos };
  });
  const back = planReturns(company, issuedInvoices);
  const facturas = [
    ...issuedInvoices.map(({ numero, vencimientos, ...draft }) => {
      return { ref: numero, numero, ...saleRow(draft), vencimientos };
    }),
    ...back.facturas,
  ].map((invoice, index): Row => ({ ...invoice, id: index + 1 }));
  const movimientos_stock = [...moved, ...returned(moved, annulled), ...back.movimientos];
  const rows = { ...estimates.rows, recurrentes, albaranes, movimientos_stock, facturas };
  return { collected, offsets: back.offsets, rows };
}
