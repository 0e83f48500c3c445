import { sql } from 'kysely';
import { z } from 'zod';
import { hashOfLink, isLive, newLinkToken } from '../../documents/links.ts';
import { noteWrite } from '../../platform/audit.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { momentIn } from '../shared/origin.ts';
import { documentInput, namedDocument } from './document.ts';

/** How many a document may have that are live. */
const MOST_LIVE = 100;

/**
 * A link to a page that shows an issued document as it was sealed, and its PDF, to whoever has the address, without signing in. The
 * address is answered only here, and by the same call again under its idempotency key, for the 24 hours that its answer is kept. DOC-03
 */
export const createDocumentLink = operation({
  title: 'Crear enlace a un documento',
  description: 'Una página con el documento y su PDF para quien tenga el enlace. La dirección solo se muestra ahora.',
  rest: ['POST /documents/{tipo}/{id}/link'],
  alias: 'crearEnlaceDocumento',
  scope: 'svc.write',
  input: { ...documentInput, dias: z.int().min(1).max(365).default(30) },
  output: z.object({
    enlaceId: sealedId('documentLink'),
    url: z.string(),
    caduca: z.string().meta({ example: '2026-04-01T11:00:00.000+02:00' }),
  }),
  async handler({ input, db, accountId, now, author, baseUrl, principal: { timeZone } }) {
    const { table, number } = namedDocument(input);
    // Whoever makes another link to it waits here, so that they are counted one by one.
    const { rows: documents } = await sql`
      select id from ${sql.table(table)} where account_id = ${accountId} and id = ${number} for update`.execute(db);
    if (documents.length === 0) throw notFound('id');
    const { rows: live } = await sql`
      select id from document_links
      where account_id = ${accountId} and record_table = ${table} and record_id = ${number} and ${isLive(now)}`.execute(
      db,
    );
    if (live.length >= MOST_LIVE) {
      throw new ApiError('badInput', `El documento ya tiene ${MOST_LIVE} enlaces vigentes, el máximo`);
    }
    const token = newLinkToken(accountId);
    const ends = now.add({ hours: 24 * input.dias }).toString();
    const { id } = await db
      .insertInto('document_links')
      .values({
        account_id: accountId,
        record_table: table,
        record_id: number,
        hash: hashOfLink(token),
        expires_at: ends,
        created_at: now.toString(),
        updated_at: now.toString(),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await noteWrite(db, accountId, author, { operation: 'crearEnlaceDocumento', kind: 'documentLink', id });
    return { enlaceId: id, url: `${baseUrl}/d/${token}`, caduca: momentIn(timeZone, ends) };
  },
});
