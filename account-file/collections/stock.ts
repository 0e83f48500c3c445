// What moved the stock of articles.
import { collection } from '../collection.ts';
import {
  instant,
  optionalDecimal,
  optionalInnerReference,
  optionalReference,
  optionalText,
  product,
  reference,
} from '../fields.ts';
import { products } from './catalogue.ts';
import { purchaseDeliveryNotes } from './purchases.ts';
import { deliveryNotes, invoices } from './sales.ts';

export const stockMovements = collection(
  'movimientos_stock',
  'stock_movements',
  {
    articulo: reference(products, 'product_id'),
    variacion: optionalInnerReference(products, 'variaciones', 'articulo', 'variation_id'),
    fecha: instant('moved_at'),
    cantidad: product('quantity'),
    albaran: optionalReference(deliveryNotes, 'delivery_note_id'),
    linea: optionalInnerReference(deliveryNotes, 'lineas', 'albaran', 'delivery_note_line_id'),
    factor: optionalDecimal('factor'),
    motivo: optionalText('reason'),
    factura: optionalReference(invoices, 'invoice_id'),
    albaran_compra: optionalReference(purchaseDeliveryNotes, 'purchase_delivery_note_id'),
  },
  // Opening movements are not exported: they follow from `stock` and the other movements.
  { exported: 'not t.opening' },
);
