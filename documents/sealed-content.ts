// What a sale document says, as canonical JSON that SQL writes (`DocumentContent`), and its seals. DOC-01
import { type RawBuilder, sql } from 'kysely';
import {
  CONTENT_ACTIONS,
  PARTY_COLUMNS,
  SEALED_TABLES,
  type SealAction,
  type SealedTable,
} from '../entities/values.ts';
import {
  canonicalText,
  JSON_NULL,
  type JsonSql,
  jsonCents,
  jsonDecimal,
  jsonFilledOf,
  jsonIf,
  jsonListed,
  jsonListOf,
  jsonObjectOf,
  jsonTextOf,
} from '../platform/canonical-json.ts';
import type { Db } from '../platform/database.ts';
import type { ValueSql } from '../platform/fixed-query.ts';
import { type Chain, type Sealing, sealAppender } from '../platform/seals.ts';
import type { ContentIssuer } from './content.ts';
import { amountsOfRates, BY_RATE, type TaxedLines, vatRates, withheld } from './vat-by-rate.ts';

export const isSealedTable = (table: string): table is SealedTable => SEALED_TABLES.some((one) => one === table);

const OF: Record<SealedTable, { type: string; lines: TaxedLines; parent: string }> = {
  delivery_notes: { type: 'albaran', lines: 'delivery_note_lines', parent: 'delivery_note_id' },
  estimates: { type: 'presupuesto', lines: 'estimate_lines', parent: 'estimate_id' },
  invoices: { type: 'factura', lines: 'invoice_lines', parent: 'invoice_id' },
};

const WIRE_OF_PARTY: Record<(typeof PARTY_COLUMNS)[number], string> = {
  legal_name: 'nombre_fiscal',
  tax_id: 'cif',
  email: 'email',
  address: 'direccion',
  postal_code: 'cp',
  city: 'poblacion',
  province: 'provincia',
  country: 'pais',
};

const party = (value: (column: string) => RawBuilder<unknown>, more: Record<string, JsonSql> = {}) =>
  // Only what is not of every party can be null.
  jsonFilledOf({
    ...Object.fromEntries(
      PARTY_COLUMNS.map((column) => [WIRE_OF_PARTY[column], jsonTextOf(sql`coalesce(${value(column)}, '')`)]),
    ),
    ...more,
  });

const issuerOf = (vatScheme: RawBuilder<unknown>) =>
  party(
    (column) => (column === 'legal_name' ? sql`coalesce(nullif(a.legal_name, ''), a.name)` : sql.ref(`a.${column}`)),
    {
      iban: jsonTextOf(sql`coalesce(a.iban, '')`),
      logo: jsonTextOf(sql`a.logo`),
      color: jsonTextOf(sql`a.color`),
      regimen_iva: jsonTextOf(vatScheme),
    },
  );
const issuer = issuerOf(sql`a.vat_scheme`);
/** Of an invoice that was sealed before, or that rectifies one that was: the scheme of then. */
const invoiceIssuer = issuerOf(sql`case when s.issuer is null then a.vat_scheme else s.issuer ->> 'regimen_iva' end`);

/** What the company says of itself now. */
export async function issuerNow(db: Db, accountId: number): Promise<ContentIssuer> {
  const { rows } = await sql<{ issuer: ContentIssuer }>`
    select ${issuer} as issuer from accounts a where a.id = ${accountId}`.execute(db);
  const [row] = rows;
  if (!row) throw new Error(`There is no company ${accountId}`);
  return row.issuer;
}

const client = party((column) => sql`d.party ->> ${sql.lit(column)}`);

const line = jsonObjectOf({
  descripcion: jsonTextOf(sql`l.description`),
  descripcion_ampliada: jsonTextOf(sql`l.extended_description`),
  cantidad: jsonDecimal(sql`l.quantity`),
  importe_unitario: jsonDecimal(sql`l.unit_price`),
  descuento: jsonDecimal(sql`l.discount`),
  iva: jsonDecimal(sql`l.vat`),
  recargo: jsonDecimal(sql`l.surcharge`),
  exencion: jsonTextOf(sql`l.exemption`),
  importe: jsonCents(sql`l.amount`),
  fecha_inicio: jsonTextOf(sql`l.start_date`),
  fecha_fin: jsonTextOf(sql`l.end_date`),
});

