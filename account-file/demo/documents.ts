// Shared by sale and purchase documents: lines, exact amounts, numbers, monthly invoices, due dates.
import type { Context } from './calendar.ts';
import type { Article } from './catalogue.ts';
import type { Client, Supplier } from './parties.ts';
import type { Project } from './projects.ts';
import { at, euros, monthDay, pad, plus, type Random, type Row, range } from './tools.ts';

/** The data that documents are made from. */
export interface Company {
  context: Context;
  clients: readonly Client[];
  suppliers: readonly Supplier[];
  articles: readonly Article[];
  projects: readonly Project[];
}

/** LINE of the account file. */
export interface Line {
  ref: string;
  descripcion: string;
  cantidad: number;
  importe_unitario: number;
  descuento?: number;
  iva?: number;
  articulo?: string;
  variacion?: string;
  formato?: string;
  cantidad_base_real?: number;
  startDate?: string;
  endDate?: string;
  proyecto?: string;
  proviene_albaranes?: boolean;
  albaran?: string;
  albaran_compra?: string;
  presupuesto?: string;
  linea_presupuesto?: string;
  linea_rectificada?: number;
}

/** A document before it has a number. */
export interface Draft<Party> {
  fecha: string;
  party: Party;
  project?: Project;
  lineas: Line[];
  concepto?: string;
}

/** A payment received, or made if negative. */
export interface Payment {
  fecha: string;
  concepto: string;
  cents: number;
  /** An expense such as rent, paid from the account for expenses. */
  expense?: boolean;
  /** The invoice and its due date. */
  settles: Row;
}

/** Orders by date; entries of one day keep their order. */
export const byDate = (a: { fecha: string }, b: { fecha: string }): number =>
  Number(a.fecha > b.fecha) - Number(a.fecha < b.fecha);

/** A quotient in whole numbers, rounded half away from zero. */
function rounded(numerator: bigint, denominator: bigint): number {
  return Number((2n * numerator + (numerator < 0n ? -denominator : denominator)) / (2n * denominator));
}

/** A line's amount in cents, from its quantity in thousandths and its price in cents. */
export function lineCents({ cantidad, importe_unitario, descuento = 0 }: Line): number {
  const price = BigInt(Math.round(importe_unitario * 100)) * BigInt(100 - descuento);
  return rounded(BigInt(Math.round(cantidad * 1000)) * price, 100_000n);
}

/** A document's total in cents: the base of each rate and its VAT, rounded rate by rate. */
export function totalCents(lines: readonly Line[]): number {
  const bases = new Map<number, number>();
  for (const line of lines) bases.set(line.iva ?? 21, (bases.get(line.iva ?? 21) ?? 0) + lineCents(line));
  return [...bases].reduce((sum, [rate, base]) => sum + base + rounded(BigInt(base * rate), 100n), 0);
}

/** Lines with the refs `l1`, `l2`... */
export const numberedLines = (lines: readonly Line[]): Line[] =>
  lines.map((line, index) => ({ ...line, ref: `l${index + 1}` }));

/** Numbers by date, from 1 each year: `A2025-0001`. The number is also the record's ref. */
export function numbered<T extends { fecha: string }>(drafts: readonly T[], letter: string) {
  const counts = new Map<string, number>();
  return [...drafts].sort(byDate).map((draft) => {
    const year = draft.fecha.slice(0, 4);
    counts.set(year, (counts.get(year) ?? 0) + 1);
    return { ...draft, numero: `${letter}${year}-${pad(counts.get(year) ?? 0, 4)}` };
  });
}

