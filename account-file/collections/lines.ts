// LINE: the fields that the lines of all documents share.
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
  product,
  text,
  type Wrong,
} from '../fields.ts';
import { rows } from '../statements.ts';
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

/** Lines of a document, with additional fields; amounts within W-08. */
export const lines = (table: string, parent: string, more: Fields): Children =>
  children<typeof LINE>(
    table,
    parent,
    { ...LINE, ...more },
    {
      check({ startDate, endDate }, wrong) {
        if ((startDate === null) !== (endDate === null))
          wrong(startDate === null ? 'startDate' : 'endDate', 'falta: van las dos fechas o ninguna');
        else inOrder({ startDate, endDate }, 'startDate', 'endDate', wrong);
      },
      checkAll(list, name, wrong) {
        const beyond = beyondLimits(
          list.map(({ cantidad, importe_unitario, descuento, iva }) => ({
            quantity: cantidad,
            unitPrice: importe_unitario,
            discount: descuento,
            vat: iva,
          })),
        );
        for (const index of beyond.lines) wrong(`${name}[${index}].importe_unitario`, LINE_TOO_LARGE);
        if (beyond.sum) wrong(name, SUM_TOO_LARGE);
      },
    },
  );

/**
 * Due dates of an invoice; `settled` is the field with the paid amount. Default: one, on the invoice's date, for the total with
 * VAT (the sum over its rates of base + round(base x rate / 100, 2)).
 */
export const dueDates = (table: string, parent: string, lineTable: string, settled: 'cobrado' | 'pagado'): Children =>
  children(
    table,
    parent,
    { fecha: date('date'), importe: product('amount', MAX_SUM), [settled]: decimalOr('paid', 0) },
    {
      optional: true,
      async whenLeftOut(db, accountId, invoices) {
        const totals = await rows<{ id: number; total: string }>(
          db,
          `select ${parent} as id, sum(base + round(base * vat / 100, 2))::text as total
           from (select ${parent}, vat, sum(amount) as base from ${lineTable}
                 where account_id = $1 and ${parent} = any($2) group by ${parent}, vat) rates
           group by ${parent}`,
          [accountId, invoices.map(({ id }) => id)],
        );
        const byInvoice = new Map(totals.map(({ id, total }) => [id, total]));
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
