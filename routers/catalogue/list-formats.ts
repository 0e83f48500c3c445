import { z } from 'zod';
import { jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { jsonList } from '../shared/pages.ts';
import { format, formatsOf } from './product.ts';

/** The commercial formats of one product, by title. `factor`: base units in one. PAG-02, DLV-04 */
export const listFormats = operation({
  title: 'Formatos de un artículo',
  description:
    'Formatos comerciales de un artículo (caja, palé...) y su factor a unidades base. Da el formatoId de las líneas de documentos, que solo vale si multiformato es true. articuloId: de consultar_productos.',
  rest: ['GET /products/{articuloId}/formats'],
  alias: 'consultarFormatos',
  scope: 'svc.read',
  input: { articuloId: id('product').describe('El artículo') },
  output: z.object({ multiformato: z.boolean(), formatos: z.array(format.schema) }),
  async handler({ input: { articuloId }, db, accountId, principal: { multiFormatStock } }) {
    const { rows } = await jsonList(db, formatsOf(db, accountId, articuloId), format);
    return jsonObject({ multiformato: multiFormatStock, formatos: rows });
  },
});
