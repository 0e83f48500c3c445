import { sql } from 'kysely';
import { z } from 'zod';
import { REGISTER_TYPES, type RegisterState, type RegisterType } from '../../entities/values.ts';
import { jsonObject, listOfTexts } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { momentIn } from '../shared/origin.ts';

const STATES = {
  accepted: 'aceptado',
  accepted_with_errors: 'aceptado_con_errores',
  rejected: 'rechazado',
} as const satisfies Record<RegisterState, string>;

const register = z.object({
  tipo: z.enum(REGISTER_TYPES),
  momento: z.string().meta({ example: '2026-03-02T11:00:00.000+01:00' }),
  huella: z.string(),
  huella_anterior: z.string().nullable().describe('null en el primero de la cadena'),
  qr: z.string().nullable().describe('Dirección del QR; null en una anulación'),
  estado: z.enum(['no_enviado', 'pendiente', ...Object.values(STATES)]),
  errores: z.array(z.object({ codigo: z.int(), descripcion: z.string() })),
  csv: z.string().nullable().describe('Código de la AEAT'),
  xml: z.string().describe('Dirección válida 10 minutos'),
});
const output = z.object({ registros: z.array(register) });

interface RegisterRow {
  id: number;
  type: RegisterType;
  made_at: string;
  hash: string;
  previous: string | null;
  qr: string | null;
  state: RegisterState | null;
  code: number | null;
  description: string | null;
  csv: string | null;
}

/**
 * The registers of an invoice for the tax agency, the oldest first: `alta` when it was issued, `anulacion` when it was annulled, others
 * where one was corrected. None for an invoice that was issued while VeriFactu was off. `no_enviado`: the service sends none. DOC-02
 */
export const getInvoiceRegister = operation({
  title: 'Registros VeriFactu',
  description: 'Los registros VeriFactu de una factura y su estado en la AEAT. facturaId: de consultar_facturas.',
  rest: ['GET /invoices/{facturaId}/register'],
  alias: 'obtenerRegistroFactura',
  scope: 'svc.read',
  lasts: false,
  input: { facturaId: id('invoice').describe('La factura') },
  output,
  async handler({ input: { facturaId }, db, accountId, principal: { timeZone }, verifactu, downloadUrl }) {
    const { rows } = await sql<RegisterRow>`
      select r.id, r.type, r.made_at, r.hash, r.previous, r.qr, w.state, w.code, w.description, w.csv
      from invoice_registers r
      left join register_answers w on w.account_id = ${accountId} and w.register_id = r.id
      where r.account_id = ${accountId} and r.invoice_id = ${facturaId}
      order by r.id`.execute(db);
    const pending = verifactu?.sending ? 'pendiente' : 'no_enviado';
    return jsonObject<z.input<typeof output>>({
      registros: listOfTexts(
        rows.map(({ id, state, code, description, ...row }) =>
          jsonObject<z.input<typeof register>>({
            tipo: row.type,
            momento: momentIn(timeZone, row.made_at),
            huella: row.hash,
            huella_anterior: row.previous,
            qr: row.qr,
            estado: state ? STATES[state] : pending,
            errores: code === null ? [] : [{ codigo: code, descripcion: description ?? '' }],
            csv: row.csv,
            xml: downloadUrl({ accountId, file: 'invoiceRegister', id }),
          }),
        ),
      ),
    });
  },
});
