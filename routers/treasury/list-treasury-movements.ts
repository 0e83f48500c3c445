import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, optionalDates, PAGE, page } from '../shared/schemas.ts';
import { decimalOf, idOf, plainOf, shape, textOf } from '../shared/shape.ts';

const movements = listOf(
  'total_movimientos',
  'movimientos',
  shape({
    movimientoId: idOf('treasuryMovement', 'm.id'),
    cuentaId: idOf('treasuryAccount', 'm.treasury_account_id'),
    fecha: plainOf('m.date'),
    concepto: textOf('m.concept'),
    importe: decimalOf('m.amount'),
  }),
  orderOf('m', 'date desc', 'id desc'),
);

/** Movements of bank and cash accounts, newest first; `importe` is negative for what went out. PAG-02 */
export const listTreasuryMovements = operation({
  title: 'Movimientos de tesorería',
  description:
    'Movimientos de bancos y cajas, del más reciente al más antiguo; los pagos en negativo. cuentaId: de consultar_cuentas_tesoreria. Para lo que está por cobrar o pagar usa consultar_vencimientos.',
  rest: ['GET /treasury/movements'],
  alias: 'consultarMovimientosTesoreria',
  scope: 'svc.read',
  input: {
    ...optionalDates(),
    cuentaId: id('treasuryAccount').optional().describe('Solo los de esta cuenta'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: movements.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { fecha_inicio, fecha_fin, cuentaId } = input;
    const selected = db
      .selectFrom('treasury_movements as m')
      .where('m.account_id', '=', accountId)
      .$call(when(changedIn('m', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(fecha_inicio, (q, from) => q.where('m.date', '>=', from)))
      .$call(when(fecha_fin, (q, to) => q.where('m.date', '<=', to)))
      .$call(when(cuentaId, (q, treasuryAccount) => q.where('m.treasury_account_id', '=', treasuryAccount)));
    return movements.read(db, input, {
      selected,
      rows: selected.select(movements.columns),
    });
  },
});
