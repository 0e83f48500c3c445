import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';

/** An estimate's attachments, oldest first, with addresses that are good for ten minutes. `tamano` in bytes. EST-01 */
export const listEstimateAttachments = operation({
  title: 'Adjuntos de un presupuesto',
  description:
    'Ficheros adjuntos de un presupuesto, con una dirección de descarga válida 10 minutos. presupuestoId: de consultar_presupuestos.',
  rest: ['GET /estimates/{presupuestoId}/attachments'],
  alias: 'consultarAdjuntosPresupuesto',
  scope: 'svc.read',
  input: { presupuestoId: id('estimate').describe('El presupuesto') },
  output: z.object({
    total_adjuntos: z.int(),
    adjuntos: z.array(
      z.object({
        adjuntoId: sealedId('attachment'),
        nombre: z.string(),
        tipo_mime: z.string(),
        tamano: z.int(),
        fecha_subida: z.string(),
        url: z.string(),
      }),
    ),
  }),
  async handler({ input: { presupuestoId }, db, accountId, principal: { timeZone }, downloadUrl }) {
    const rows = await db
      .selectFrom('attachments')
      .select(['id', 'name', 'mime_type', sql<number>`octet_length(content)`.as('bytes')])
      .select(sql<string>`to_char(uploaded_at at time zone ${timeZone}, 'YYYY-MM-DD HH24:MI:SS')`.as('uploaded'))
      .where('account_id', '=', accountId)
      .where('estimate_id', '=', presupuestoId)
      .orderBy('uploaded_at')
      .orderBy('id')
      .execute();
    return {
      total_adjuntos: rows.length,
      adjuntos: rows.map((row) => ({
        adjuntoId: row.id,
        nombre: row.name,
        tipo_mime: row.mime_type,
        tamano: row.bytes,
        fecha_subida: row.uploaded,
        url: downloadUrl({ accountId, attachmentId: row.id }),
      })),
    };
  },
});

/** The file itself, for who holds a signed address; undefined when it is no longer there. */
export const readAttachment = (db: Db, accountId: number, attachmentId: number) =>
  db
    .selectFrom('attachments')
    .select(['name', 'mime_type', 'content'])
    .where('account_id', '=', accountId)
    .where('id', '=', attachmentId)
    .executeTakeFirst();
