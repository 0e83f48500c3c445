import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { derivedOf } from '../../platform/derived.ts';
import { badInput, type FieldProblem } from '../../platform/errors.ts';
import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { decimalInput, text } from '../shared/schemas.ts';

const amount = () => decimalInput().min(0);

const price = z.object({
  tarifa: z.int().min(1).describe('De consultar_tarifas'),
  precio: amount().describe('Sin IVA, por unidad base'),
  precio_con_iva: amount().optional().describe('Si falta, el precio más su IVA'),
});

const format = z.object({
  titulo: text(200).min(1),
  factor: decimalInput()
    .refine((value) => value > 0, 'tiene que ser mayor que 0')
    .describe('Unidades base de una'),
  peso_variable: z.boolean().default(false),
  venta: z.boolean().default(true),
  compra: z.boolean().default(true),
  defecto_venta: z.boolean().default(false),
});

const MODES = { venta: 'sale', alquiler: 'rental', servicio: 'service' } as const;

const productFields = z.object({
  descripcion: text(500).min(1),
  referencia: text(100).optional(),
  sku: text(100).optional(),
  codigo_ean: text(50).optional(),
  familiaId: id('family').optional(),
  iva: decimalInput().min(0).max(100).default(21),
  coste: amount().default(0).describe('Por unidad base'),
  modo: z.enum(['venta', 'alquiler', 'servicio']).default('venta').describe('Solo venta mueve stock'),
  precios: z.array(price).max(100).optional(),
  stock_minimo: amount().default(0),
  stock_inicial: amount().default(0),
  formatos: z.array(format).max(100).optional(),
  variaciones: z
    .array(z.object({ descripcion: text(500).min(1) }))
    .max(500)
    .optional(),
});

/**
 * Creates an article with its prices, formats and variations; what is in stock comes in as its opening movement. Prices and cost
 * without VAT, for a base unit. 400 for the SKU or EAN code of another article, for a price on a list that there isn't, and for one
 * with VAT on a list that has none.
 */
export const createProduct = operation({
  title: 'Crear artículo',
  description:
    'Crea un artículo con precios, formatos y variaciones. Un sku o codigo_ean de otro artículo se rechaza. familiaId: de listar_familias.',
  rest: ['POST /products'],
  alias: 'crearArticulo',
  scope: 'svc.write',
  input: { datos: productFields },
  output: sealedId('product').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { datos }, db, accountId, now, newId, beforeCommit, audit }) {
    const [productId, ...problems] = await Promise.all([
      newId('product'),
      taken(db, accountId, 'sku', datos.sku),
      taken(db, accountId, 'ean', datos.codigo_ean),
      wrongPrices(db, accountId, datos.precios ?? []),
      wrongOfMode(datos),
    ]);
    if (problems.flat().length > 0) throw badInput(problems.flat());
    const { descripcion, iva, modo, precios = [], stock_inicial, formatos = [], variaciones = [] } = datos;
    const columns = {
      description: descripcion,
      reference: datos.referencia ?? '',
      sku: datos.sku ?? '',
      ean: datos.codigo_ean ?? '',
    };
    const { search } = derivedOf('products', columns);
    const prices = sql<string>`(
      select coalesce(jsonb_object_agg(n.tarifa, jsonb_build_array(n.precio, case when l.with_vat
        then coalesce(n.precio_con_iva, round(n.precio * (1 + ${iva}::numeric / 100), 2)) end)), '{}'::jsonb)
      from json_to_recordset(${JSON.stringify(precios)}::json) as n(tarifa bigint, precio numeric, precio_con_iva numeric)
      join price_lists l on l.account_id = ${accountId} and l.number = n.tarifa)`;
    beforeCommit(
      sql`insert into products (account_id, id, description, reference, sku, ean, search, family_id, vat, cost, mode,
          minimum_stock, prices)
        select ${accountId}, ${productId}, ${descripcion}, ${columns.reference}, ${columns.sku}, ${columns.ean}, ${search},
          ${datos.familiaId ?? null}::bigint, ${iva}, ${datos.coste}, ${MODES[modo]}, ${datos.stock_minimo}, ${prices}
        returning id`.execute(db),
    );
    beforeCommit(
      db
        .insertInto('product_stocks')
        .values({ account_id: accountId, product_id: productId, quantity: stock_inicial })
        .execute(),
    );
    const of = (position: number) => ({ account_id: accountId, product_id: productId, position: position + 1 });
    if (variaciones.length > 0) {
      const rows = variaciones.map(({ descripcion: description }, index) => ({ ...of(index), description }));
      beforeCommit(db.insertInto('product_variations').values(rows).execute());
    }
    if (formatos.length > 0) {
      const rows = formatos.map((one, index) => ({
        ...of(index),
        title: one.titulo,
        factor: one.factor,
        variable_weight: one.peso_variable,
        for_sale: one.venta,
        for_purchase: one.compra,
        sale_default: one.defecto_venta,
      }));
      beforeCommit(db.insertInto('product_formats').values(rows).execute());
    }
    if (stock_inicial !== 0) {
      const opening = { account_id: accountId, product_id: productId, quantity: stock_inicial, opening: true };
      beforeCommit(
        db
          .insertInto('stock_movements')
          .values({ ...opening, moved_at: now.toString() })
          .execute(),
      );
    }
    beforeCommit(
      sql`insert into record_counts as c (account_id, products) values (${accountId}, 1)
        on conflict (account_id) do update
          set products = c.products + 1, version = c.version + 1, updated_at = excluded.updated_at`.execute(db),
    );
    audit('product', productId);
    return productId;
  },
});

