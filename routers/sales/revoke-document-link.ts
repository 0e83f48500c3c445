import { sql } from 'kysely';
import { z } from 'zod';
import { noteWrite } from '../../platform/audit.ts';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { momentIn } from '../shared/origin.ts';
import { documentInput, namedDocument } from './document.ts';

/** Revokes a link to a document: its page is gone at once. One that is revoked already is answered the same. DOC-03 */
export const revokeDocumentLink = operation({
  title: 'Revocar enlace a documento',
  description: 'Su página deja de existir. enlaceId: de consultar_enlaces_documento.',
  rest: ['DELETE /documents/{tipo}/{id}/links/{enlaceId}'],
  alias: 'revocarEnlaceDocumento',
  scope: 'svc.write',
  destructive: true,
  input: { ...documentInput, enlaceId: id('documentLink').describe('El enlace') },
  output: z.object({ enlaceId: sealedId('documentLink'), revocado: z.string() }),
  async handler({ input, db, accountId, now, author, principal: { timeZone } }) {
    const { table, number } = namedDocument(input);
    const { enlaceId } = input;
    const { rows } = await sql<{ revoked_at: string | null }>`
      select revoked_at from document_links
      where account_id = ${accountId} and id = ${enlaceId} and record_table = ${table} and record_id = ${number}
      for update`.execute(db);
    const [link] = rows;
    if (!link) throw notFound('enlaceId');
    const revoked = link.revoked_at ?? now.toString();
    if (link.revoked_at === null) {
      await sql`update document_links set revoked_at = ${revoked}, version = version + 1, updated_at = ${revoked}
        where account_id = ${accountId} and id = ${enlaceId}`.execute(db);
      await noteWrite(db, accountId, author, {
        operation: 'revocarEnlaceDocumento',
        kind: 'documentLink',
        id: enlaceId,
      });
    }
    return { enlaceId, revocado: momentIn(timeZone, revoked) };
  },
});
