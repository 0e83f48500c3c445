// How a supplier is shown inside purchase documents.
import { z } from 'zod';
import { sealedId } from '../shared/id.ts';

/** The `proveedor` block; only `movil` may be null (PIN-01). */
export const supplier = z.object({
  proveedorId: sealedId('supplier'),
  nombre_fiscal: z.string(),
  nombre_comercial: z.string(),
  cif: z.string(),
  email: z.string(),
  telefono: z.string(),
  movil: z.string().nullable(),
});

export const SUPPLIER_COLUMNS = ['p.legal_name', 'p.trade_name', 'p.tax_id', 'p.email', 'p.phone', 'p.mobile'] as const;

interface SupplierRow {
  supplier_id: number;
  legal_name: string;
  trade_name: string;
  tax_id: string;
  email: string;
  phone: string;
  mobile: string | null;
}

export const supplierOf = (row: SupplierRow) => ({
  proveedorId: row.supplier_id,
  nombre_fiscal: row.legal_name,
  nombre_comercial: row.trade_name,
  cif: row.tax_id,
  email: row.email,
  telefono: row.phone,
  movil: row.mobile,
});
