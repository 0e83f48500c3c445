import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { JsonText, jsonObject, listOfTexts, withMore } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { idOf, plainOf, shape, textOf, wholeOf } from '../shared/shape.ts';

const attachment = shape({
  adjuntoId: idOf('attachment', 'id'),
  nombre: textOf('name'),
  tipo_mime: textOf('mime_type'),
  tamano: wholeOf('bytes'),
  fecha_subida: plainOf('uploaded'),
});
type Attached = z.input<typeof attachment.schema>;

/** An estimate's attachments, oldest first, with addresses that work for ten minutes. `tamano` in bytes. EST-01 */
export const listEstimateAttachments = operation({
  title: 'Adjuntos de un presupuesto',
  description:
    'Ficheros adjuntos de un presupuesto, con una dirección de descarga válida 10 minutos. presupuestoId: de consultar_presupuestos.',
  rest: ['GET /estimates/{presupuestoId}/attachments'],
  alias: 'consultarAdjuntosPresupuesto',
  scope: 'svc.read',
  lasts: false,
  input: { presupuestoId: id('estimate').describe('El presupuesto') },
  output: z.object({
    total_adjuntos: z.int(),
    adjuntos: z.array(attachment.schema.extend({ url: z.string() })),
  }),
  async handler({ input: { presupuestoId }, db, accountId, principal: { timeZone }, downloadUrl }) {
    const { rows } = await sql<{ id: number; shown: string }>`
      select id, ${attachment.json('x')} as shown
      from (
        select id, name, mime_type, octet_length(content) as bytes, uploaded_at,
          to_char(uploaded_at at time zone ${timeZone}, 'YYYY-MM-DD HH24:MI:SS') as uploaded
        from attachments where account_id = ${accountId} and estimate_id = ${presupuestoId}) x
      order by uploaded_at, id`.execute(db);
    const found = rows.map(({ id: attachmentId, shown }) =>
      withMore(new JsonText<Attached>(shown), {
        url: downloadUrl({ accountId, file: 'attachment', id: attachmentId }),
      }),
    );
    return jsonObject({ total_adjuntos: found.length, adjuntos: listOfTexts(found) });
  },
});

/** What a download says of an attachment; undefined when it is gone. */
export const findAttachment = (db: Db, accountId: number, attachmentId: number) =>
  db
    .selectFrom('attachments')
    .select(['id', 'name', 'mime_type', 'uploaded_at', sql<number>`octet_length(content)`.as('bytes')])
    .where('account_id', '=', accountId)
    .where('id', '=', attachmentId)
    .executeTakeFirst();

export type Attachment = NonNullable<Awaited<ReturnType<typeof findAttachment>>>;

/** `length` bytes of it from `offset` on, or what is left; undefined when it is gone or has been replaced. */
export async function readAttachmentPart(
  db: Db,
  accountId: number,
  { id, uploaded_at, bytes }: Attachment,
  { offset, length }: { offset: number; length: number },
): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('attachments')
    .select(sql<Buffer>`substring(content from ${offset + 1}::int for ${length}::int)`.as('part'))
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('uploaded_at', '=', uploaded_at)
    .where(sql`octet_length(content)`, '=', bytes)
    .executeTakeFirst();
  return row?.part;
}
