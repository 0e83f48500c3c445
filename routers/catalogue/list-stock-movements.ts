import { sql } from 'kysely';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { instantsOf } from '../shared/local-days.ts';
import { listOf } from '../shared/pages.ts';
import { optionalDates, PAGE, page } from '../shared/schemas.ts';
import { always, decimalOf, idOf, objectOf, plainOf, shape, textOf } from '../shared/shape.ts';

/** The delivery note `d` that moved it. */
const note = shape({ tipo: always('albaran'), id: idOf('deliveryNote', 'd.id'), numero: textOf('d.number') });

const movements = listOf(
  'total_movimientos',
  'movimientos',
  shape({
    movimientoId: idOf('stockMovement', 'm.id'),
    fecha: plainOf('moved'),
    cantidad: decimalOf('m.quantity'),
    motivo: textOf('reason'),
    documento: objectOf(note, 'document').orNull(),
  }),
);

/**
 * What moved the stock of a product, newest first, in base units; by the company's local days. Movements of invoices keep no document.
 * DLV-03, DATE-02, PAG-02
 */
export const listStockMovements = operation({
  title: 'Movimientos de stock',
  description:
    'Entradas y salidas de un artículo en unidades base, de la más reciente a la más antigua. articuloId: de consultar_productos.',
  rest: ['GET /products/{articuloId}/stock-movements'],
  alias: 'consultarMovimientosStock',
  scope: 'svc.read',
  input: { articuloId: id('product').describe('El artículo'), ...optionalDates(), ...page(PAGE) },
  output: movements.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { articuloId, fecha_inicio, fecha_fin } = input;
    const { since, until } = instantsOf(fecha_inicio, fecha_fin, timeZone);
    const selected = db
      .selectFrom('stock_movements as m')
      .where('m.account_id', '=', accountId)
      .where('m.product_id', '=', articuloId)
      .$call(when(fecha_inicio, (q) => q.where('m.moved_at', '>=', since)))
      .$call(when(fecha_fin, (q) => q.where('m.moved_at', '<', until)));
    return movements.read(db, input, {
      selected,
      rows: selected
        .leftJoin('delivery_notes as d', (join) =>
          join.onRef('d.account_id', '=', 'm.account_id').onRef('d.id', '=', 'm.delivery_note_id'),
        )
        .select(movements.columns)
        .select([
          sql<string>`to_char(m.moved_at at time zone ${timeZone}, 'YYYY-MM-DD HH24:MI:SS')`.as('moved'),
          sql<string>`case when m.opening then 'Existencias iniciales' else '' end`.as('reason'),
          sql<string | null>`case when d.id is not null then ${note.json('d')} end`.as('document'),
        ])
        .orderBy('m.moved_at', 'desc')
        // The opening is as old as the first of the others.
        .orderBy('m.opening')
        .orderBy('m.id', 'desc'),
    });
  },
});
