// What a document amounts to, with VAT: decided here alone.
import { type RawBuilder, sql } from 'kysely';

type SaleLines = 'estimate_lines' | 'delivery_note_lines' | 'invoice_lines' | 'recurring_lines';
export type TaxedLines = SaleLines | 'purchase_invoice_lines';

/** A combination of VAT, equivalence surcharge and exemption: `base` without them, and the VAT and the surcharge on it. */
export interface Rate {
  vat: number;
  surcharge: number;
  exemption: string | null;
  base: number;
  fee: number;
  surcharge_fee: number;
}

/**
 * One row for each combination among the lines `l` that `which` says; VAT and surcharge are rounded once each. Purchases have VAT alone.
 * `parent`: the column of their document, where they are of several; each has its rates.
 */
export function vatRates(lines: TaxedLines, which: RawBuilder<unknown>, parent?: string) {
  const fee = (percent: RawBuilder<unknown>) => sql`round(sum(l.amount) * ${percent} / 100, 2)`;
  const [others, surchargeFee, more] =
    lines === 'purchase_invoice_lines'
      ? [sql`0 as surcharge, null as exemption`, sql`0`, sql``]
      : [sql`l.surcharge, l.exemption`, fee(sql`l.surcharge`), sql`, l.surcharge, l.exemption`];
  return sql<Rate>`(
    select l.vat, ${others}, sum(l.amount) as base, ${fee(sql`l.vat`)} as fee, ${surchargeFee} as surcharge_fee
    from ${sql.table(lines)} l where ${which} group by ${parent ? sql`l.${sql.ref(parent)}, ` : sql``} l.vat${more})`;
}

/** In which order rates are told: the highest VAT first. */
export const BY_RATE = sql`vat desc, surcharge desc, exemption nulls first`;

/** What rows `rate` add up to: `base` without VAT and `total` with it, 0 where there are none; `numeric`. */
export const amountsOfRates = sql`coalesce(sum(rate.base), 0) as base,
    coalesce(sum(rate.base + rate.fee + rate.surcharge_fee), 0) as total`;

/** One row of that for the lines `l` that `which` says. */
export const vatByRate = (lines: TaxedLines, which: RawBuilder<unknown>, parent?: string) =>
  sql<{ base: number; total: number }>`(select ${amountsOfRates} from ${vatRates(lines, which, parent)} rate)`;

/** What the client keeps back of a base, by the percentage that an invoice has or null. */
export const withheld = (base: RawBuilder<unknown>, withholding: RawBuilder<unknown>) =>
  sql<number>`coalesce(round(${base} * ${withholding} / 100, 2), 0)`;
