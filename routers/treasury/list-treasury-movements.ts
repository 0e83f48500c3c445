import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { pageOfRows } from '../shared/rows.ts';
import { optionalDates, PAGE, page, paged, pageOf } from '../shared/schemas.ts';

const treasuryMovement = z.object({
  movimientoId: sealedId('treasuryMovement'),
  cuentaId: sealedId('treasuryAccount'),
  fecha: z.string(),
  concepto: z.string(),
  importe: z.number(),
});

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
    ...page(PAGE),
  },
  output: paged('total_movimientos', 'movimientos', treasuryMovement),
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin, cuentaId } = input;
    const selected = db
      .selectFrom('treasury_movements as m')
      .where('m.account_id', '=', accountId)
      .$if(fecha_inicio !== undefined, (q) => q.where('m.date', '>=', fecha_inicio ?? ''))
      .$if(fecha_fin !== undefined, (q) => q.where('m.date', '<=', fecha_fin ?? ''))
      .$if(cuentaId !== undefined, (q) => q.where('m.treasury_account_id', '=', cuentaId ?? 0));
    const { total, rows } = await pageOfRows(
      db,
      selected,
      selected
        .select(['m.id', 'm.treasury_account_id', 'm.date', 'm.concept', 'm.amount'])
        .orderBy('m.date', 'desc')
        .orderBy('m.id', 'desc'),
      input,
    );
    return {
      total_movimientos: total,
      ...pageOf(total, input),
      movimientos: rows.map((row) => ({
        movimientoId: row.id,
        cuentaId: row.treasury_account_id,
        fecha: row.date,
        concepto: row.concept,
        importe: row.amount,
      })),
    };
  },
});
