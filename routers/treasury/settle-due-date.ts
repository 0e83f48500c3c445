import { sql } from 'kysely';
import { z } from 'zod';
import { badField, notFound } from '../../platform/errors.ts';
import { markedId } from '../../platform/ids.ts';
import { jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { DUE_DATES, settle } from '../shared/documents/settlement.ts';
import { eitherId, id, sealedId } from '../shared/id.ts';
import { centsInput, isoDate } from '../shared/schemas.ts';

/** By kind of due date: what a movement of it is called, and its sign. */
const MOVEMENTS = {
  dueDate: { called: 'Cobro', sign: 1 },
  purchaseDueDate: { called: 'Pago', sign: -1 },
} as const;

const output = z.object({
  // Of a collection or of a payment: the text says which.
  vencimientoId: sealedId('dueDate'),
  importe: z.number(),
  pendiente: z.number(),
  movimientoId: sealedId('treasuryMovement').nullable(),
});

interface DueDateRow {
  position: number;
  number: string | null;
  annulled: boolean;
  /** Exact decimals. */
  settled: string;
  left: string;
  none_pending: boolean;
  same_sign: boolean;
  within: boolean;
}

/**
 * Collects or pays a due date of a sale or purchase invoice, all that is pending of it or a part; never more, under concurrency too.
 * What is negative, as of a rectifying invoice, goes back. With an account it makes the movement there. W-04
 */
export const settleDueDate = operation({
  title: 'Liquidar vencimiento',
  description:
    'Anota el cobro o pago, entero o parcial, de un vencimiento de consultar_vencimientos; con cuentaId (de consultar_cuentas_tesoreria) crea el movimiento.',
  rest: ['POST /treasury/due-dates/{vencimientoId}/settle'],
  alias: 'liquidarVencimiento',
  scope: 'svc.write',
  input: {
    vencimientoId: eitherId('dueDate', 'purchaseDueDate').describe('El vencimiento'),
    fecha: isoDate().optional().describe('Hoy si falta; no después'),
    importe: centsInput()
      .refine((importe) => importe !== 0, 'no puede ser 0')
      .optional()
      .describe('Lo pendiente si falta; con su signo'),
    cuentaId: id('treasuryAccount').optional().describe('Banco o caja'),
  },
  output,
  async handler({ input, db, accountId, today, now, newId, beforeCommit, journal }) {
    const { vencimientoId, importe, cuentaId } = input;
    const date = input.fecha ?? today.toString();
    if (date > today.toString()) throw badField('fecha', 'no puede ser posterior a hoy');
    const { kind, number, invoiceId } = await find();
    const { table, parent, invoices } = DUE_DATES[kind];
    const [, { rows }, movementId] = await Promise.all([
      // The invoice's row: settlements, rectifications and annulments of it take turns.
      sql`select id from ${sql.table(invoices)} where account_id = ${accountId} and id = ${invoiceId}
        for no key update`.execute(db),
      // A second statement, since it sees what was committed while the first one waited.
      sql<DueDateRow>`
        select v.position, i.number, i.annulled_at is not null as annulled, a.settled::text as settled,
          (v.amount - v.paid - a.settled)::text as left, v.amount = v.paid as none_pending,
          sign(a.settled) = sign(v.amount - v.paid) as same_sign, abs(a.settled) <= abs(v.amount - v.paid) as within
        from ${sql.table(table)} v
        join ${sql.table(invoices)} i on i.account_id = ${accountId} and i.id = v.${sql.ref(parent)}
        cross join lateral (select coalesce(${importe ?? null}::numeric, v.amount - v.paid) as settled) a
        where v.account_id = ${accountId} and v.id = ${number} for no key update of v`.execute(db),
      cuentaId === undefined ? null : newId('treasuryMovement'),
    ]);
    const [due] = rows;
    if (!due) throw notFound('vencimientoId');
    if (due.annulled) throw badField('vencimientoId', 'su factura está anulada');
    if (due.none_pending) throw badField('vencimientoId', 'no queda nada pendiente');
    if (!due.same_sign) throw badField('importe', 'tiene que tener el signo de lo pendiente');
    if (!due.within) throw badField('importe', 'es más de lo pendiente');
    if (cuentaId !== undefined && movementId !== null) {
      const { called, sign } = MOVEMENTS[kind];
      beforeCommit(
        sql`insert into treasury_movements (account_id, id, treasury_account_id, date, concept, amount)
          values (${accountId}, ${movementId}, ${cuentaId}, ${date}::date, ${`${called} ${due.number ?? ''}`.trim()},
            ${sql.lit(sign)} * ${due.settled}::numeric)`.execute(db),
      );
      journal('create', 'treasuryMovement', movementId);
    }
    const amounts = [{ position: due.position, amount: due.settled }];
    beforeCommit(settle(db, { accountId, kind, invoiceId, amounts, date, now, movementId }));
    journal('modify', kind === 'dueDate' ? 'invoice' : 'purchaseInvoice', invoiceId);
    return jsonObject<z.input<typeof output>>({
      vencimientoId: markedId(kind, number),
      importe: Number(due.settled),
      pendiente: Number(due.left),
      movimientoId: movementId === null ? null : markedId('treasuryMovement', movementId),
    });

    /** The due date that the id names. A number may be that of a collection and of a payment. */
    async function find() {
      const selects = vencimientoId.map(({ kind, number }) => {
        const { table, parent } = DUE_DATES[kind === 'purchaseDueDate' ? kind : 'dueDate'];
        return sql<Found>`select ${kind}::text as kind, id as number, ${sql.ref(parent)} as "invoiceId" from ${sql.table(table)}
          where account_id = ${accountId} and id = ${number}`;
      });
      const { rows } = await sql<Found>`${sql.join(selects, sql` union all `)}`.execute(db);
      const [found, another] = rows;
      if (!found) throw notFound('vencimientoId');
      if (another)
        throw badField('vencimientoId', 'es el número de un cobro y de un pago: se esperaba su identificador');
      return found;
    }
  },
});

interface Found {
  kind: keyof typeof DUE_DATES;
  number: number;
  invoiceId: number;
}
