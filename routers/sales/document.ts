// The documents that are sealed, as callers name them.
import { z } from 'zod';
import type { SealedTable } from '../../entities/values.ts';
import { eitherId, type NamedRecord } from '../shared/id.ts';

export const DOCUMENT_TYPES = ['albaran', 'factura', 'presupuesto'] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];

/** By their names on the wire: the table, and the kind of their ids. */
export const SEALED_DOCUMENTS = {
  albaran: { table: 'delivery_notes', kind: 'deliveryNote' },
  factura: { table: 'invoices', kind: 'invoice' },
  presupuesto: { table: 'estimates', kind: 'estimate' },
} as const satisfies Record<DocumentType, { table: SealedTable; kind: string }>;

const TYPES: Record<SealedTable, DocumentType> = {
  delivery_notes: 'albaran',
  invoices: 'factura',
  estimates: 'presupuesto',
};

/** What the documents of a table are called. */
export const documentTypeOf = (table: SealedTable) => ({
  tipo: TYPES[table],
  kind: SEALED_DOCUMENTS[TYPES[table]].kind,
});

/** The input that names one. */
export const documentInput = {
  tipo: z.enum(DOCUMENT_TYPES).meta({ description: 'Qué documento', examples: ['factura'] }),
  id: eitherId('invoice', 'deliveryNote', 'estimate').describe('El documento'),
};

/** Its table and number; 0, which none has, where the id is of another kind. */
export function namedDocument({ tipo, id }: { tipo: DocumentType; id: readonly NamedRecord[] }) {
  const { table, kind } = SEALED_DOCUMENTS[tipo];
  return { table, number: id.find((named) => named.kind === kind)?.number ?? 0 };
}
