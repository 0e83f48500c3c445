// What a sale document says, as it was sealed when it was issued: what its PDF, its register and its e-invoices are made from. DOC-01
// Names are those of the wire. Amounts are exact decimals as text, base amounts without VAT; dates are `YYYY-MM-DD`.
import type { EXEMPTIONS, VAT_SCHEMES } from '../entities/values.ts';

/** Who a document is from, or to, as it was when the document was issued; what is not known is ''. W-06 */
export interface ContentParty {
  nombre_fiscal: string;
  cif: string;
  email: string;
  direccion: string;
  cp: string;
  poblacion: string;
  provincia: string;
  pais: string;
}

export interface ContentIssuer extends ContentParty {
  /** The account that is paid into; '' where the company has said none. */
  iban: string;
  /** The SHA-256 of the logo's bytes; left out without one, as are the next. */
  logo?: string;
  /** `#rrggbb` */
  color?: string;
  /** Left out: the general one. A rectifying invoice has that of its original. */
  regimen_iva?: (typeof VAT_SCHEMES)[number];
}

export interface ContentLine {
  descripcion: string;
  descripcion_ampliada: string | null;
  cantidad: string;
  /** Without VAT, before the discount. */
  importe_unitario: string;
  /** Percent. */
  descuento: string;
  /** Percent. */
  iva: string;
  /** Percent of the equivalence surcharge; '0' without one. */
  recargo: string;
  /** Why there is no VAT. */
  exencion: Exemption | null;
  /** Without VAT, rounded to cents. */
  importe: string;
  /** A reservation's days, the last included. */
  fecha_inicio: string | null;
  fecha_fin: string | null;
}

export type Exemption = (typeof EXEMPTIONS)[number];

/** One combination of VAT, surcharge and exemption among the lines, the highest VAT first. */
export interface ContentRate {
  iva: string;
  recargo: string;
  exencion: Exemption | null;
  base: string;
  /** The VAT on `base`, rounded once. */
  cuota: string;
  cuota_recargo: string;
}

export const INVOICE_TYPES = ['F1', 'F2', 'R1', 'R2', 'R3', 'R4', 'R5'] as const;
/** F1 full, F2 simplified; R1 to R5 rectify, by differences. */
export type InvoiceType = (typeof INVOICE_TYPES)[number];

export interface DocumentContent {
  tipo: 'albaran' | 'factura' | 'presupuesto';
  /** Null in imported documents without one. */
  numero: string | null;
  fecha: string;
  concepto: string;
  /** May hold HTML. */
  observaciones: string;
  promo_code: string | null;
  emisor: ContentIssuer;
  cliente: ContentParty;
  lineas: ContentLine[];
  desglose: ContentRate[];
  /** The lines' sum. */
  base: string;
  /** `base` with VAT and surcharge. */
  total: string;
  /** Of an estimate: its last day. */
  valido_hasta: string | null;
  /** The rest is of invoices: null, and [] for their due dates, in other documents. */
  tipo_factura: InvoiceType | null;
  /** Percent of income tax that the client keeps back of `base`; null without. */
  retencion: string | null;
  /** `total` without `retencion`: what is to be paid. */
  a_pagar: string | null;
  vencimientos: { fecha: string; importe: string }[];
  /** What a rectifying invoice rectifies, and why. */
  rectifica: { numero: string | null; fecha: string; motivo: string } | null;
}
