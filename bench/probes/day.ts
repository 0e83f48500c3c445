// Undertakings of a working day, one call after another: a converted estimate beside a delivery note, a whole price list, and a long
// project line by line.
import { z } from 'zod';
import type { Headers } from '../caller.ts';
import { productIds } from '../caller.ts';
import type { Server } from '../processes.ts';

export interface Day {
  /** Milliseconds of a delivery note of 3 lines, and of the conversion of an estimate of 20: medians, in turns. */
  noteMs: number;
  conversionMs: number;
  /** Milliseconds to adjust the prices of a list, and how many articles that were. */
  priceList: { ms: number; articles: number };
  /** Milliseconds of a page of 200 of a project's lines: median; and how many lines it has. */
  breakdown: { ms: number; lines: number };
}

const envelope = z.object({ errorCode: z.int(), errorMsg: z.string(), data: z.unknown() });

const TIMES = 40;
const WARM = 5;
const DOCUMENTS = 5;
const LINES = 1000;

/** Measures them on the product. Writes to its company. */
export async function dayOf(product: Server, headers: Headers): Promise<Day> {
  const { clients, products } = await productIds(product, headers);
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${product.origin}/api/v1${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { errorCode, errorMsg, data } = envelope.parse(await answer.json());
    if (errorCode !== 200) throw new Error(`${method} ${path}: ${errorMsg}`);
    return data;
  };
  const timed = async (work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  let next = 0;
  const linesOf = (count: number) =>
    Array.from({ length: count }, () => ({ cantidad: 1, articulo_fk: products[next++ % products.length] }));
  const document = (count: number, more: object = {}) => ({
    cliente: { id: clients[next % clients.length] },
    pedido: { obra: 'Obra', ...more },
    detalles: linesOf(count),
  });

  const [notes, conversions]: [number[], number[]] = [[], []];
  for (let time = 0; time < WARM + TIMES; time++) {
    const estimate = await call('POST', '/estimates', document(20));
    const note = await timed(() => call('POST', '/delivery-notes', document(3)));
    const converted = await timed(() => call('POST', `/estimates/${estimate}/convert`, { destino: 'albaran' }));
    if (time < WARM) continue;
    notes.push(note);
    conversions.push(converted);
  }

  const project = await call('POST', '/projects', { datos: { descripcion: 'Larga' } });
  for (let index = 0; index < DOCUMENTS; index++) {
    await call('POST', '/delivery-notes', document(LINES, { proyectoId: project }));
  }
  const pages: number[] = [];
  let lines = 0;
  for (let time = 0; time < WARM + TIMES; time++) {
    const path = `/projects/${project}/breakdown?por_pagina=200&pagina=${1 + (time % 10)}`;
    const ms = await timed(async () => {
      lines = z.object({ total_lineas: z.int() }).parse(await call('GET', path)).total_lineas;
    });
    if (time >= WARM) pages.push(ms);
  }

  let articles = 0;
  const priceList = await timed(async () => {
    const answer = await call('POST', '/price-lists/1/adjust', { porcentaje: 3 });
    articles = z.object({ num_articulos: z.int() }).parse(answer).num_articulos;
  });
  return {
    ...{ noteMs: median(notes), conversionMs: median(conversions) },
    priceList: { ms: priceList, articles },
    breakdown: { ms: median(pages), lines },
  };
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
