// Issued documents as files. They are made from what was sealed, so they stay the same whatever happens later. DOC-03, DOC-04
import { sql } from 'kysely';
import type { SealedTable } from '../entities/seals.ts';
import type { OfferedFile } from '../platform/context.ts';
import type { CredentialCheck, Database, Db } from '../platform/database.ts';
import type { LinkedFile } from '../platform/signed-links.ts';
import type { Threads } from '../platform/threads.ts';
import { pictureOf } from './company-logo.ts';
import type { DocumentContent } from './content.ts';
import { writeEInvoice } from './e-invoices/write.ts';
import type { PdfOptions } from './pdf/document.ts';
import { drawPdf } from './pdf/draw.ts';
import { nameOf } from './pdf/words.ts';
import { contentOf, lastSaying } from './sealed-content.ts';

export type DocumentFile = Exclude<LinkedFile, 'attachment' | 'logo'>;

interface Kind {
  table: SealedTable;
  ending: string;
  type: string;
  /** `logo`: of a PDF whose content names one. */
  make(content: DocumentContent, threads: Threads, accountId: number, logo: PdfOptions['logo']): Promise<Buffer>;
}

const pdf = (table: SealedTable): Kind => ({
  table,
  ending: 'pdf',
  type: 'application/pdf',
  make: (content, threads, accountId, logo) =>
    drawPdf(threads, accountId, { content, options: { test: false, logo, color: content.emisor.color } }),
});

const eInvoice = (format: 'facturae' | 'ubl'): Kind => ({
  table: 'invoices',
  ending: `${format}.xml`,
  type: 'application/xml',
  make: (content, threads, accountId) => writeEInvoice(threads, accountId, { format, content }),
});

const KINDS: Record<DocumentFile, Kind> = {
  deliveryNotePdf: pdf('delivery_notes'),
  invoicePdf: pdf('invoices'),
  estimatePdf: pdf('estimates'),
  invoiceFacturae: eInvoice('facturae'),
  invoiceUbl: eInvoice('ubl'),
};

interface Maker {
  database: Database;
  threads: Threads;
}

/**
 * Makes the file of a document; undefined when there is no such document, and 400 when it lacks what the file needs. No connection is
 * held while it is made.
 */
export async function documentFile(
  { database, threads }: Maker,
  accountId: number,
  { file, id }: { file: DocumentFile; id: number },
  credential?: CredentialCheck,
): Promise<OfferedFile | undefined> {
  const { table, ending, type, make } = KINDS[file];
  const found = await database.transaction(accountId, credential ? { credential } : {}, async (db) => {
    const text = await contentText(db, accountId, table, id);
    if (text === undefined) return undefined;
    const content: DocumentContent = JSON.parse(text);
    const { logo } = content.emisor;
    return { content, logo: logo && ending === 'pdf' ? await pictureOf(db, accountId, logo) : undefined };
  });
  if (!found) return undefined;
  const { content, logo } = found;
  const bytes = await make(content, threads, accountId, logo);
  return { name: `${fileName(nameOf(content))}.${ending}`, type, bytes };
}

/** What a document said when it was last sealed; of one that never was, what it says now. */
async function contentText(db: Db, accountId: number, table: SealedTable, id: number): Promise<string | undefined> {
  const sealed = sql<{
    content: string | null;
  }>`select ${lastSaying(accountId, table, sql`${id}::bigint`, 'content')} as content`;
  const [found] = (await sealed.execute(db)).rows;
  if (found?.content) return found.content;
  const [now] = (await contentOf(table, accountId, sql`d.id = ${id}`).execute(db)).rows;
  return now?.content;
}

/** Without what some system takes for something else, and not too long. */
const fileName = (text: string) => text.replace(/[\p{Cc}\p{Cf}\\/:*?"<>|]/gu, '-').slice(0, 100);
