import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { amountInput, isoDate, text } from '../shared/schemas.ts';

/** Creates a movement of a bank or cash account; `importe` is negative for what goes out. */
export const createTreasuryMovement = operation({
  title: 'Crear movimiento de tesorería',
  description: 'Anota un cobro o un pago (importe negativo) en una cuenta. cuentaId: de consultar_cuentas_tesoreria.',
  rest: ['POST /treasury/movements'],
  alias: 'crearMovimientoTesoreria',
  scope: 'svc.write',
  input: {
    cuentaId: id('treasuryAccount').describe('La cuenta'),
    concepto: text(500).min(1),
    importe: amountInput().refine((importe) => importe !== 0, 'no puede ser 0'),
    fecha: isoDate().optional().describe('Hoy si no se indica'),
  },
  output: sealedId('treasuryMovement').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { cuentaId, concepto, importe, fecha }, db, accountId, today, newId, beforeCommit, journal }) {
    const id = await newId('treasuryMovement');
    const movement = {
      treasury_account_id: cuentaId,
      concept: concepto,
      amount: importe,
      date: fecha ?? today.toString(),
    };
    beforeCommit(
      db
        .insertInto('treasury_movements')
        .values({ ...movement, account_id: accountId, id })
        .execute(),
    );
    journal('create', 'treasuryMovement', id);
    return id;
  },
});
