// Texts of columns that have no `search` beside them.
import { type Expression, sql } from 'kysely';

/** A text as it is compared: without case or accents, and with single spaces. The same as `searchable` in platform/text.ts. */
export const folded = (text: Expression<unknown>) => sql<string>`
  trim(regexp_replace(regexp_replace(lower(normalize(${text}, nfd) collate "und-x-icu"), '[\\u0300-\\u036f]', '', 'g'), '\\s+', ' ', 'g'))`;
