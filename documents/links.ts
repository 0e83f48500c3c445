// Links that show one document to whoever has them, without signing in, until they end or are revoked. What they show is what was sealed,
// as in its PDF. A link's token begins with its company's number, so that it is looked up only inside that company; the rest is chance.
import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { SealedTable } from '../entities/values.ts';
import type { Database, Db } from '../platform/database.ts';
import type { DocumentContent } from './content.ts';
import { contentText, registerOf } from './file.ts';
import { isSealedTable } from './sealed-content.ts';

export const newLinkToken = (accountId: number) => `${accountId}_${randomBytes(32).toString('base64url')}`;

/** All that is stored of a token. */
export const hashOfLink = (token: string) => createHash('sha256').update(token).digest();

/** SQL for whether a link has neither ended nor was revoked. */
export const isLive = (now: Temporal.Instant) =>
  sql<boolean>`(revoked_at is null and expires_at > ${now.toString()}::timestamptz)`;

/** A live link, and the document that it shows. */
export interface FoundLink {
  accountId: number;
  id: number;
  table: SealedTable;
  documentId: number;
}

/** The live link of a token; undefined where there is none, whatever the reason. */
export async function findLink(
  database: Database,
  token: string,
  now: Temporal.Instant,
): Promise<FoundLink | undefined> {
  const [, account] = /^([1-9]\d{0,14})_[\w-]{43}$/.exec(token) ?? [];
  if (account === undefined) return undefined;
  const accountId = Number(account);
  const { rows } = await database.transaction(accountId, {}, (db) =>
    sql<{ id: number; record_table: string; record_id: number }>`
      select id, record_table, record_id from document_links
      where account_id = ${accountId} and hash = ${hashOfLink(token)} and ${isLive(now)}`.execute(db),
  );
  const [{ id, record_table: table = '', record_id: documentId = 0 } = { id: 0 }] = rows;
  return isSealedTable(table) ? { accountId, id, table, documentId } : undefined;
}

/** What a link shows. */
export interface LinkedDocument {
  content: DocumentContent;
  /** The code for the tax agency, of an invoice that was registered. DOC-02 */
  register: Awaited<ReturnType<typeof registerOf>>;
  /** The company's local day on which the document was annulled. */
  annulledOn: string | null;
  /** The invoices that rectify it. */
  rectifiedBy: { numero: string | null; fecha: string }[];
}

/** The document of a link, and what happened to it since it was issued. */
export function linkedDocument(
  database: Database,
  { accountId, table, documentId }: FoundLink,
): Promise<LinkedDocument | undefined> {
  return database.transaction(accountId, {}, async (db) => {
    const [text, register, { rows: annulled }, { rows: rectifiedBy }] = await Promise.all([
      contentText(db, accountId, table, documentId),
      table === 'invoices' ? registerOf(db, accountId, documentId) : undefined,
      table === 'estimates' ? { rows: [] } : annulments(db, accountId, table, documentId),
      table === 'invoices' ? rectifications(db, accountId, documentId) : { rows: [] },
    ]);
    if (text === undefined) return undefined;
    const content: DocumentContent = JSON.parse(text);
    return { content, register, annulledOn: annulled[0]?.day ?? null, rectifiedBy };
  });
}

const annulments = (db: Db, accountId: number, table: 'delivery_notes' | 'invoices', id: number) =>
  sql<{ day: string | null }>`
    select (d.annulled_at at time zone a.time_zone)::date as day
    from ${sql.table(table)} d join accounts a on a.id = ${accountId}
    where d.account_id = ${accountId} and d.id = ${id}`.execute(db);

const rectifications = (db: Db, accountId: number, id: number) =>
  sql<{ numero: string | null; fecha: string }>`
    select number as numero, date as fecha from invoices
    where account_id = ${accountId} and rectified_invoice_id = ${id} and annulled_at is null order by date, id`.execute(
    db,
  );

/**
 * Counts the opens of links. Whoever opens one doesn't wait for that: of a link one statement at a time is under way, and those that come
 * meanwhile are counted by the next. A process that dies loses what it has not counted yet.
 */
export class LinkOpens {
  readonly #database: Database;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Map<string, { opens: number; first: Temporal.Instant; last: Temporal.Instant }>();
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(database: Database, onError: (error: unknown) => void) {
    this.#database = database;
    this.#onError = onError;
  }

  opened(link: FoundLink, now: Temporal.Instant): void {
    const key = `${link.accountId} ${link.id}`;
    const { opens, first } = this.#waiting.get(key) ?? { opens: 0, first: now };
    this.#waiting.set(key, { opens: opens + 1, first, last: now });
    if (!this.#underWay.has(key)) this.#underWay.set(key, this.#write(key, link));
  }

  /** Waits until all are counted. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #write(key: string, { accountId, id }: FoundLink): Promise<void> {
    try {
      for (let next = this.#waiting.get(key); next; next = this.#waiting.get(key)) {
        this.#waiting.delete(key);
        const [first, last] = [next.first.toString(), next.last.toString()];
        const { opens } = next;
        await this.#database.transaction(accountId, { write: true, durable: false }, (db) =>
          sql`update document_links set opens = opens + ${opens},
              first_opened_at = least(first_opened_at, ${first}::timestamptz),
              last_opened_at = greatest(last_opened_at, ${last}::timestamptz)
            where account_id = ${accountId} and id = ${id}`.execute(db),
        );
      }
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#underWay.delete(key);
    }
  }
}
