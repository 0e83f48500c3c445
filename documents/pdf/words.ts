// The words of documents, and those that the law asks for.
import type { DocumentContent, Exemption } from '../content.ts';

/** What kind of document it is. RD 1619/2012, articles 7 and 15 */
export function titleOf({ tipo, tipo_factura }: DocumentContent): string {
  if (tipo === 'albaran') return 'Albarán';
  if (tipo === 'presupuesto') return 'Presupuesto';
  if (tipo_factura === 'F2') return 'Factura simplificada';
  if (tipo_factura === 'R5') return 'Factura simplificada rectificativa';
  return tipo_factura === null || tipo_factura === 'F1' ? 'Factura' : 'Factura rectificativa';
}

/** In a line's column of VAT. */
export const WITHOUT_VAT: Readonly<Record<Exemption, string>> = {
  E1: 'Exenta (E1)',
  E2: 'Exenta (E2)',
  E3: 'Exenta (E3)',
  E4: 'Exenta (E4)',
  E5: 'Exenta (E5)',
  E6: 'Exenta (E6)',
  N1: 'No sujeta (N1)',
  N2: 'No sujeta (N2)',
  S2: 'Inversión (S2)',
};

/** `Factura F-2026/0001` */
export const nameOf = (content: DocumentContent) => [titleOf(content), content.numero ?? ''].filter(Boolean).join(' ');
