// What sale and purchase documents have in common: lines, exact amounts, numbers, grouping into monthly invoices.

import type { Context } from './calendar.ts';
import type { Article, Format } from './catalogue.ts';
import type { Project } from './projects.ts';
import { at, earlier, euros, monthDay, pad, plus, type Random, range } from './tools.ts';

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
}

/** A document before it has a number. */
export interface Draft<Party> {
  fecha: string;
  party: Party;
  project?: Project;
  lineas: Line[];
  concepto?: string;
}

export const byDate = (a: { fecha: string }, b: { fecha: string }): number =>
  a.fecha < b.fecha ? -1 : a.fecha > b.fecha ? 1 : 0;

/** A line's amount in cents: exact, rounded half away from zero. */
export function lineCents({ cantidad, importe_unitario, descuento = 0 }: Line): number {
  const thousandths = BigInt(Math.round(cantidad * 1000)) * BigInt(Math.round(importe_unitario * 100));
  return roundedCents(thousandths * BigInt(100 - descuento), 100_000n);
}

/** The total with VAT in cents: the base of each rate and its VAT, rounded rate by rate. */
export function totalCents(lines: readonly Line[]): number {
  const bases = new Map<number, number>();
  for (const line of lines) bases.set(line.iva ?? 21, (bases.get(line.iva ?? 21) ?? 0) + lineCents(line));
  return [...bases].reduce((sum, [rate, base]) => sum + base + roundedCents(BigInt(base) * BigInt(rate), 100n), 0);
}

function roundedCents(numerator: bigint, denominator: bigint): number {
  const half = numerator < 0n ? -denominator : denominator;
  return Number((2n * numerator + half) / (2n * denominator));
}

/** Numbers by date, from 1 each year: `A2025-0001`. The number is the record's ref too. */
export function numbered<T extends { fecha: string }>(
  documents: readonly T[],
  letter: string,
): (T & { numero: string })[] {
  const counts = new Map<string, number>();
  return [...documents].sort(byDate).map((document) => {
    const year = document.fecha.slice(0, 4);
    const count = (counts.get(year) ?? 0) + 1;
    counts.set(year, count);
    return { ...document, numero: `${letter}${year}-${pad(count, 4)}` };
  });
}

/** Monthly invoices of delivery notes: one for each party and month that has ended, on its last day. */
export function monthly<P extends { ref: string }, N extends Draft<P> & { numero: string }>(
  notes: readonly N[],
  today: string,
  makeLine: (line: Line, note: N) => Line,
): Draft<P>[] {
  const groups = Map.groupBy(notes, ({ party, fecha }) => `${fecha.slice(0, 7)} ${party.ref}`);
  return [...groups.values()].flatMap((group) => {
    const first = at(group, 0);
    const fecha = monthDay(first.fecha, 0, 31);
    if (fecha > today) return [];
    const project = group.every((note) => note.project === first.project) ? first.project : undefined;
    const lineas = group
      .flatMap((note) =>
        note.lineas.map((line) => ({ ...makeLine(line, note), proyecto: project ? undefined : note.project?.ref })),
      )
      .map((line, index) => ({ ...line, ref: `l${index + 1}`, proviene_albaranes: true }));
    return [{ fecha, party: first.party, project, lineas, concepto: `Albaranes de ${fecha.slice(0, 7)}` }];
  });
}

/** A way to trade an article: bought at cost, or sold from a price list. */
export type Deal = 'compra' | 1 | 2 | 3;

/** One line of an article, in a format that the deal allows, for about so many cents. */
export function articleLine(random: Random, article: Article, deal: Deal, cents: number): Line {
  const formats = article.formatos.filter(({ venta, compra }) => (deal === 'compra' ? compra : venta) !== false);
  const usual = formats.find(({ defecto_venta }) => defecto_venta && deal !== 'compra');
  const format: Format | undefined =
    usual && random.chance(0.8) ? usual : formats.length > 0 ? random.pick(formats) : undefined;
  const factor = format?.factor ?? 1;
  const unit = article.cents[deal === 'compra' ? 0 : deal] * factor;
  const cantidad = Math.max(1, Math.round(cents / unit));
  const line: Line = {
    ref: 'l1',
    descripcion: factor === 1 || !format ? article.descripcion : `${article.descripcion} - ${format.titulo}`,
    cantidad,
    importe_unitario: euros(unit),
    descuento: random.chance(0.12) ? random.pick([5, 10, 15]) : 0,
    iva: 21,
    articulo: article.ref,
    formato: format?.ref,
  };
  if (article.variaciones.length > 0) line.variacion = random.pick(article.variaciones).ref;
  if (format?.peso_variable) line.cantidad_base_real = Math.round(cantidad * factor * random.real(93, 107)) / 100;
  return line;
}

/** Lines of some of the articles that together come near an amount. */
export function articleLines(random: Random, articles: readonly Article[], deal: Deal, cents: number): Line[] {
  const share = cents / random.int(1, 5);
  return range(Math.round(cents / share), (index) => {
    const offers = range(6, () => articleLine(random, random.pick(articles), deal, share));
    const distance = (line: Line) => Math.abs(Math.log(lineCents(line) / share)) + (line.cantidad > 60 ? 9 : 0);
    return { ...offers.reduce((best, line) => (distance(line) < distance(best) ? line : best)), ref: `l${index + 1}` };
  });
}

/** A payment made or received for a document. */
export interface Payment {
  fecha: string;
  concepto: string;
  party: string;
  cents: number;
}

/** Due dates that add up to the total, and what has been paid of each: nearly all that is long due, little that is not. */
export function dueDates(context: Context, random: Random, fecha: string, cents: number) {
  const terms = random.pick(cents < 60_000 ? [[0], [30]] : [[30], [60], [30, 60], [30, 60, 90]]);
  const part = Math.floor(cents / terms.length);
  return terms.map((days, index) => {
    const due = plus(fecha, days);
    const amount = index === terms.length - 1 ? cents - part * index : part;
    const luck = random.real(0, 1);
    const paid = due < plus(context.today, -60) ? 0.96 : due <= context.today ? 0.7 : 0.04;
    const settled = luck < paid ? amount : luck < paid + 0.02 && due <= context.today ? Math.round(amount * 0.4) : 0;
    const when = earlier(plus(due, random.int(0, 9)), context.today);
    return { fecha: due, importe: amount, settled, when };
  });
}
