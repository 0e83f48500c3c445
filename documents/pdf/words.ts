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

/** Why there is no VAT. RD 1619/2012, article 6.1, j) and m) */
export const REASONS: Readonly<Record<Exemption, string>> = {
  E1: 'Operación exenta de IVA según el artículo 20 de la Ley 37/1992.',
  E2: 'Operación exenta de IVA según el artículo 21 de la Ley 37/1992: exportación de bienes.',
  E3: 'Operación exenta de IVA según el artículo 22 de la Ley 37/1992: operación asimilada a la exportación.',
  E4: 'Operación exenta de IVA según los artículos 23 y 24 de la Ley 37/1992: depósito temporal, zonas francas y regímenes aduaneros y fiscales.',
  E5: 'Operación exenta de IVA según el artículo 25 de la Ley 37/1992: entrega intracomunitaria de bienes.',
  E6: 'Operación exenta de IVA por otra causa de las previstas en la Ley 37/1992 o en otra norma.',
  N1: 'Operación no sujeta a IVA según los artículos 7, 14 u otros de la Ley 37/1992.',
  N2: 'Operación no sujeta a IVA en España por las reglas de localización de los artículos 68 y siguientes de la Ley 37/1992.',
  S2: 'Inversión del sujeto pasivo según el artículo 84.Uno.2.º de la Ley 37/1992: el destinatario declara el IVA.',
};

/** `Factura F-2026/0001` */
export const nameOf = (content: DocumentContent) => [titleOf(content), content.numero ?? ''].filter(Boolean).join(' ');
