// A consumer's program with albaran-client: a list, a record, pages, an idempotent write and a failed call.
// It runs on every runtime: main.ts starts it in Node, Bun and Deno, the test in a browser.
import {
  AlbaranError,
  type ClientOptions,
  createClient,
  type OpportunitiesCreateInput,
  type ProductsListOutput,
} from 'albaran-client';

export interface Outcome {
  listed: string[];
  employee: string;
  pages: string[][];
  /** Both answers of a write that was sent twice. */
  written: [number, number];
  /** Metadata of the second one. */
  replayed: boolean;
  identified: boolean;
  limit: number | undefined;
  leads: number;
  failed: { name: string; code: number; message: string; field: string | undefined };
  stopped: unknown;
}

/** Opportunities are created in this funnel. */
export async function run(options: ClientOptions, funnel: { funnelId: number; etapaId: number }): Promise<Outcome> {
  const client = createClient(options);

  // In the same tick, so in one request.
  const [products, { empleados }]: [ProductsListOutput, { empleados: { empleadoId: string }[] }] = await Promise.all([
    client.products.list({ busqueda: 'tornillo' }),
    client.employees.list(),
  ]);
  const { empleado } = await client.employees.get({ empleadoId: empleados[0]?.empleadoId ?? '' });

  const pages: string[][] = [];
  for await (const { articulos } of client.products.list.pages({ por_pagina: 2 })) {
    pages.push(articulos.map(({ descripcion }) => descripcion));
  }

  const lead: OpportunitiesCreateInput = {
    datos: { funnel_fk: funnel.funnelId, etapa_fk: funnel.etapaId, descripcion: 'Cubierta nueva' },
  };
  const once = { idempotencyKey: `lead-${Math.random()}` };
  const before = (await client.opportunities.list()).total_oportunidades;
  const first = await client.opportunities.create(lead, once);
  const { data: second, meta } = await client.opportunities.create(lead, once).withResponse();

  return {
    listed: products.articulos.map(({ descripcion }) => descripcion),
    employee: empleado.nombre,
    pages,
    written: [first, second],
    replayed: meta.replayed,
    identified: meta.requestId !== '',
    limit: meta.rateLimit?.limit,
    leads: (await client.opportunities.list()).total_oportunidades - before,
    failed: await client.timeEntries.list({ fecha_inicio: '2026-02-30', fecha_fin: '2026-03-01' }).then(
      () => Promise.reject(new Error('That is no date')),
      (error: unknown) => {
        if (!(error instanceof AlbaranError)) throw error;
        const { name, code, message, fields } = error;
        return { name, code, message, field: fields[0]?.campo };
      },
    ),
    stopped: await client.products
      .list({}, { signal: AbortSignal.abort('no longer needed') })
      .catch((reason) => reason),
  };
}
