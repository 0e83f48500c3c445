import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { readProduct, wholeProduct } from './product.ts';

/** A product as lists show it, with its mode, its formats by title and its variations. Amounts without VAT. PRO-02, DLV-04 */
export const getProduct = operation({
  title: 'Artículo',
  description:
    'Un artículo con precios, stock, modo, formatos y variaciones. articuloId: de consultar_productos. Libre en unas fechas: consultar_disponibilidad.',
  rest: ['GET /products/{articuloId}'],
  alias: 'obtenerProducto',
  scope: 'svc.read',
  input: { articuloId: id('product').describe('El artículo') },
  output: wholeProduct,
  handler: ({ input: { articuloId }, db, accountId }) => readProduct(db, accountId, articuloId),
});