const rate = jsonObjectOf({
  iva: jsonDecimal(sql`rate.vat`),
  recargo: jsonDecimal(sql`rate.surcharge`),
  exencion: jsonTextOf(sql`rate.exemption`),
  base: jsonCents(sql`rate.base`),
  cuota: jsonCents(sql`rate.fee`),
  cuota_recargo: jsonCents(sql`rate.surcharge_fee`),
});

/** SQL for a row `content` of each document `d` of the table that `documents` says, canonical JSON of a `DocumentContent`. */
export function contentOf(table: SealedTable, accountId: ValueSql<number>, documents: RawBuilder<unknown>) {
  const { type, lines, parent } = OF[table];
  const isInvoice = table === 'invoices';
  const which = sql`l.account_id = ${accountId} and l.${sql.ref(parent)} = d.id`;
  const content = jsonObjectOf({
    tipo: jsonTextOf(sql`${sql.lit(type)}`),
    numero: jsonTextOf(sql`d.number`),
    fecha: jsonTextOf(sql`d.date`),
    concepto: jsonTextOf(sql`d.concept`),
    observaciones: jsonTextOf(sql`d.remarks`),
    promo_code: jsonTextOf(sql`d.promo_code`),
    emisor: isInvoice ? invoiceIssuer : issuer,
    cliente: client,
    lineas: jsonListOf(line, sql`from ${sql.table(lines)} l where ${which}`, sql`l.position, l.id`),
    desglose: sql`t.rates`,
    base: jsonCents(sql`t.base`),
    total: jsonCents(sql`t.total`),
    valido_hasta: table === 'estimates' ? jsonTextOf(sql`d.valid_until`) : JSON_NULL,
    tipo_factura: isInvoice ? jsonTextOf(INVOICE_TYPE) : JSON_NULL,
    retencion: isInvoice ? jsonDecimal(sql`d.withholding`) : JSON_NULL,
    a_pagar: isInvoice ? jsonCents(sql`t.total - ${withheld(sql`t.base`, sql`d.withholding`)}`) : JSON_NULL,
    vencimientos: isInvoice ? dueDates(accountId) : sql`'[]'::json`,
    rectifica: isInvoice
      ? jsonIf(
          sql`d.rectified_invoice_id is not null`,
          jsonObjectOf({
            numero: jsonTextOf(sql`o.number`),
            fecha: jsonTextOf(sql`o.date`),
            motivo: jsonTextOf(sql`coalesce(d.rectification_reason, '')`),
          }),
        )
      : JSON_NULL,
  });
  return sql<{ id: number; content: string }>`
    select d.account_id, d.id, ${canonicalText(content)} as content
    from ${sql.table(table)} d
    join accounts a on a.id = ${accountId}
    cross join lateral (
      select ${jsonListed(rate, BY_RATE)} as rates, ${amountsOfRates} from ${vatRates(lines, which)} rate) t
    ${
      isInvoice
        ? sql`left join invoices o on o.account_id = ${accountId} and o.id = d.rectified_invoice_id
          cross join lateral (
            select ${lastSaying(accountId, table, sql`coalesce(o.id, d.id)`, 'content')}::jsonb -> 'emisor' as issuer) s`
        : sql``
    }
    where d.account_id = ${accountId} and ${documents}`;
}

/** Whether the client of a document `d` is known by its tax id. */
const NAMED = sql`coalesce(d.party ->> 'tax_id', '') <> ''`;

/** What kind of invoice an invoice `d` is. */
export const INVOICE_TYPE = sql<string>`case when d.rectified_invoice_id is null then case when ${NAMED} then 'F1' else 'F2' end
  else coalesce(d.rectification_type, case when ${NAMED} then 'R1' else 'R5' end) end`;

const dueDates = (accountId: ValueSql<number>) =>
  jsonListOf(
    jsonObjectOf({ fecha: jsonTextOf(sql`v.date`), importe: jsonCents(sql`v.amount`) }),
    sql`from invoice_due_dates v where v.account_id = ${accountId} and v.invoice_id = d.id`,
    sql`v.position, v.id`,
  );

const isContent = ({ action }: Sealing) => CONTENT_ACTIONS.some((one) => one === action);

