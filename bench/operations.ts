// The measured requests and their references.
import { answerTo, countsOf, FLOOR_HEADERS, FLOOR_IDS, type Headers, productIds } from './caller.ts';
import { SEARCHED } from './company/catalogue.ts';
import { sizesAt } from './company/sizes.ts';
import type { RequestSpec } from './load/requests.ts';
import type { Side } from './measure.ts';
import type { Server } from './processes.ts';

export interface Measured {
  /** Its name for `--only`. */
  id: string;
  title: string;
  /** The product first; its reference second. */
  sides: Side[];
  /** The lowest acceptable ratio of requests per second to the second side, and an outstanding one. */
  target?: { least: number; outstanding: number };
}

export interface World {
  scale: number;
  /** As it is started: it keeps answers. */
  product: Server;
  /** The same without kept answers; default `product`. */
  cold?: Server;
  headers: Headers;
  floor?: Server | undefined;
}

const MONTH = { from: '2025-03-01', to: '2025-03-31' };
const YEAR = 'fecha_inicio=2025-01-01&fecha_fin=2025-12-31';
/** The floor's time entries: a number on each day from this one on. */
const FLOOR_ENTRIES = { from: '2023-03-01', aDay: 400 };
/** The floor's contacts, by e-mail; a smaller company has fewer. */
const FLOOR_LEADS = 10_000;

const get =
  (headers: Headers) =>
  (path: string, query: string | Record<string, string> = {}) => {
    const text = new URLSearchParams(query).toString();
    return { method: 'GET', path: `${path}${text ? `?${text}` : ''}`, headers } satisfies RequestSpec;
  };

/** a to f: requests that the floor also serves. Throws if the two sides answer different numbers of rows. */
export async function comparedOperations(world: World): Promise<Measured[]> {
  const { product, cold = product, floor, headers, scale } = world;
  const [mine, its] = [get(headers), get(FLOOR_HEADERS)];
  const sides = (request: RequestSpec, plain: RequestSpec, maintained?: RequestSpec): Side[] => [
    { name: 'product', server: request.method === 'GET' ? cold : product, request },
    ...(floor ? [{ name: 'floor', server: floor, request: plain }] : []),
    ...(floor && maintained ? [{ name: 'floor, maintained', server: floor, request: maintained }] : []),
  ];
  const list = async (sides: Side[]): Promise<Side[]> => {
    const [first, second] = await Promise.all(
      sides.map(async ({ server, request }) => countsOf(await answerTo(server, request))),
    );
    if (first && second && scale === 1 && first.rows !== second.rows) {
      throw new Error(`${sides[0]?.request.path}: ${first.rows} rows, and the floor has ${second.rows}`);
    }
    return sides;
  };

  const times = mine('/api/v1/employees/times', { fecha_inicio: MONTH.from, fecha_fin: MONTH.to });
  const { total } = countsOf(await answerTo(product, times));
  const { from } = FLOOR_ENTRIES;
  const until = Temporal.PlainDate.from(from).add({ days: Math.max(1, Math.round(total / FLOOR_ENTRIES.aDay)) - 1 });
  const asMany = { fecha_inicio: from, fecha_fin: until.toString() };

  const ids = await productIds(product, headers);
  const post = (path: string, body: RequestSpec['body'], of: Headers, keyed: boolean): RequestSpec => ({
    method: 'POST',
    path,
    headers: of,
    keyed,
    ...(body && { body }),
  });
  const opportunities = '/api/v1/crm/opportunities';
  const { contacts: leads } = sizesAt(scale);
  const notes = '/api/v1/delivery-notes';
  const opportunity = (keyed: boolean) =>
    sides(
      post(opportunities, { kind: 'opportunity', funnels: ids.funnels, leads }, headers, keyed),
      post(
        opportunities,
        { kind: 'opportunity', funnels: FLOOR_IDS.funnels, leads: FLOOR_LEADS },
        FLOOR_HEADERS,
        false,
      ),
    );
  const note = (keyed: boolean) =>
    sides(
      post(notes, { kind: 'deliveryNote', ...ids }, headers, keyed),
      post(notes, { kind: 'deliveryNote', ...FLOOR_IDS }, FLOOR_HEADERS, false),
    );
  const page = '/api/v1/products';
  const projects = '/api/v1/projects';
  return [
    {
      id: 'a',
      title: 'GET /products, 100 with 3 prices each',
      sides: await list(sides(mine(page), its(page), its(page, { modo: 'doc' }))),
      target: { least: 4, outstanding: 6 },
    },
    {
      id: 'b',
      title: 'GET /products?busqueda=, 20 found',
      sides: await list(sides(mine(page, { busqueda: SEARCHED }), its(page, { busqueda: SEARCHED }))),
      target: { least: 0.5, outstanding: 0.8 },
    },
    {
      id: 'c',
      title: 'GET /employees/times, 200 of a month',
      sides: await list(
        sides(
          times,
          its('/api/v1/employees/times', asMany),
          its('/api/v1/employees/times', { ...asMany, modo: 'contado' }),
        ),
      ),
      target: { least: 1.3, outstanding: 1.5 },
    },
    {
      id: 'd',
      title: 'GET /projects, 100 with economics',
      sides: await list(sides(mine(projects), its(projects), its(projects, { modo: 'total' }))),
      target: { least: 8, outstanding: 12 },
    },
    {
      id: 'e',
      title: 'POST /crm/opportunities, with a key',
      sides: opportunity(true),
      target: { least: 0.4, outstanding: 0.6 },
    },
    {
      id: 'f',
      title: 'POST /delivery-notes, 3 lines, with a key',
      sides: note(true),
      target: { least: 0.5, outstanding: 0.7 },
    },
    { id: 'e-keyless', title: 'e without an idempotency key', sides: opportunity(false) },
    { id: 'f-keyless', title: 'f without an idempotency key', sides: note(false) },
  ];
}