type Datos = z.output<typeof productFields>;

const FIELDS = { sku: 'sku', ean: 'codigo_ean' } as const;

/** What is wrong with a code that another article has. Until the end of the transaction no other call looks for who has it. */
async function taken(db: Db, accountId: number, column: keyof typeof FIELDS, code = ''): Promise<FieldProblem[]> {
  if (code === '') return [];
  const [, { rows }] = await Promise.all([
    sql`select pg_advisory_xact_lock(hashtextextended(${`product ${column} ${code}`}, ${accountId}))`.execute(db),
    // The text that products are searched by has an index, and holds the code.
    sql<{ description: string }>`
      select description from products where account_id = ${accountId} and search like ${containing(code)}
        and ${sql.ref(column)} = ${code} order by id limit 1`.execute(db),
  ]);
  return rows.map(({ description }) => ({
    campo: `datos.${FIELDS[column]}`,
    mensaje: `lo tiene otro artículo: ${description}`,
  }));
}

/** What is wrong with prices, by the lists there are. PRO-02 */
async function wrongPrices(
  db: Db,
  accountId: number,
  prices: readonly z.output<typeof price>[],
): Promise<FieldProblem[]> {
  if (prices.length === 0) return [];
  const rows = await db
    .selectFrom('price_lists')
    .select(['number', 'with_vat'])
    .where('account_id', '=', accountId)
    .execute();
  const withVat = new Map(rows.map(({ number, with_vat }) => [number, with_vat]));
  const problemOf = (
    { tarifa, precio_con_iva }: z.output<typeof price>,
    index: number,
  ): [string, string] | undefined => {
    if (!withVat.has(tarifa)) return ['tarifa', `no existe la tarifa ${tarifa}`];
    if (prices.findIndex((one) => one.tarifa === tarifa) < index)
      return ['tarifa', `la tarifa ${tarifa} ya tiene precio`];
    if (withVat.get(tarifa) || precio_con_iva === undefined) return undefined;
    return ['precio_con_iva', `la tarifa ${tarifa} no tiene precio con IVA`];
  };
  return prices.flatMap((one, index) => {
    const [field, mensaje] = problemOf(one, index) ?? [];
    return field && mensaje ? [{ campo: `datos.precios[${index}].${field}`, mensaje }] : [];
  });
}

/** What does not go together. DLV-03, DLV-04 */
function wrongOfMode({ modo, stock_inicial, formatos = [] }: Datos): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (modo !== 'venta' && stock_inicial !== 0) {
    problems.push({ campo: 'datos.stock_inicial', mensaje: 'solo los artículos de modo venta tienen stock' });
  }
  const defaults = formatos.flatMap(({ defecto_venta, venta }, index) => (defecto_venta ? [{ venta, index }] : []));
  const [first, second] = defaults;
  if (first && !first.venta) {
    problems.push({ campo: `datos.formatos[${first.index}].defecto_venta`, mensaje: 'ese formato no se puede vender' });
  }
  if (second) {
    problems.push({
      campo: `datos.formatos[${second.index}].defecto_venta`,
      mensaje: 'solo uno puede ser el de venta por defecto',
    });
  }
  return problems;
}
