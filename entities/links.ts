// Links that show a document to whoever has them.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, indexOn, instant, isolated, record } from './columns.ts';

/** A link to a document. Only the SHA-256 of its token is stored, so that its address can't be read here. */
export const DocumentLink = defineEntity({
  name: 'DocumentLink',
  tableName: 'document_links',
  ...isolated,
  properties: (({ ref, ...columns }) => ({
    ...columns,
    recordTable: p.text(),
    recordId: bigint(),
    hash: p.blob(),
    expiresAt: instant(),
    revokedAt: instant().nullable(),
    opens: p.integer().default(0),
    firstOpenedAt: instant().nullable(),
    lastOpenedAt: instant().nullable(),
  }))(record('document_links')),
  indexes: [
    {
      name: 'document_links_hash',
      expression: 'create unique index document_links_hash on document_links (account_id, hash)',
    },
    indexOn('document_links', 'record', 'record_table, record_id, id'),
  ],
});
