import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';

/** The commercial formats of one product, by title. `factor`: base units in one. PAG-02, DLV-04 */
export const listFormats = operation({
  title: 'Formatos de un artículo',
  description:
    'Formatos comerciales de un artículo (caja, palé...) y su factor a unidades base. Da el formatoId de las líneas de documentos, que solo vale si multiformato es true. articuloId: de consultar_productos.',
  rest: ['GET /products/{articuloId}/formats'],
  alias: 'consultarFormatos',
  scope: 'svc.read',
  input: { articuloId: id('product').describe('El artículo') },
  output: z.object({
    multiformato: z.boolean(),
    formatos: z.array(
      z.object({
        formatoId: sealedId('format'),
        titulo: z.string(),
        factor: z.number(),
        peso_variable: z.boolean(),
        permite_venta: z.boolean(),
        permite_compra: z.boolean(),
        por_defecto_venta: z.boolean(),
      }),
    ),
  }),
  async handler({ input: { articuloId }, db, accountId, principal: { multiFormatStock } }) {
    const rows = await db
      .selectFrom('product_formats')
      .select(['id', 'title', 'factor', 'variable_weight', 'for_sale', 'for_purchase', 'sale_default'])
      .where('account_id', '=', accountId)
      .where('product_id', '=', articuloId)
      .orderBy('title')
      .orderBy('id')
      .execute();
    return {
      multiformato: multiFormatStock,
      formatos: rows.map((row) => ({
        formatoId: row.id,
        titulo: row.title,
        factor: row.factor,
        peso_variable: row.variable_weight,
        permite_venta: row.for_sale,
        permite_compra: row.for_purchase,
        por_defecto_venta: row.sale_default,
      })),
    };
  },
});
