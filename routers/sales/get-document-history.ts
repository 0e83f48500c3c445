import { sql } from 'kysely';
import { z } from 'zod';
import type { SealAction, SealedTable } from '../../entities/values.ts';
import { notFound } from '../../platform/errors.ts';
import { markedId } from '../../platform/ids.ts';
import { JsonText, jsonObject, listOfTexts } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { momentIn, type OriginRow, origin, originColumns, originNames, originOf } from '../shared/origin.ts';
import { DOCUMENT_TYPES, documentInput, documentTypeOf, namedDocument } from './document.ts';

const ACTIONS = {
  issue: 'emitir',
  import: 'importar',
  anonymise: 'anonimizar',
  annul: 'anular',
  rectify: 'rectificar',
  accept: 'aceptar',
  reject: 'rechazar',
  reopen: 'reabrir',
  convert: 'convertir',
} as const satisfies Record<SealAction, string>;

const event = z.object({
  momento: z.string().meta({ example: '2026-03-02T11:00:00.000+01:00' }),
  accion: z.enum(Object.values(ACTIONS)),
  origen: origin,
  motivo: z.string().nullable(),
  documento: z
    .object({ tipo: z.enum(DOCUMENT_TYPES), id: z.string(), numero: z.string() })
    .nullable()
    .describe('El que salió de ello'),
  huella: z.string().describe('SHA-256 del sello, encadenado con el anterior'),
});
const output = z.object({ historial: z.array(event) });

interface EventRow extends OriginRow {
  sealed_at: string;
  action: SealAction;
  reason: string | null;
  related_table: SealedTable | null;
  related_id: number | null;
  related: string | null;
  hash: string;
}

/**
 * What happened to an issued document, the oldest first, each with its seal: issued or imported, annulled, rectified, answered,
 * converted. One of an earlier version that is not sealed has none. DOC-01
 */
export const getDocumentHistory = operation({
  title: 'Historial de un documento',
  description:
    'Qué ha pasado con un documento emitido, por orden, con su huella. id: de consultar_facturas, consultar_albaranes o consultar_presupuestos.',
  rest: ['GET /documents/{tipo}/{id}/history'],
  alias: 'consultarHistorialDocumento',
  scope: 'svc.read',
  input: documentInput,
  output,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { table, number } = namedDocument(input);
    const [{ rows: documents }, { rows: events }] = await Promise.all([
      sql`select d.id from ${sql.table(table)} d where d.account_id = ${accountId} and d.id = ${number}`.execute(db),
      sql<EventRow>`
        select e.sealed_at, e.action, e.related_table, e.related_id, e.hash,
          e.content::jsonb ->> 'motivo' as reason, e.content::jsonb ->> 'relacionado' as related,
          ${originColumns}
        from seals e ${originNames(accountId)}
        where e.account_id = ${accountId} and e.record_table = ${table} and e.record_id = ${number}
        order by e.n`.execute(db),
    ]);
    if (documents.length === 0) throw notFound('id');
    return jsonObject<z.input<typeof output>>({
      historial: listOfTexts(events.map((row) => jsonObject<z.input<typeof event>>(shown(row, timeZone)))),
    });
  },
});

const shown = (row: EventRow, timeZone: string) => ({
  momento: momentIn(timeZone, row.sealed_at),
  accion: ACTIONS[row.action],
  origen: originOf(row),
  motivo: row.reason,
  documento: related(row),
  huella: row.hash,
});

function related({ related_table: table, related_id: id, related: numero }: EventRow) {
  if (table === null || id === null) return null;
  const { tipo, kind } = documentTypeOf(table);
  return jsonObject({ tipo, id: new JsonText<string>(markedId(kind, id).text), numero: numero ?? '' });
}
