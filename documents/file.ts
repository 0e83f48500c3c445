// Issued documents as files. They are made from what was sealed, so they stay the same whatever happens later. DOC-03
import { sql } from 'kysely';
import type { SealedTable } from '../entities/seals.ts';
import type { OfferedFile } from '../platform/context.ts';
import type { CredentialCheck, Database } from '../platform/database.ts';
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
  const table = TABLES[file];
  const read = sql<{ content: string }>`
    select coalesce(${lastSaying(accountId, table, sql`c.id`, 'content')}, c.content) as content
    from (${contentOf(table, accountId, sql`d.id = ${id}`)}) c`;
  const { rows } = await database.transaction(accountId, credential ? { credential } : {}, (db) => read.execute(db));
  const [row] = rows;
  if (!row) return undefined;
  const content: DocumentContent = JSON.parse(row.content);
  const bytes = await drawPdf(threads, accountId, { content, options: { test: false } });
  return { name: `${fileName(nameOf(content))}.pdf`, type: 'application/pdf', bytes };
}

/** Without what some system takes for something else, and not too long. */
const fileName = (text: string) => text.replace(/[\p{Cc}\p{Cf}\\/:*?"<>|]/gu, '-').slice(0, 100);
