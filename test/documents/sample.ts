// Documents as they are sealed, for tests of what is made from them.
import type { ContentLine, DocumentContent } from '../../documents/content.ts';

export const line = (more: Partial<ContentLine> = {}): ContentLine => ({
  descripcion: 'Sustitución de grupo de presión',
  descripcion_ampliada: null,
  cantidad: '1',
  importe_unitario: '850',
  descuento: '0',
  iva: '21',
  recargo: '0',
  exencion: null,
  importe: '850.00',
  fecha_inicio: null,
  fecha_fin: null,
  ...more,
});

/** An invoice; its sums are those of the one line that it has by default. */
export const invoice = (more: Partial<DocumentContent> = {}): DocumentContent => ({
  tipo: 'factura',
  numero: 'F-2026/0427',
  fecha: '2026-11-22',
  concepto: 'Mantenimiento de instalaciones',
  observaciones: '',
  promo_code: null,
  emisor: {
    nombre_fiscal: 'Fontanería y Climatización Del Valle, S.L.',
    cif: 'B85123459',
    email: 'administracion@delvalle.example',
    direccion: 'Calle de la Ribera, 14, bajo',
    cp: '28005',
    poblacion: 'Madrid',
    provincia: 'Madrid',
    pais: 'España',
    iban: 'ES9121000418450200051332',
  },
  cliente: {
    nombre_fiscal: 'Comunidad de Propietarios Avenida de América 32',
    cif: 'H81234567',
    email: '',
    direccion: 'Avenida de América, 32',
    cp: '28922',
    poblacion: 'Alcorcón',
    provincia: 'Madrid',
    pais: 'ES',
  },
  lineas: [line()],
  desglose: [{ iva: '21', recargo: '0', exencion: null, base: '850.00', cuota: '178.50', cuota_recargo: '0.00' }],
  base: '850.00',
  total: '1028.50',
  valido_hasta: null,
  tipo_factura: 'F1',
  retencion: null,
  a_pagar: '1028.50',
  vencimientos: [],
  rectifica: null,
  ...more,
});