/**
 * The pages of a, c and d where nothing has changed since they were read (beside the floor), and where a write of the company comes before
 * each (beside the service without kept answers); and a caller who asks whether anything has changed. JRN-04
 */
export async function unchangedPages(world: World, compared: readonly Measured[]): Promise<Measured[]> {
  const { product, cold = product, headers, scale } = world;
  const { funnels } = await productIds(product, headers);
  const write: RequestSpec = {
    method: 'POST',
    path: '/api/v1/crm/opportunities',
    headers,
    body: { kind: 'opportunity', funnels, leads: sizesAt(scale).contacts },
  };
  const least: Record<string, number> = { a: 4, c: 5, d: 40 };
  const pages = compared.flatMap(({ id, title, sides: [mine, floor] }): Measured[] => {
    const target = least[id];
    if (target === undefined || !mine || !floor) return [];
    const { request } = mine;
    const written = { ...request, before: write };
    return [
      {
        id: `${id}-unchanged`,
        title: `${title}, unchanged`,
        sides: [{ name: 'product', server: product, request }, floor],
        target: { least: target, outstanding: target },
      },
      {
        id: `${id}-written`,
        title: `${title}, each after a write`,
        sides: [
          { name: 'product', server: product, request: written },
          { name: 'keeps no answers', server: cold, request: written },
        ],
      },
    ];
  });
  const path = '/api/v1/products';
  const response = await fetch(product.origin + path, { headers });
  await response.text();
  const tagged = { ...headers, 'if-none-match': response.headers.get('etag') ?? '' };
  const poll: RequestSpec = { method: 'GET', path, headers: tagged, expected: 304 };
  return [
    ...pages,
    { id: 'poll', title: 'GET /products, 304', sides: [{ name: 'product', server: product, request: poll }] },
  ];
}

/** Requests without counterpart in the floor; other interfaces are compared with REST. */
export function ownOperations({ product: keeping, cold: product = keeping, headers }: World): Measured[] {
  const mine = get(headers);
  const alone = (id: string, title: string, path: string, query: string): Measured => ({
    id,
    title,
    sides: [{ name: 'product', server: product, request: mine(`/api/v1${path}`, query) }],
  });
  const page = { por_pagina: 100 };
  const rest: Side = { name: 'REST', server: product, request: mine('/api/v1/products', 'por_pagina=100') };
  const beside = (id: string, title: string, request: RequestSpec): Measured => ({
    id,
    title,
    sides: [{ name: 'product', server: product, request }, rest],
  });
  const mcp = (method: string, params: unknown) => mcpRequest(headers, method, params);
  const trpc = { input: JSON.stringify({ json: page }) };
  return [
    alone('renewals', 'GET /recurring/renewals, a year', '/recurring/renewals', YEAR),
    alone('purchases', 'GET /reports/purchases, a year by month', '/reports/purchases', `${YEAR}&agrupar=mes`),
    alone('sales', 'GET /reports/sales, a year by month', '/reports/sales', `${YEAR}&agrupar=mes`),
    alone('loss', 'GET /crm/loss-reasons of a funnel', '/crm/loss-reasons', 'funnel_fk=1'),
    alone('planning', 'GET /planning, a month', '/planning', 'fecha_inicio=2026-03-01&fecha_fin=2026-03-31'),
    alone('forecast', 'GET /treasury/forecast, half a year', '/treasury/forecast', halfYear()),
    beside(
      'mcp-call',
      'MCP tools/call consultar_productos, 100',
      mcp('tools/call', { name: 'consultar_productos', arguments: page }),
    ),
    {
      id: 'mcp-list',
      title: 'MCP tools/list',
      sides: [{ name: 'product', server: product, request: mcp('tools/list', {}) }],
    },
    beside('trpc', 'tRPC products.list, 100, as the client sends it', mine('/trpc/products.list', trpc)),
  ];
}

/** Requests of every interface, reads and writes, with small pages: the load for memory. */
export async function smallRequests({ product, headers, scale }: World): Promise<RequestSpec[]> {
  const mine = get(headers);
  const ids = await productIds(product, headers);
  const small = { por_pagina: 20 };
  const write = { method: 'POST', headers, keyed: true } as const;
  return [
    mine('/api/v1/products', { por_pagina: '20' }),
    mine('/api/v1/clients', { por_pagina: '20' }),
    mine('/trpc/products.list', { input: JSON.stringify({ json: small }) }),
    mcpRequest(headers, 'tools/call', { name: 'consultar_productos', arguments: small }),
    {
      ...write,
      path: '/api/v1/crm/opportunities',
      body: { kind: 'opportunity', funnels: ids.funnels, leads: sizesAt(scale).contacts },
    },
    { ...write, path: '/api/v1/delivery-notes', body: { kind: 'deliveryNote', ...ids } },
  ];
}

const mcpRequest = (headers: Headers, method: string, params: unknown): RequestSpec => ({
  method: 'POST',
  path: '/mcp',
  headers: { ...headers, accept: 'application/json, text/event-stream' },
  body: { kind: 'fixed', value: { jsonrpc: '2.0', id: 1, method, params } },
});

/** From today on, as for a forecast. */
function halfYear(): string {
  const today = Temporal.Now.plainDateISO();
  return `fecha_inicio=${today}&fecha_fin=${today.add({ months: 6 })}`;
}
