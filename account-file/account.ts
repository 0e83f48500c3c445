// `cuenta`: the company itself, the first record of every file. Its id belongs to the service and is never imported.
import { z } from 'zod';
import type { Db } from '../platform/database.ts';
import { blankableText, optional, refText, requiredText, wholeNumber } from './fields.ts';
import { isTimeZone } from './local-times.ts';
import { rows } from './statements.ts';

/** The versions of the format that this service reads: what 2 adds may be left out. It writes the newest. */
const FORMATS = [1, 2] as const;
const NEWEST = 2;

export const ACCOUNT = 'cuenta';

export const accountSchema = z.strictObject({
  coleccion: z.literal(ACCOUNT),
  ref: refText().refine((ref) => !ref.startsWith('@'), 'no puede empezar por @'),
  id: z.int().min(1).nullish(),
  formato: z.literal(FORMATS).nullish(),
  nombre: requiredText(),
  cif: blankableText(),
  zona_horaria: z
    .string()
    .refine(isTimeZone, 'se esperaba el nombre IANA de una zona horaria, como Europe/Madrid')
    .nullish()
    .transform((zone) => zone ?? 'Europe/Madrid'),
  stock_multiformato: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
  /** For information only: an import never changes the quota. */
  cuota_por_minuto: optional(wholeNumber(1)),
  emision_automatica: optional(z.boolean()),
});
/** What records that come without the company still say of their file. */
export const formatSchema = z.object({ formato: accountSchema.shape.formato });
export type AccountRecord = z.output<typeof accountSchema>;

interface AccountRow {
  ref: string | null;
  name: string;
  tax_id: string | null;
  time_zone: string;
  multi_format_stock: boolean;
  quota_per_minute: number | null;
  automatic_issuing_since: string | null;
}

const COLUMNS = 'ref, name, tax_id, time_zone, multi_format_stock, automatic_issuing_since';

/** Reads the company. `lock` makes other imports of the company wait until this transaction ends. */
export async function readAccount(db: Db, accountId: number, lock = false): Promise<AccountRow> {
  const [row] = await rows<AccountRow>(
    db,
    `select ${COLUMNS}, quota_per_minute from accounts where id = $1${lock ? ' for no key update' : ''}`,
    [accountId],
  );
  if (!row) throw new Error(`There is no company ${accountId}`);
  return row;
}

/**
 * Returns whether anything changed. Automatic issuing is on from `today` (the company's date) unless it was on already. A record
 * without `emision_automatica` does not change it. ISS-01
 */
export async function writeAccount(
  db: Db,
  accountId: number,
  record: AccountRecord,
  today: Temporal.PlainDate,
): Promise<boolean> {
  const values = [
    record.ref,
    record.nombre,
    record.cif,
    record.zona_horaria,
    record.stock_multiformato,
    record.emision_automatica,
    today.toString(),
  ];
  const since = `case when $7::boolean then coalesce(automatic_issuing_since, $8::date)
    when $7 is null then automatic_issuing_since end`;
  const changed = await rows(
    db,
    `update accounts set (${COLUMNS}) = ($2, $3, $4, $5, $6, ${since}), version = version + 1, updated_at = now()
     where id = $1 and (${COLUMNS}) is distinct from ($2, $3, $4, $5, $6::boolean, ${since}) returning id`,
    [accountId, ...values],
  );
  return changed.length > 0;
}

/** The company as the file's first record. */
export const accountRecord = (row: AccountRow) => ({
  coleccion: ACCOUNT,
  ref: row.ref ?? ACCOUNT,
  id: null,
  formato: NEWEST,
  nombre: row.name,
  cif: row.tax_id,
  zona_horaria: row.time_zone,
  stock_multiformato: row.multi_format_stock,
  cuota_por_minuto: row.quota_per_minute,
  emision_automatica: row.automatic_issuing_since !== null,
});
