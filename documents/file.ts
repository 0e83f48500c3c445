// Issued documents as files. They are made from what was sealed, so they stay the same whatever happens later. DOC-03, DOC-04
import { sql } from 'kysely';
import type { RegisterMode, SealedTable } from '../entities/values.ts';
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

/** Files of documents, and registers of invoices by their own number. */
export type DocumentFile = Exclude<LinkedFile, 'attachment' | 'logo' | 'registersNdjson' | 'registersXml'>;

interface Kind {
  table: SealedTable;
  ending: string;
  type: string;
  make(found: Found, threads: Threads, accountId: number): Promise<Buffer>;
}

/** What a document says, the logo that it names, and the code for the tax agency on an invoice that was registered. */
interface Found {
  content: DocumentContent;
  logo: PdfOptions['logo'];
  register: { qr: string; mode: RegisterMode } | undefined;
}

const pdf = (table: SealedTable): Kind => ({
  table,
  ending: 'pdf',
  type: 'application/pdf',
  make: ({ content, logo, register }, threads, accountId) => {
    const verifactu = register && { qr: register.qr, legend: true };
    const { color } = content.emisor;
    const options = { test: register?.mode === 'pruebas', logo, color, verifactu };
    return drawPdf(threads, accountId, { content, options });
  },
});

const eInvoice = (format: 'facturae' | 'ubl'): Kind => ({
  table: 'invoices',
  ending: `${format}.xml`,
  type: 'application/xml',
  make: ({ content }, threads, accountId) => writeEInvoice(threads, accountId, { format, content }),
});

const KINDS: Record<Exclude<DocumentFile, 'invoiceRegister'>, Kind> = {
  deliveryNotePdf: pdf('delivery_notes'),
  invoicePdf: pdf('invoices'),
  estimatePdf: pdf('estimates'),
  invoiceFacturae: eInvoice('facturae'),
  invoiceUbl: eInvoice('ubl'),
};

/** The PDF of each kind of document. */
export const PDF_OF = {
  delivery_notes: 'deliveryNotePdf',
  estimates: 'estimatePdf',
  invoices: 'invoicePdf',
} as const satisfies Record<SealedTable, DocumentFile>;

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
  const options = credential ? { credential } : {};
  if (file === 'invoiceRegister')
    return database.transaction(accountId, options, (db) => registerFile(db, accountId, id));
  const { table, ending, type, make } = KINDS[file];
  const found = await database.transaction(accountId, options, async (db) => {
    const [text, register] = await Promise.all([
      contentText(db, accountId, table, id),
      table === 'invoices' ? registerOf(db, accountId, id) : undefined,
    ]);
    if (text === undefined) return undefined;
    const content: DocumentContent = JSON.parse(text);
    const { logo } = content.emisor;
    return { content, register, logo: logo && ending === 'pdf' ? await pictureOf(db, accountId, logo) : undefined };
  });
  if (!found) return undefined;
  const { content } = found;
  const bytes = await make(found, threads, accountId);
  return { name: `${fileName(nameOf(content))}.${ending}`, type, bytes };
}

/** What a document said when it was last sealed, a `DocumentContent` as JSON; of one that never was, what it says now. */
export async function contentText(
  db: Db,
  accountId: number,
  table: SealedTable,
  id: number,
): Promise<string | undefined> {
  const sealed = sql<{
    content: string | null;
  }>`select ${lastSaying(accountId, table, sql`${id}::bigint`, 'content')} as content`;
  const [found] = (await sealed.execute(db)).rows;
  if (found?.content) return found.content;
  const [now] = (await contentOf(table, accountId, sql`d.id = ${id}`).execute(db)).rows;
  return now?.content;
}

/** The first register of an invoice: later ones repeat its code. DOC-02 */
export async function registerOf(db: Db, accountId: number, id: number): Promise<Found['register']> {
  const { rows } = await sql<{ qr: string; mode: RegisterMode }>`
    select r.qr, r.mode from invoice_registers r
    where r.account_id = ${accountId} and r.invoice_id = ${id} and r.type = 'alta' order by r.id limit 1`.execute(db);
  return rows[0];
}

async function registerFile(db: Db, accountId: number, id: number): Promise<OfferedFile | undefined> {
  const { rows } = await sql<{ xml: string; number: string; type: string; n: number }>`
    select r.xml, r.number, r.type, r.n from invoice_registers r where r.account_id = ${accountId} and r.id = ${id}`.execute(
    db,
  );
  const [found] = rows;
  if (!found) return undefined;
  const name = `${fileName(`${found.number} ${found.type} ${found.n}`)}.xml`;
  return { name, type: 'application/xml', bytes: Buffer.from(found.xml) };
}

/** Without what some system takes for something else, and not too long. */
const fileName = (text: string) => text.replace(/[\p{Cc}\p{Cf}\\/:*?"<>|]/gu, '-').slice(0, 100);
