// The hash of a register a second time, written from the agency's document and straight from the text of the XML: shares nothing with what
// it checks.
import { subtle } from 'node:crypto';

const ALTA = [
  'IDEmisorFactura',
  'NumSerieFactura',
  'FechaExpedicionFactura',
  'TipoFactura',
  'CuotaTotal',
  'ImporteTotal',
  'Huella',
  'FechaHoraHusoGenRegistro',
];
const ANULACION = [
  'IDEmisorFacturaAnulada',
  'NumSerieFacturaAnulada',
  'FechaExpedicionFacturaAnulada',
  'Huella',
  'FechaHoraHusoGenRegistro',
];

/** The text of the first element of that name; undefined without one. */
export function textIn(xml: string, name: string): string | undefined {
  const found = new RegExp(`<(?:\\w+:)?${name}(?: [^>]*)?>([^<]*)</`).exec(xml)?.[1];
  return found
    ?.replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#13;', '\r')
    .replaceAll('&amp;', '&');
}

/** The inner text of each element of that name. */
export const elementsIn = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<((?:\\w+:)?${name})(?: [^>]*)?>(.*?)</\\1>`, 'gs'))].map(([, , inner = '']) => inner);

export async function secondHash(xml: string): Promise<string> {
  const chained = elementsIn(xml, 'Encadenamiento')[0] ?? '';
  const own = xml.replace(chained, '');
  const text = (xml.includes('RegistroAlta') ? ALTA : ANULACION)
    .map((name) => `${name}=${(textIn(name === 'Huella' ? chained : own, name) ?? '').trim()}`)
    .join('&');
  const bytes = await subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Buffer.from(bytes).toString('hex').toUpperCase();
}
