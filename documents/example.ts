// An invoice that nobody issued, to see what a company's documents look like.
import type { ContentIssuer, ContentLine, DocumentContent } from './content.ts';

const line = { descripcion_ampliada: null, descuento: '0', iva: '21', recargo: '0', exencion: null };
const days = { fecha_inicio: null, fecha_fin: null };
const LINES: ContentLine[] = [
  { ...line, ...days, descripcion: 'Trabajo', cantidad: '8', importe_unitario: '35', importe: '280.00' },
  { ...line, ...days, descripcion: 'Material', cantidad: '2.5', importe_unitario: '48', importe: '120.00' },
];

export const exampleInvoice = (emisor: ContentIssuer, today: Temporal.PlainDate): DocumentContent => ({
  tipo: 'factura',
  numero: 'EJEMPLO',
  fecha: today.toString(),
  concepto: 'Factura de ejemplo',
  observaciones: '',
  promo_code: null,
  emisor,
  cliente: {
    nombre_fiscal: 'Cliente de ejemplo, S.L.',
    cif: 'B00000000',
    email: '',
    direccion: 'Calle del Ejemplo, 1',
    cp: '28001',
    poblacion: 'Madrid',
    provincia: 'Madrid',
    pais: 'España',
  },
  lineas: LINES,
  desglose: [{ iva: '21', recargo: '0', exencion: null, base: '400.00', cuota: '84.00', cuota_recargo: '0.00' }],
  base: '400.00',
  total: '484.00',
  valido_hasta: null,
  tipo_factura: 'F1',
  retencion: null,
  a_pagar: '484.00',
  vencimientos: [{ fecha: today.add({ days: 30 }).toString(), importe: '484.00' }],
  rectifica: null,
});
