// The address that the QR of an invoice holds. DOC-02
import type { RegisterMode } from '../../entities/values.ts';
import type { InvoiceKey } from './hash.ts';

const HOSTS: Record<RegisterMode, string> = {
  pruebas: 'https://prewww2.aeat.es',
  produccion: 'https://www2.agenciatributaria.gob.es',
};

export function qrAddress(
  { emisor, numero, fecha, importeTotal }: InvoiceKey & { importeTotal: string },
  mode: RegisterMode,
) {
  const query = Object.entries({ nif: emisor, numserie: numero, fecha, importe: importeTotal })
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  return `${HOSTS[mode]}/wlpl/TIKE-CONT/ValidarQR?${query}`;
}
