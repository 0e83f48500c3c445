// What clients and suppliers are written with, and who has which tax id.
import { type RawBuilder, sql } from 'kysely';
import type { OperationContext } from '../../platform/context.ts';
import type { Db } from '../../platform/database.ts';
import { derivedOf } from '../../platform/derived.ts';
import { badField, notFound } from '../../platform/errors.ts';
import { KINDS } from '../../platform/ids.ts';
import { taxKey } from '../../platform/text.ts';
import { changed } from './changes.ts';
import { email, text } from './schemas.ts';

type PartyKind = 'client' | 'supplier';

/** Fields that both have. */
export const partyFields = {
  nombre_fiscal: text(300).min(1),
  nombre_comercial: text(300).optional(),
  cif: text(50).optional(),
  email: email().optional(),
  telefono: text(50).optional(),
  movil: text(50).optional(),
};

interface PartyFields {
  nombre_fiscal?: string | undefined;
  nombre_comercial?: string | undefined;
  cif?: string | undefined;
  email?: string | undefined;
  telefono?: string | undefined;
  movil?: string | undefined;
}

/** Their columns; what was not sent is undefined. */
export const partyColumns = (datos: PartyFields) => ({
  legal_name: datos.nombre_fiscal,
  trade_name: datos.nombre_comercial,
  tax_id: datos.cif,
  email: datos.email,
  phone: datos.telefono,
  mobile: datos.movil,
});

/** `taxKey` of the column `tax_id`. */
const KEY_OF_TAX_ID = sql`
  regexp_replace(regexp_replace(upper(tax_id collate "und-x-icu"), '[\\s.\\ufeff-]', '', 'g'), '^ES', '')`;
const KEYS: Record<PartyKind, RawBuilder<unknown>> = { client: sql`tax_key`, supplier: KEY_OF_TAX_ID };

/** Until the end of the transaction no other call looks for who has this normalised tax id. */
export const lockTaxKey = (db: Db, accountId: number, kind: PartyKind, key: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`${kind} ${key}`}, ${accountId}))`.execute(db);

/** Who has this tax id, the oldest of several, under its lock; nobody has an empty one. DLV-01 */
export async function holderOf(db: Db, accountId: number, kind: PartyKind, taxId: string | undefined) {
  const key = taxKey(taxId);
  if (key === null) return undefined;
  const [, { rows }] = await Promise.all([
    lockTaxKey(db, accountId, kind, key),
    sql<{ id: number }>`
      select id from ${sql.table(KINDS[kind].table)}
      where account_id = ${accountId} and ${KEYS[kind]} = ${key} order by id limit 1`.execute(db),
  ]);
  return rows[0]?.id;
}

/** The one that has the tax id, or the id of one to be written. Says in the headers whether it is there. W-03 */
export async function newParty(
  { db, accountId, newId, header, journal }: OperationContext,
  kind: PartyKind,
  taxId: string | undefined,
): Promise<{ id: number; existing: boolean }> {
  const [holder, next] = await Promise.all([holderOf(db, accountId, kind, taxId), newId(kind)]);
  const existing = holder !== undefined;
  if (existing) header('X-Existing', 'true');
  const id = holder ?? next;
  if (!existing) journal('create', kind, id);
  return { id, existing };
}

const CALLED: Record<PartyKind, string> = { client: 'cliente', supplier: 'proveedor' };

/** The derived columns of a record once `datos` is written; it stays locked. 400 for the tax id of another. W-01 */
export async function derivedAfter(
  { db, accountId }: OperationContext,
  kind: PartyKind,
  id: number,
  datos: PartyFields,
): Promise<{ search: string; tax_key?: string | null }> {
  const [holder, { rows }] = await Promise.all([
    holderOf(db, accountId, kind, datos.cif),
    sql<{ legal_name: string; trade_name: string; tax_id: string; email: string }>`
      select legal_name, trade_name, tax_id, email from ${sql.table(KINDS[kind].table)}
      where account_id = ${accountId} and id = ${id} for update`.execute(db),
  ]);
  const [before] = rows;
  if (!before) throw notFound(`${CALLED[kind]}Id`);
  // Imported ones may share a tax id: each keeps it.
  if (holder !== undefined && holder !== id && taxKey(datos.cif) !== taxKey(before.tax_id)) {
    throw badField('datos.cif', `lo tiene otro ${CALLED[kind]}`);
  }
  const after = changed(before, partyColumns(datos));
  return kind === 'client' ? derivedOf('clients', after) : derivedOf('suppliers', after);
}
