// The words of documents, and those that the law asks for.
import type { ContentLine, ContentParty, ContentRate, DocumentContent, Exemption } from '../content.ts';
import { day, isZero, negated, percent, sum } from './formats.ts';

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

/** Tax id, address and e-mail. */
export function detailsOf({ cif, direccion, cp, poblacion, provincia, pais, email }: ContentParty): string[] {
  const town = [cp, poblacion].filter(Boolean).join(' ');
  const province = provincia && provincia.toLowerCase() !== poblacion.toLowerCase() ? provincia : '';
  const place = town && province ? `${town} (${province})` : town || province;
  const country = /^(es|esp|españa|spain)$/i.test(pais.trim()) ? '' : pais;
  return [cif && `NIF ${cif}`, direccion, [place, country].filter(Boolean).join(', '), email].filter(Boolean);
}

/** RD 1619/2012, article 15 */
export const whatItRectifies = ({ numero, fecha }: NonNullable<DocumentContent['rectifica']>) =>
  `Rectifica por diferencias la factura ${numero ?? 'sin número'} de ${day(fecha)}.`;

/** What an invoice with VAT says of a company that pays it over when it is paid; '' otherwise. RD 1619/2012, article 6.1, p) */
export const schemeOf = ({ tipo, emisor, desglose }: DocumentContent) =>
  tipo === 'factura' && emisor.regimen_iva === 'caja' && desglose.some(({ exencion }) => exencion === null)
    ? 'Régimen especial del criterio de caja'
    : '';

/** A reservation's days; '' without one. */
export const daysOf = ({ fecha_inicio, fecha_fin }: ContentLine) =>
  fecha_inicio && fecha_fin && fecha_fin !== fecha_inicio
    ? `Del ${day(fecha_inicio)} al ${day(fecha_fin)}`
    : day(fecha_inicio ?? fecha_fin ?? '');

export function vatOf({ iva, recargo, exencion }: Pick<ContentRate, 'iva' | 'recargo' | 'exencion'>): string {
  if (exencion) return WITHOUT_VAT[exencion];
  return isZero(recargo) ? percent(iva) : `${percent(iva)} + ${percent(recargo)}`;
}

/** The rows of the sums, the last of them emphasised. */
export function sumsOf({ tipo, base, desglose, total, retencion, a_pagar }: DocumentContent): [string, string][] {
  const rows: [string, string][] = [['Base imponible', base]];
  rows.push(['IVA', sum(desglose.map(({ cuota }) => cuota))]);
  const surcharge = sum(desglose.map(({ cuota_recargo }) => cuota_recargo));
  if (desglose.some(({ recargo }) => !isZero(recargo))) rows.push(['Recargo de equivalencia', surcharge]);
  if (tipo !== 'factura') return [...rows, ['Total', total]];
  const due = a_pagar ?? total;
  if (retencion !== null) {
    rows.push(['Total factura', total]);
    rows.push([`Retención IRPF ${percent(retencion)}`, sum([due, negated(total)])]);
  }
  return [...rows, ['Total a pagar', due]];
}
