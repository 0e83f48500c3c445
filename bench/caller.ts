// A caller of the product and of the floor: credentials, ids in each one's form, and a check of the answers before the
// measurement.
import { randomUUID } from 'node:crypto';
import { Database } from '../platform/database.ts';
import { createKey } from '../platform/identity/api-keys.ts';
import { SLUG } from './databases.ts';
import type { Ids, RequestSpec } from './load/requests.ts';
import type { Server } from './processes.ts';

export type Headers = Record<string, string>;

/** The floor's first company is the full-size one. */
export const FLOOR_HEADERS: Headers = { 'x-api-key': 'key-1', 'x-api-secret': 'secret-1' };

/** A new API key of the measured company. */
export async function newKey(databaseUrl: string): Promise<Headers> {
  const database = new Database({ url: databaseUrl });
  try {
    await database.prepareRole();
    const { id } = await database.lookup({ account_slug: SLUG }, (db) =>
      db.selectFrom('accounts').select('id').where('slug', '=', SLUG).executeTakeFirstOrThrow(),
    );
    const author = { actor: 'command', door: 'command', requestId: randomUUID() } as const;
    const { key, secret } = await database.transaction(id, { write: true }, (db) =>
      createKey(db, id, { name: 'bench' }, author),
    );
    return { 'x-api-key': key, 'x-api-secret': secret };
  } finally {
    await database.pool.end();
  }
}

/** The ids of the floor's seed. */
export const FLOOR_IDS: Ids = {
  clients: Array.from({ length: 100 }, (_, index) => index + 1),
  products: Array.from({ length: 9999 }, (_, index) => index + 1),
  funnels: Array.from({ length: 5 }, (_, index) => ({ id: index + 1, stages: [1, 2, 3, 4, 5, 6] })),
};

/** The product's sealed ids, from its lists. */
export async function productIds(server: Server, headers: Headers): Promise<Ids> {
  type Answer = {
    num_paginas: number;
    articulos: { articuloId: string }[];
    clientes: { clienteId: string }[];
    funnels: { funnelId: string; etapas: { etapaId: string }[] }[];
  };
  const get = async (path: string) => (await answerTo(server, { method: 'GET', path, headers })) as Answer;
  const products: string[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { num_paginas, articulos } = await get(`/api/v1/products?por_pagina=500&pagina=${page}`);
    pages = num_paginas;
    products.push(...articulos.map(({ articuloId }) => articuloId));
  }
  const { clientes } = await get('/api/v1/clients');
  const { funnels } = await get('/api/v1/crm/funnels');
  return {
    products,
    clients: clientes.map(({ clienteId }) => clienteId),
    funnels: funnels.map(({ funnelId, etapas }) => ({ id: funnelId, stages: etapas.map(({ etapaId }) => etapaId) })),
  };
}

/** The `data` of a read's answer. Throws if the status is not 200. */
export async function answerTo({ origin }: Server, { method, path, headers }: RequestSpec): Promise<unknown> {
  const response = await fetch(origin + path, { method, headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
  return JSON.parse(text).data;
}

/** The total and the number of rows of a list's answer. */
export function countsOf(data: unknown): { total: number; rows: number } {
  const entries = Object.entries(data ?? {});
  const total = entries.find(([name]) => name.startsWith('total_'))?.[1];
  const rows = entries.map(([, value]) => value).find((value) => Array.isArray(value));
  return { total: Number(total), rows: rows?.length ?? 0 };
}
