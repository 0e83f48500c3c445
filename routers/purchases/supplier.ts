// How a supplier is shown, alone and inside purchase documents, and written.
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import { orNull } from '../shared/changes.ts';
import { jsonRecord } from '../shared/pages.ts';
import { partyColumns, partyFields } from '../shared/party.ts';
import { idOf, shape, textOf } from '../shared/shape.ts';

/** `proveedor`, the supplier `p`; only `movil` may be null. PIN-01 */
export const supplier = {
  proveedorId: idOf('supplier', 'p.id as supplier_id'),
  nombre_fiscal: textOf('p.legal_name'),
  nombre_comercial: textOf('p.trade_name'),
  cif: textOf('p.tax_id'),
  email: textOf('p.email'),
  telefono: textOf('p.phone'),
  movil: textOf('p.mobile').orNull(),
};

/** A supplier by itself. */
export const wholeSupplier = shape({ proveedor: supplier });

/** The supplier `proveedorId`; 404 without one. */
export async function readSupplier(db: Db, accountId: number, proveedorId: number) {
  const found = await jsonRecord(
    db,
    db
      .selectFrom('suppliers as p')
      .select(wholeSupplier.columns)
      .where('p.account_id', '=', accountId)
      .where('p.id', '=', proveedorId),
    wholeSupplier,
  );
  if (!found) throw notFound('proveedorId');
  return found;
}

/** What is written of a supplier. */
export const supplierFields = z.object(partyFields);

/** Its columns: without a mobile it is null. What was not sent is undefined. */
export const supplierColumns = (datos: Partial<z.output<typeof supplierFields>>) => ({
  ...partyColumns(datos),
  mobile: orNull(datos.movil),
});
