// `cuenta`: the company itself, the first record of every file. Its id belongs to the service and is never imported.
import { z } from 'zod';
import { keepPicture, readLogo } from '../documents/company-logo.ts';
import { isColor } from '../documents/pdf/color.ts';
import { PICTURE_TYPES } from '../documents/pdf/logo.ts';
import { isSeries, raiseCounter, SERIES_COLUMNS, type SeriesChange } from '../documents/series.ts';
import { VAT_SCHEMES } from '../entities/values.ts';
import type { Db } from '../platform/database.ts';
import { isEmail, isIban, withoutSpaces } from '../platform/text.ts';
import { blankableText, optional, refText, requiredText, trimmed, wholeNumber } from './fields.ts';
import { isTimeZone } from './local-times.ts';
import { rows } from './statements.ts';

/** The versions of the format that this service reads: what 2 adds may be left out. It writes the newest. */
const FORMATS = [1, 2] as const;
const NEWEST = 2;

export const ACCOUNT = 'cuenta';

/** What the company says of itself on its documents, by column. What a file leaves out stays as it is; blank or null is nothing. DOC-01 */
const FISCAL_COLUMNS = {
  razon_social: 'legal_name',
  direccion: 'address',
  cp: 'postal_code',
  poblacion: 'city',
  provincia: 'province',
  pais: 'country',
  email: 'email',
  iban: 'iban',
  color: 'color',
  regimen_iva: 'vat_scheme',
} as const;

const fiscal = z.object({
  razon_social: trimmed().nullish(),
  direccion: trimmed().nullish(),
  cp: trimmed().nullish(),
  poblacion: trimmed().nullish(),
  provincia: trimmed().nullish(),
  pais: trimmed().nullish(),
  email: trimmed()
    .refine((text) => text === '' || isEmail(text), 'se esperaba una dirección de correo')
    .nullish(),
  iban: trimmed()
    .transform(withoutSpaces)
    .refine((text) => text === '' || isIban(text), 'se esperaba un IBAN, con sus dígitos de control')
    .nullish(),
  color: trimmed()
    .toLowerCase()
    .refine((text) => text === '' || isColor(text), 'se esperaba un color #rrggbb')
    .nullish(),
  regimen_iva: z
    .enum(['general', ...VAT_SCHEMES])
    .nullish()
    .transform((scheme) => (scheme === 'general' ? null : scheme)),
}) satisfies z.ZodType<Partial<Record<keyof typeof FISCAL_COLUMNS, string | null>>>;

const oneSeries = trimmed()
  .refine(
    (text) => text === '' || isSeries(text),
    'se esperaban de 1 a 10 mayúsculas, cifras, / o -, sin cifra al final',
  )
  .nullish();
const series = z.strictObject({
  albaran: oneSeries,
  factura: oneSeries,
  rectificativa: oneSeries,
  presupuesto: oneSeries,
});

const logo = z
  .strictObject({ tipo_mime: z.enum(PICTURE_TYPES), contenido: z.string() })
  .check(({ value: { tipo_mime, contenido }, issues }) => {
    const wrong = (field: string, message: string): void => {
      issues.push({ code: 'custom', path: [field], message, input: contenido });
    };
    const bytes = Buffer.from(contenido, 'base64');
    if (bytes.toString('base64') !== contenido) return wrong('contenido', 'se esperaba base64 con su relleno');
    const picture = readLogo(bytes);
    if ('es' in picture) return wrong('contenido', picture.es);
    if (picture.type !== tipo_mime) return wrong('tipo_mime', `la imagen es ${picture.type}`);
  });

/** What a record says of it, by column. */
const fiscalColumns = (record: z.output<typeof fiscal>) =>
  Object.fromEntries(
    Object.entries(fiscal.parse(record)).flatMap(([name, value]) => {
      const column = Object.entries(FISCAL_COLUMNS).find(([wire]) => wire === name)?.[1];
      return column === undefined || value === undefined ? [] : [[column, value || null]];
    }),
  );

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
  ...fiscal.shape,
  logo: logo.nullish(),
  series: series.nullish(),
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
  legal_name: string | null;
  address: string | null;
  postal_code: string | null;
  city: string | null;
  province: string | null;
  country: string | null;
  email: string | null;
  iban: string | null;
  color: string | null;
  vat_scheme: string | null;
  logo: string | null;
  delivery_note_series: string | null;
  invoice_series: string | null;
  rectification_series: string | null;
  estimate_series: string | null;
}

const STATED = [...Object.values(FISCAL_COLUMNS), ...SERIES_COLUMNS, 'logo'];
/** `$9` is an object of the columns that a file states. */
const stated = STATED.map(
  (column) => `case when $9::jsonb ? '${column}' then $9::jsonb ->> '${column}' else ${column} end`,
);
const COLUMNS = ['ref, name, tax_id, time_zone, multi_format_stock, automatic_issuing_since', ...STATED].join(', ');

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
  { columns, changed: renumbered }: SeriesChange,
  today: Temporal.PlainDate,
): Promise<boolean> {
  const picture = record.logo && {
    bytes: Buffer.from(record.logo.contenido, 'base64'),
    type: record.logo.tipo_mime,
  };
  const named = picture ? await keepPicture(db, accountId, picture) : picture;
  const values = [
    record.ref,
    record.nombre,
    record.cif,
    record.zona_horaria,
    record.stock_multiformato,
    record.emision_automatica,
    today.toString(),
    JSON.stringify({ ...fiscalColumns(record), ...columns, logo: named }),
  ];
  const since = `case when $7::boolean then coalesce(automatic_issuing_since, $8::date)
    when $7 is null then automatic_issuing_since end`;
  const changed = await rows(
    db,
    `update accounts set (${COLUMNS}) = ($2, $3, $4, $5, $6, ${since}, ${stated.join(', ')}), version = version + 1, updated_at = now()
     where id = $1 and (${COLUMNS}) is distinct from ($2, $3, $4, $5, $6::boolean, ${since}, ${stated.join(', ')}) returning id`,
    [accountId, ...values],
  );
  for (const document of renumbered) await raiseCounter(db, accountId, document);
  return changed.length > 0;
}

/** The company as the file's first record, with its logo. */
export const accountRecord = (row: AccountRow, picture: { mime: string; bytes: Buffer } | undefined) => ({
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
  ...Object.fromEntries(Object.entries(FISCAL_COLUMNS).map(([name, column]) => [name, row[column]])),
  logo: picture ? { tipo_mime: picture.mime, contenido: picture.bytes.toString('base64') } : null,
  series: {
    albaran: row.delivery_note_series,
    factura: row.invoice_series,
    rectificativa: row.rectification_series,
    presupuesto: row.estimate_series,
  },
});