/** SQL for the last seal over what a document `id` says: a column of it. */
export const lastSaying = (
  accountId: ValueSql<number>,
  table: SealedTable,
  id: RawBuilder<unknown>,
  column: 'hash' | 'content',
) =>
  sql`(select s.${sql.ref(column)} from seals s where s.account_id = ${accountId} and s.record_table = ${sql.lit(table)} and s.record_id = ${id}
    and s.action in (${sql.join(CONTENT_ACTIONS.map(sql.lit))}) order by s.n desc limit 1)`;

/** SQL for the last of these actions on a document `id`; null where there is none. */
export const lastAction = (
  accountId: ValueSql<number>,
  table: SealedTable,
  id: RawBuilder<unknown>,
  actions: readonly SealAction[],
) =>
  sql`(select s.action from seals s where s.account_id = ${accountId} and s.record_table = ${sql.lit(table)} and s.record_id = ${id}
    and s.action in (${sql.join(actions.map(sql.lit))}) order by s.n desc limit 1)`;

/** SQL for what is known of an estimate `id`'s answer by its seals, as its column `state` has it. */
export const sealedAnswer = (accountId: ValueSql<number>, id: RawBuilder<unknown>) =>
  sql`case ${lastAction(accountId, 'estimates', id, ['accept', 'reject', 'reopen', 'convert'])}
    when 'accept' then 'accepted' when 'convert' then 'accepted' when 'reject' then 'rejected' else 'pending' end`;

const byTable = <Made>(make: (table: SealedTable) => Made): Readonly<Record<SealedTable, Made>> => ({
  delivery_notes: make('delivery_notes'),
  estimates: make('estimates'),
  invoices: make('invoices'),
});

/** Seals documents that were written just before, and what happened to them. Sent at once. */
export async function sealDocuments(db: Db, chain: Chain, sealings: readonly Sealing[]): Promise<void> {
  const sent: Promise<unknown>[] = [];
  for (const table of SEALED_TABLES) {
    const own = sealings.filter((sealing) => sealing.table === table);
    const contents = own.filter(isContent);
    const [first] = contents;
    if (first) {
      const { action } = first;
      sent.push(sealContents[table](db, chain, { action, ids: contents.map(({ id }) => id) }));
    }
    for (const { id, action, reason = null, related } of own.filter((sealing) => !isContent(sealing))) {
      const seal = related ? sealMade[table][related.table] : sealState[table];
      sent.push(seal(db, chain, { id, action, reason, related: related?.id ?? null }));
    }
  }
  await Promise.all(sent);
}

/** What documents say. */
const sealContents = byTable((table) =>
  sealAppender<{ ids: readonly number[]; action: SealAction }>(
    table,
    ({ accountId, ids, action }) => sql`
      select array_position(${ids}::bigint[], c.id) as place, c.id as record_id, ${action}::text as action,
        null::text as related_table, null::bigint as related_id, null::text as subject, c.content
      from (${contentOf(table, accountId, sql`d.id = any(${ids}::bigint[])`)}) c`,
  ),
);

/** What is to be known of something that happened to a document. */
const eventOf = (reason: RawBuilder<unknown>, related: RawBuilder<unknown>) =>
  canonicalText(jsonObjectOf({ motivo: jsonTextOf(reason), relacionado: jsonTextOf(related) }));

const sealingOfState = (table: SealedTable, made?: SealedTable) =>
  sealAppender<{ id: number; action: SealAction; reason: string | null; related: number | null }>(
    table,
    ({ accountId, id, action, reason, related }) => sql`
      select 1 as place, ${id}::bigint as record_id, ${action}::text as action, ${sql.lit(made ?? null)}::text as related_table,
        ${related}::bigint as related_id, ${lastSaying(accountId, table, sql`${id}::bigint`, 'hash')} as subject,
        ${eventOf(
          reason,
          made
            ? sql`(select r.number from ${sql.table(made)} r where r.account_id = ${accountId} and r.id = ${related}::bigint)`
            : sql`null`,
        )} as content`,
  );

/** What happened to a document, and that it made another. */
const sealState = byTable((table) => sealingOfState(table));
const sealMade = byTable((table) => byTable((made) => sealingOfState(table, made)));

