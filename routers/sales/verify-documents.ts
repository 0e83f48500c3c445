import { z } from 'zod';
import { type Fault, verifyDocuments } from '../../documents/verification.ts';
import { markedId } from '../../platform/ids.ts';
import { JsonText, jsonObject, listOfTexts } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { optionalDates } from '../shared/schemas.ts';
import { DOCUMENT_TYPES, documentTypeOf, SEALED_DOCUMENTS } from './document.ts';

const REASONS: Record<Fault, string> = {
  content: 'no dice lo que se selló',
  annulment: 'su anulación no es la que se selló',
  answer: 'su respuesta no es la que se selló',
  deleted: 'se selló y ya no está',
  register: 'su registro de facturación no es el que se hizo',
  registers: 'la cadena de registros de facturación no llega a su último',
  seal: 'su sello ha cambiado',
  gap: 'falta el sello anterior de la cadena',
  end: 'la cadena no llega a su último sello',
};

const MOST_FAILURES = 100;

const failure = z.object({
  tipo: z.enum(DOCUMENT_TYPES),
  id: z.string().nullable(),
  numero: z.string(),
  motivo: z.string(),
});
const exported = z.object({
  registros: z.int(),
  ndjson: z.string().describe('Dirección válida 10 minutos, como la otra'),
  xml: z.string(),
});
const output = z.object({
  documentos: z.int(),
  registros: z.int().describe('Sellos comprobados'),
  correctos: z.int().describe('Documentos sellados sin fallo'),
  registros_facturacion: exported.nullable().describe('Los de la AEAT, con su exportación; null si no hay'),
  fallos: z.array(failure).describe(`Los ${MOST_FAILURES} primeros`),
});

/**
 * Recomputes the seals of issued documents and compares what they say with what was sealed. `correctos` counts documents; those of
 * earlier versions without a seal are neither right nor failures. Registers for the tax agency are recomputed too, whatever the range, and
 * can be had whole, for `albaran verify`. DOC-01, DOC-02
 */
export const verifyIssuedDocuments = operation({
  title: 'Verificar documentos',
  description: 'Comprueba que los documentos emitidos dicen lo que se selló y que su cadena está entera.',
  rest: ['GET /documents/verify'],
  alias: 'verificarDocumentos',
  scope: 'svc.read',
  lasts: false,
  report: true,
  plan: 'custom',
  input: {
    ...optionalDates(),
    tipo: z.enum(DOCUMENT_TYPES).optional().describe('Solo estos'),
  },
  output,
  async handler({ input: { fecha_inicio: from, fecha_fin: to, tipo }, db, accountId, downloadUrl }) {
    const tables = tipo && [SEALED_DOCUMENTS[tipo].table];
    const found = await verifyDocuments(db, accountId, { tables, from, to, limit: MOST_FAILURES });
    return jsonObject<z.input<typeof output>>({
      documentos: found.documents,
      registros: found.seals,
      correctos: found.right,
      registros_facturacion:
        found.registers === 0
          ? null
          : {
              registros: found.registers,
              ndjson: downloadUrl({ accountId, file: 'registersNdjson', id: 0 }),
              xml: downloadUrl({ accountId, file: 'registersXml', id: 0 }),
            },
      fallos: listOfTexts(
        found.failures.map(({ table, id, number, fault }) => {
          const { tipo, kind } = documentTypeOf(table);
          return jsonObject<z.input<typeof failure>>({
            tipo,
            id: id === null ? null : new JsonText<string>(markedId(kind, id).text),
            numero: number ?? '',
            motivo: REASONS[fault],
          });
        }),
      ),
    });
  },
});
