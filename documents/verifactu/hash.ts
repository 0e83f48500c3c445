// The hash of a register, over the texts that its XML holds. DOC-02
import { createHash } from 'node:crypto';

/** What identifies an invoice in registers: `fecha` as `dd-mm-yyyy`. */
export interface InvoiceKey {
  emisor: string;
  numero: string;
  fecha: string;
}

interface Hashed extends InvoiceKey {
  /** The hash of the register before; '' for the first. */
  huellaAnterior: string;
  /** With the numeric zone. */
  momento: string;
}

export interface HashedAlta extends Hashed {
  tipoFactura: string;
  cuotaTotal: string;
  importeTotal: string;
}

const hashOf = (values: Record<string, string>) => {
  const text = Object.entries(values).map(([name, value]) => `${name}=${value.trim()}`);
  return createHash('sha256').update(text.join('&')).digest('hex').toUpperCase();
};

export const hashOfAlta = (of: HashedAlta): string =>
  hashOf({
    IDEmisorFactura: of.emisor,
    NumSerieFactura: of.numero,
    FechaExpedicionFactura: of.fecha,
    TipoFactura: of.tipoFactura,
    CuotaTotal: of.cuotaTotal,
    ImporteTotal: of.importeTotal,
    Huella: of.huellaAnterior,
    FechaHoraHusoGenRegistro: of.momento,
  });

export const hashOfAnulacion = (of: Hashed): string =>
  hashOf({
    IDEmisorFacturaAnulada: of.emisor,
    NumSerieFacturaAnulada: of.numero,
    FechaExpedicionFacturaAnulada: of.fecha,
    Huella: of.huellaAnterior,
    FechaHoraHusoGenRegistro: of.momento,
  });
