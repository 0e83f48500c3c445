import { sql } from 'kysely';
import { z } from 'zod';
import { isLive } from '../../documents/links.ts';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { momentIn } from '../shared/origin.ts';
import { documentInput, namedDocument } from './document.ts';

/** Room for all that may be live, and for as many that have ended. */
const MOST = 200;

const link = z.object({
  enlaceId: sealedId('documentLink'),
  creado: z.string(),
  caduca: z.string(),
  revocado: z.string().nullable(),
  aperturas: z.int().describe('Veces que se ha abierto la página'),
  primera_apertura: z.string().nullable(),
  ultima_apertura: z.string().nullable(),
});

interface Stored {
  id: number;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
  opens: number;
  first_opened_at: string | null;
  last_opened_at: string | null;
}

/**
 * The links to a document and how often each was opened, without their addresses: those that are live before those that have ended, the
 * newest first. One that has ended is there for another year. DOC-03
 */
export const listDocumentLinks = operation({
  title: 'Enlaces de un documento',
  description: 'Los vigentes y los últimos terminados, con sus aperturas. id: de consultar_facturas y similares.',
  rest: ['GET /documents/{tipo}/{id}/links'],
  alias: 'consultarEnlacesDocumento',
  scope: 'svc.read',
  lasts: false,
  input: documentInput,
  output: z.object({ enlaces: z.array(link) }),
  async handler({ input, db, accountId, now, principal: { timeZone } }) {
    const { table, number } = namedDocument(input);
    const [{ rows: documents }, { rows: links }] = await Promise.all([
      sql`select id from ${sql.table(table)} where account_id = ${accountId} and id = ${number}`.execute(db),
      sql<Stored>`
        select id, created_at, expires_at, revoked_at, opens, first_opened_at, last_opened_at from document_links
        where account_id = ${accountId} and record_table = ${table} and record_id = ${number}
        order by ${isLive(now)} desc, id desc limit ${MOST}`.execute(db),
    ]);
    if (documents.length === 0) throw notFound('id');
    const shown = (moment: string | null) => moment && momentIn(timeZone, moment);
    return {
      enlaces: links.map((each) => ({
        enlaceId: each.id,
        creado: momentIn(timeZone, each.created_at),
        caduca: momentIn(timeZone, each.expires_at),
        revocado: shown(each.revoked_at),
        aperturas: each.opens,
        primera_apertura: shown(each.first_opened_at),
        ultima_apertura: shown(each.last_opened_at),
      })),
    };
  },
});
