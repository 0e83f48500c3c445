// LINE: the fields that the lines of all documents share.
import { sql } from 'kysely';
import { type TaxedLines, vatByRate, withheld } from '../../documents/vat-by-rate.ts';
import { EXEMPTIONS } from '../../entities/values.ts';
import { beyondLimits, LINE_TOO_LARGE, MAX_SUM, SUM_TOO_LARGE } from '../../platform/amounts.ts';
import { inOrder, millionths } from '../checks.ts';
import { type Children, children, type InnerRecord } from '../collection.ts';
import {
  date,
  decimal,
  decimalOr,
  type Field,
  type Fields,
  freeText,
  keptInstant,
  keptText,
  optionalDate,
  optionalDecimal,
  optionalInnerReference,
  optionalReference,
  optionalWord,
  percentNumber,
  product,
  text,
  unless,
  type Wrong,
} from '../fields.ts';
import { products } from './catalogue.ts';
import { projects } from './projects.ts';

/** When, by whom and why a document was annulled. A file without it keeps what is stored: an import brings nothing back. W-02 */
export const annulment = {
  anulado_el: keptInstant('annulled_at'),
  anulado_por: keptText('annulled_by'),
  motivo_anulacion: keptText('annulment_reason'),
};

/** Reports an annulment without its reason. */
export function annulmentSaysWhy(
  { anulado_el, motivo_anulacion }: { anulado_el: string | null; motivo_anulacion: string | null },
  wrong: Wrong,
): void {
  if (anulado_el !== null && motivo_anulacion === null) wrong('motivo_anulacion', 'falta: se anuló por algo');
}

const ownProject = optionalReference(projects, 'project_id');
/**
 * The line's project. The column also holds the document's project, so that economics need only lines; the file has it where it is
 * another. PRJ-01, W-07
 */
const project: Field<string | null> = {
  ...ownProject,
  write(value, row, writing, name) {
    if (value === null) row.project_id = writing.parent?.project_id ?? null;
    else ownProject.write(value, row, writing, name);
  },
  read: (row, { parent }) => (row.project_id === parent?.project_id ? null : row.project_id),
};

const LINE = {
  descripcion: text('description'),
  cantidad: decimal('quantity'),
  importe_unitario: product('unit_price'),
  descuento: decimalOr('discount', 0),
  iva: decimalOr('vat', 21),
  articulo: optionalReference(products, 'product_id'),
  variacion: optionalInnerReference(products, 'variaciones', 'articulo', 'variation_id'),
  formato: optionalInnerReference(products, 'formatos', 'articulo', 'format_id'),
  cantidad_base_real: optionalDecimal('base_quantity'),
  descripcion_ampliada: freeText('extended_description'),
  startDate: optionalDate('start_date'),
  endDate: optionalDate('end_date'),
  proyecto: project,
};

/** What lines of what is sold say of their taxes beside `iva`. */
export const taxes = {
  recargo: unless(0, decimalOr('surcharge', 0, percentNumber())),
  exencion: unless(null, optionalWord('exemption', EXEMPTIONS)),
};

/** Lines of a document, with additional fields; amounts within W-08. */
export const lines = (table: string, parent: string, more: Fields): Children =>
  children<typeof LINE>(
    table,
    parent,
    { ...LINE, ...more },
    {
      check({ startDate, endDate, iva, recargo, exencion }, wrong) {
        for (const [name, percent] of Object.entries({ iva, recargo }))
          if (typeof exencion === 'string' && percent !== 0) wrong(name, 'tiene que ser 0 con exencion');
        if ((startDate === null) !== (endDate === null))
          wrong(startDate === null ? 'startDate' : 'endDate', 'falta: van las dos fechas o ninguna');
        else inOrder({ startDate, endDate }, 'startDate', 'endDate', wrong);
      },
      checkAll(list, name, wrong) {
        const beyond = beyondLimits(
          list.map(({ cantidad, importe_unitario, descuento, iva, recargo }) => ({
            quantity: cantidad,
            unitPrice: importe_unitario,
            discount: descuento,
            vat: iva,
            surcharge: Number(recargo ?? 0),
          })),
        );
        for (const index of beyond.lines) wrong(`${name}[${index}].importe_unitario`, LINE_TOO_LARGE);
        if (beyond.sum) wrong(name, SUM_TOO_LARGE);
      },
    },
  );

/**
 * Due dates of an invoice; `settled` is the field with the paid amount. Default: one, on the invoice's date, for what is to be paid: the
 * total with VAT, without what the client keeps back.
 */
export const dueDates = (
  table: string,
  parent: string,
  lineTable: TaxedLines,
  settled: 'cobrado' | 'pagado',
): Children =>
  children(
    table,
    parent,
    { fecha: date('date'), importe: product('amount', MAX_SUM), [settled]: decimalOr('paid', 0) },
    {
      optional: true,
      async whenLeftOut(db, accountId, invoices) {
        const ids = invoices.map(({ id }) => id);
        const withholdings = invoices.map(({ withholding = null }) => withholding);
        const which = sql`l.account_id = ${accountId} and l.${sql.ref(parent)} = i.id`;
        const { rows } = await sql<{ id: number; payable: string }>`
          select i.id, (a.total - ${withheld(sql`a.base`, sql`i.withholding`)})::text as payable
          from unnest(${ids}::bigint[], ${withholdings}::numeric[]) as i (id, withholding)
          cross join lateral ${vatByRate(lineTable, which)} a`.execute(db);
        const byInvoice = new Map(rows.map(({ id, payable }) => [id, payable]));
        return new Map(
          invoices.map(({ id, date, paid = 0 }) => [
            Number(id),
            [{ date, amount: byInvoice.get(Number(id)) ?? '0', paid }],
          ]),
        );
      },
    },
  );

/** Reports due dates whose paid amounts do not add up to the paid amount of the invoice. */
export function paidAddsUp(pagado: number, vencimientos: unknown, wrong: Wrong): void {
  // The schema of the collection has made it this list or null.
  const list = vencimientos as readonly InnerRecord[] | null;
  if (list === null) return;
  const paid = list.reduce((sum, due) => sum + millionths(Number(due.pagado)), 0n);
  if (paid !== millionths(pagado))
    wrong('vencimientos', 'lo pagado de los vencimientos no suma el pagado de la factura');
}
