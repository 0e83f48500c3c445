import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { text } from '../shared/schemas.ts';
import { billingClient, resolveBillingClient } from './billing-client.ts';
import { nextNumber } from './document-number.ts';
import { lineRows, resolveLines, saleLine } from './sale-lines.ts';

/**
 * Creates a reviewed, numbered delivery note of today; stock of articles in sale mode follows. Amounts without VAT.
 * No due dates: they come with the invoice. DLV-01..08
 */
export const createDeliveryNote = operation({
  title: 'Crear albarán',
  description:
    'Crea un albarán de venta revisado, numerado y con fecha de hoy, y mueve el stock. Cliente: id de consultar_clientes o cif; articulo_fk: de consultar_productos; formatoId: de consultar_formatos.',
  rest: ['POST /delivery-notes'],
  alias: 'crearAlbaran',
  scope: 'svc.write',
  input: {
    cliente: billingClient.describe('Cliente de facturación'),
    pedido: z.object({
      obra: text(500).min(1).describe('Concepto o referencia'),
      detalles_operacion: text(20_000).optional().describe('Observaciones; admite HTML'),
      promo_code: text(100).optional().describe('Código promocional; no cambia precios'),
    }),
    detalles: z.array(saleLine).min(1).max(1000).describe('Líneas'),
  },
  output: sealedId('deliveryNote').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input, db, accountId, principal: { multiFormatStock }, today, now, audit }) {
    const { pedido } = input;
    const [client, lines, { rows: ids }] = await Promise.all([
      resolveBillingClient(db, accountId, input.cliente, audit),
      resolveLines(db, accountId, input.detalles, multiFormatStock),
      sql<{ id: number }>`select nextval('delivery_notes_id_seq') as id`.execute(db),
    ]);
    const [{ id: noteId } = { id: 0 }] = ids;
    const rows = lineRows(lines);

    // The counter's row is taken first, so that notes of one company follow each other and never meet in a deadlock.
    await Promise.all([
      sql`with ${nextNumber(accountId, 'delivery_note', today)}
        insert into delivery_notes (account_id, id, number, date, concept, remarks, client_id, promo_code, reviewed)
        select ${accountId}, ${noteId}, number, ${today.toString()}::date, ${pedido.obra},
          ${pedido.detalles_operacion ?? ''}, ${client.id}, ${pedido.promo_code || null}, true
        from numbered`.execute(db),
      // A price that was not sent is the client's list's, per base unit, for as many as the format holds. DLV-08
      sql`with line as (
          insert into delivery_note_lines (account_id, delivery_note_id, position, description, quantity, unit_price, discount,
            vat, product_id, variation_id, format_id, base_quantity, extended_description, start_date, end_date)
          select ${accountId}, ${noteId}, l.position, l.description, l.quantity,
            coalesce(l.unit_price, (p.prices -> ${String(client.priceList)} ->> 0)::numeric * coalesce(l.factor, 1), 0),
            l.discount, l.vat, l.product_id, l.variation_id, l.format_id, l.base_quantity, l.extended_description,
            l.start_date, l.end_date
          from ${rows} left join products p on p.account_id = ${accountId} and p.id = l.product_id
          order by l.position
          returning id, position, product_id, variation_id),
        movement as (
          insert into stock_movements (account_id, product_id, variation_id, moved_at, quantity, delivery_note_id,
            delivery_note_line_id, factor)
          select ${accountId}, line.product_id, line.variation_id, ${now.toString()},
            -coalesce(sign(l.quantity) * l.base_quantity, l.quantity * coalesce(l.factor, 1)), ${noteId}, line.id, l.factor
          from line join ${rows} on l.position = line.position
          where l.moves_stock
          returning product_id, quantity)
        insert into product_stocks as s (account_id, product_id, quantity)
        select ${accountId}, product_id, sum(quantity) from movement group by product_id order by product_id
        on conflict (account_id, product_id) do update
          set quantity = s.quantity + excluded.quantity, version = s.version + 1, updated_at = now()`.execute(db),
    ]);
    audit('deliveryNote', noteId);
    return noteId;
  },
});