/** Of these documents, those that were issued here and say something else now, or are registered and were annulled unregistered. W-02, DOC-02 */
export async function issuedOtherwise(
  db: Db,
  accountId: number,
  table: SealedTable,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const annulled =
    table === 'invoices'
      ? sql`exists (select from invoices i where i.account_id = ${accountId} and i.id = c.id
          and (i.annulled_at is not null) <> (${lastAction(accountId, table, sql`c.id`, ['annul'])} is not null)
          and exists (select from invoice_registers r where r.account_id = ${accountId} and r.invoice_id = c.id))`
      : sql`false`;
  const { rows } = await sql<{ id: number }>`
    select c.id from (${contentOf(table, accountId, sql`d.id = any(${ids}::bigint[])`)}) c
    where exists (select from seals s where s.account_id = ${accountId} and s.record_table = ${table} and s.record_id = c.id
        and s.action = 'issue')
      and (${annulled}
        or ${sayingOf(sql`c.content`)} is distinct from ${sayingOf(lastSaying(accountId, table, sql`c.id`, 'content'))})`.execute(
    db,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Documents a statement: a chain is followed link by link. */
const AT_ONCE = 200;

/**
 * Seals documents that an import wrote, where they are new to their chain or say something else now, and what the file says has happened
 * to them.
 */
export async function sealImported(
  db: Db,
  chain: Chain,
  written: readonly { table: string; id: number }[],
): Promise<void> {
  for (const table of SEALED_TABLES) {
    const ids = written
      .flatMap((record) => (record.table === table ? record.id : []))
      .toSorted((one, other) => one - other);
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const some = ids.slice(from, from + AT_ONCE);
      await Promise.all([
        sealImportedContents[table](db, chain, { ids: some }),
        sealImportedStates[table](db, chain, { ids: some }),
      ]);
    }
  }
}

/** What a document says but for who issues it: that is of the day on which it was sealed. */
export const sayingOf = (content: RawBuilder<unknown>) => sql`(${content}::jsonb - 'emisor')`;

const sealImportedContents = byTable((table) =>
  sealAppender<{ ids: readonly number[] }>(
    table,
    ({ accountId, ids }) => sql`
      select c.id as place, c.id as record_id, 'import' as action, null::text as related_table, null::bigint as related_id,
        null::text as subject, c.content
      from (${contentOf(table, accountId, sql`d.id = any(${ids}::bigint[])`)}) c
      where ${sayingOf(sql`c.content`)} is distinct from ${sayingOf(lastSaying(accountId, table, sql`c.id`, 'content'))}`,
  ),
);

const sealImportedStates = byTable((table) =>
  sealAppender<{ ids: readonly number[] }>(table, ({ accountId, ids }) => {
    const [action, reason, condition] =
      table === 'estimates'
        ? [
            sql`case d.state when 'accepted' then 'accept' when 'rejected' then 'reject' else 'reopen' end`,
            sql`null`,
            sql`d.state <> ${sealedAnswer(accountId, sql`d.id`)}`,
          ]
        : [
            sql`'annul'`,
            sql`d.annulment_reason`,
            sql`d.annulled_at is not null and ${lastAction(accountId, table, sql`d.id`, ['annul'])} is null`,
          ];
    return sql`
      select d.id as place, d.id as record_id, ${action}::text as action, null::text as related_table, null::bigint as related_id,
        ${lastSaying(accountId, table, sql`d.id`, 'hash')} as subject, ${eventOf(reason, sql`null`)} as content
      from ${sql.table(table)} d where d.account_id = ${accountId} and d.id = any(${ids}::bigint[]) and ${condition}`;
  }),
);

/**
 * Seals anew what documents say from which a person was removed, and empties their earlier seals, whose chain can be followed without.
 */
export async function sealAnonymised(
  db: Db,
  chain: Chain,
  changed: readonly { table: string; id: number }[],
): Promise<void> {
  for (const table of SEALED_TABLES) {
    const ids = changed.flatMap((record) => (record.table === table ? record.id : []));
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const some = ids.slice(from, from + AT_ONCE);
      await sealDocuments(
        db,
        chain,
        some.map((id) => ({ table, id, action: 'anonymise' as const })),
      );
      await sql`update seals s set content = null, version = version + 1
        where s.account_id = ${chain.accountId} and s.content is not null and (
          (s.record_table = ${table} and s.record_id = any(${some}::bigint[]) and s.n < (
            select max(l.n) from seals l
            where l.account_id = ${chain.accountId} and l.record_table = ${table} and l.record_id = s.record_id))
          or (s.related_table = ${table} and s.related_id = any(${some}::bigint[])))`.execute(db);
    }
  }
}
