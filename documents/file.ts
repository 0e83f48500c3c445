// Issued documents as files. They are made from what was sealed, so they stay the same whatever happens later. DOC-03
import { sql } from 'kysely';
import type { SealedTable } from '../entities/seals.ts';
import type { OfferedFile } from '../platform/context.ts';
import type { CredentialCheck, Database, Db } from '../platform/database.ts';
import type { LinkedFile } from '../platform/signed-links.ts';
import type { Threads } from '../platform/threads.ts';
import type { DocumentContent } from './content.ts';
import { drawPdf } from './pdf/draw.ts';
import { nameOf } from './pdf/words.ts';
import { contentOf, lastSaying } from './sealed-content.ts';

export type DocumentFile = Exclude<LinkedFile, 'attachment'>;

const TABLES: Record<DocumentFile, SealedTable> = {
  deliveryNotePdf: 'delivery_notes',
  invoicePdf: 'invoices',
  estimatePdf: 'estimates',
};

interface Maker {
  database: Database;
  threads: Threads;
}

/** Makes the file of a document; undefined when there is no such document. No connection is held while it is made. */
export async function documentFile(
  { database, threads }: Maker,
  accountId: number,
  { file, id }: { file: DocumentFile; id: number },
  credential?: CredentialCheck,
): Promise<OfferedFile | undefined> {
  const text = await database.transaction(accountId, credential ? { credential } : {}, (db) =>
    contentText(db, accountId, TABLES[file], id),
  );
  if (text === undefined) return undefined;
  const content: DocumentContent = JSON.parse(text);
  const bytes = await drawPdf(threads, accountId, { content, options: { test: false } });
  return { name: `${fileName(nameOf(content))}.pdf`, type: 'application/pdf', bytes };
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
