import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { text } from '../shared/schemas.ts';

/** What a request of 1 MiB has room for, as base64. */
const LARGEST = 700_000;

const content = z
  .string()
  .min(1)
  .refine((value) => Buffer.byteLength(value, 'base64') <= LARGEST, {
    error: `no puede pasar de ${LARGEST} bytes`,
    abort: true,
  })
  .refine((value) => Buffer.from(value, 'base64').toString('base64') === value, 'se esperaba base64 con su relleno');

/** Attaches a file to an estimate. EST-01 */
export const attachToEstimate = operation({
  title: 'Adjuntar a un presupuesto',
  description: `Adjunta un fichero de hasta ${LARGEST} bytes a un presupuesto. presupuestoId: de consultar_presupuestos.`,
  rest: ['POST /estimates/{presupuestoId}/attachments'],
  alias: 'adjuntarAPresupuesto',
  scope: 'svc.write',
  input: {
    presupuestoId: id('estimate').describe('El presupuesto'),
    nombre: text(255).min(1),
    tipo_mime: z
      .string()
      .max(100)
      .regex(/^[\w.+-]+\/[\w.+-]+$/, 'se esperaba un tipo como application/pdf'),
    contenido: content.describe('En base64'),
  },
  output: sealedId('attachment').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input, db, accountId, now, newId, beforeCommit, journal }) {
    const { presupuestoId, nombre, tipo_mime, contenido } = input;
    const id = await newId('attachment');
    beforeCommit(
      db
        .insertInto('attachments')
        .values({
          account_id: accountId,
          id,
          estimate_id: presupuestoId,
          name: nombre,
          mime_type: tipo_mime,
          uploaded_at: now.toString(),
          content: Buffer.from(contenido, 'base64'),
        })
        .execute(),
    );
    journal('create', 'attachment', id);
    return id;
  },
});
