import { sql } from 'kysely';
import { z } from 'zod';
import { badField, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { decimalInput } from '../shared/schemas.ts';
import { withVat } from './product-fields.ts';

const HIGHEST = 1e12;

/**
 * Raises or lowers the prices of a list by a percentage, rounded half up, those with VAT worked out anew. Prices of 0 stay and don't
 * count. One list of a company is adjusted at a time; sales read the prices meanwhile. PRO-02
 */
export const adjustPriceList = operation({
  title: 'Ajustar tarifa',
  description:
    'Sube o baja un porcentaje los precios de una tarifa (consultar_tarifas), de todos los artículos o de una familia (listar_familias).',
  rest: ['POST /price-lists/{tarifa}/adjust'],
  alias: 'ajustarTarifa',
  scope: 'svc.write',
  input: {
    tarifa: z.int().min(1).describe('Número, de consultar_tarifas'),
    porcentaje: decimalInput().min(-90).max(900).describe('Negativo, baja'),
    familiaId: id('family').optional(),
    redondeo: z.literal([0.01, 0.05, 0.1, 1]).default(0.01),
  },
  output: z.object({ tarifa: z.int(), num_articulos: z.int() }),
  async handler({ input: { tarifa, porcentaje, familiaId, redondeo }, db, accountId, now, journal }) {
    const lists = await sql<{ id: number; number: number; with_vat: boolean }>`
      select id, number, with_vat from price_lists where account_id = ${accountId} order by number for no key update`.execute(
      db,
    );
    const list = lists.rows.find(({ number }) => number === tarifa);
    if (!list) throw notFound('tarifa');
    const old = sql<number>`(p.prices -> ${String(tarifa)} ->> 0)::numeric`;
    // Its inverse is whole, so that nothing is lost before it is rounded.
    const steps = sql`${Math.round(1 / redondeo)}::numeric`;
    const price = sql`trim_scale(floor(${old} * (1 + ${porcentaje}::numeric / 100) * ${steps} + 0.5) / ${steps})`;
    const priceWithVat = list.with_vat ? sql`(${withVat(price, sql`p.vat`)})::text` : sql`'null'`;
    // As text: a cluster takes no function in an update that PostgreSQL calls stable, as those that build JSON.
    const prices = sql`p.prices || ('{"' || ${String(tarifa)}::text || '":[' || (${price})::text || ',' || ${priceWithVat} || ']}')::jsonb`;
    const adjusted = sql`p.account_id = ${accountId} and ${old} <> 0
      and (${familiaId ?? null}::bigint is null or p.family_id = ${familiaId ?? null})`;
    const [{ rows }, { rows: changes }] = await Promise.all([
      sql<{ products: number; highest: number }>`
        select count(*) as products, max(abs(${price})) as highest from products p where ${adjusted}`.execute(db),
      sql<{
        id: number;
      }>`update products p set prices = ${prices}, version = p.version + 1, updated_at = ${now.toString()}
        where ${adjusted} and p.prices is distinct from ${prices}
        returning p.id`.execute(db),
    ]);
    const { products = 0, highest = 0 } = rows[0] ?? {};
    if (highest > HIGHEST) throw badField('porcentaje', 'algún precio pasaría de 1.000.000.000.000');
    journal(
      'modify',
      'product',
      changes.map(({ id }) => id),
    );
    return { tarifa, num_articulos: products };
  },
});