/** One invoice for the notes of each party and month, on the month's last working day. */
export function monthly<P extends { ref: string }>(
  { workday }: Context,
  notes: readonly (Draft<P> & { numero: string })[],
): Draft<P>[] {
  const groups = Map.groupBy(notes, ({ party, fecha }) => `${fecha.slice(0, 7)} ${party.ref}`);
  return [...groups.values()].map((group) => {
    const { fecha, party, project } = at(group, 0);
    const shared = group.every((note) => note.project === project) ? project : undefined;
    const lines = group.flatMap(({ numero, project: own, lineas }) =>
      lineas.map(({ startDate, endDate, presupuesto, linea_presupuesto, ...line }) => {
        const proyecto = shared ? undefined : (own?.ref ?? line.proyecto);
        return { ...line, proyecto, proviene_albaranes: true, albaran: numero };
      }),
    );
    const concepto = `Albaranes de ${fecha.slice(0, 7)}`;
    return { fecha: workday(monthDay(fecha, 0, 31)), party, project: shared, concepto, lineas: numberedLines(lines) };
  });
}

/** How an article is traded: bought at cost, or sold from a price list. */
export type Deal = 'compra' | 1 | 2 | 3;

function articleLine(random: Random, article: Article, deal: Deal, cents: number): Line {
  const formats = article.formatos.filter(({ venta, compra }) => (deal === 'compra' ? compra : venta) !== false);
  const usual = formats.find(({ defecto_venta }) => defecto_venta && random.chance(0.8));
  const format = usual ?? (formats.length > 0 ? random.pick(formats) : undefined);
  const factor = format?.factor ?? 1;
  const unit = article.cents[deal === 'compra' ? 0 : deal] * factor;
  const cantidad = Math.max(1, Math.round(cents / unit));
  const descripcion = factor > 1 && format ? `${article.descripcion} - ${format.titulo}` : article.descripcion;
  const descuento = random.chance(0.12) ? random.pick([5, 10, 15]) : 0;
  const variacion = article.variaciones.length > 0 ? random.pick(article.variaciones).ref : undefined;
  const weight = Math.round(cantidad * factor * random.real(93, 107)) / 100;
  const what = { articulo: article.ref, variacion, formato: format?.ref, iva: 21, descuento };
  const line = { ref: 'l1', descripcion, cantidad, importe_unitario: euros(unit), ...what };
  return format?.peso_variable ? { ...line, cantidad_base_real: weight } : line;
}

/** Lines of articles that come near an amount: the best of several random choices, with few pieces. */
export function articleLines(random: Random, articles: readonly Article[], deal: Deal, cents: number): Line[] {
  const count = random.int(1, 4) + Math.min(4, Math.floor(cents / 120_000));
  const lines = new Map<string | undefined, Line>();
  for (let place = 0; place < count; place++) {
    const offers = range(8, () => articleLine(random, random.pick(articles), deal, cents / count));
    const miss = (line: Line) => Math.abs(Math.log((lineCents(line) * count) / cents));
    const distance = (line: Line) => miss(line) + Math.log(line.cantidad) / 2;
    const best = offers.reduce((one, other) => (distance(other) < distance(one) ? other : one));
    lines.set(best.articulo, best);
  }
  return numberedLines([...lines.values()]);
}

/**
 * The due dates of an invoice, which add up to its total, and their payments: nearly all that are long due are paid, few of the
 * others. `settled` is the field with the paid amount.
 */
export function dueDates({ today, done }: Context, random: Random, fecha: string, cents: number, settled: string) {
  const terms = random.pick(cents < 60_000 ? [[0], [30]] : [[30], [60], [30, 60], [30, 60, 90]]);
  const part = Math.floor(cents / terms.length);
  const payments: { fecha: string; cents: number; vencimiento: number }[] = [];
  const vencimientos = terms.map((days, index): Row => {
    const due = plus(fecha, days);
    const importe = index === terms.length - 1 ? cents - part * index : part;
    const [late, luck] = [due <= today, random.real()];
    const likely = due < plus(today, -60) ? 0.97 : late ? 0.7 : 0.04;
    const paid = luck < likely ? importe : late && luck < likely + 0.02 ? Math.round(importe * 0.4) : 0;
    if (paid !== 0) payments.push({ fecha: done(plus(due, random.int(0, 9))), cents: paid, vencimiento: index + 1 });
    return { ref: `v${index + 1}`, fecha: due, importe: euros(importe), [settled]: euros(paid) };
  });
  return { vencimientos, payments };
}
