// What registers of invoices need of the configuration, with the certificate's file read.
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { createSecureContext } from 'node:tls';
import { SENDING_ADDRESSES } from '../documents/verifactu/client.ts';
import type { RegisterSending, VerifactuSettings } from '../platform/verifactu-settings.ts';
import type { Config } from './config.ts';
import { Failure } from './failure.ts';
import { oneLine } from './open-database.ts';

type Configured = NonNullable<Config['verifactu']>;

/** Undefined where they are not set. Throws a Failure for a certificate that can't be used. */
export async function verifactuSettings({ verifactu }: Config): Promise<VerifactuSettings | undefined> {
  if (!verifactu) return undefined;
  const { producer, declarationUrl, certificate } = verifactu;
  return { producer, declarationUrl, sending: certificate ? await sendingBy(certificate, verifactu) : undefined };
}

async function sendingBy(file: string, { password, kind, url }: Configured): Promise<RegisterSending> {
  const urls = {
    pruebas: url ?? SENDING_ADDRESSES.pruebas[kind],
    produccion: url ?? SENDING_ADDRESSES.produccion[kind],
  };
  try {
    const bytes = await readFile(file);
    const isPkcs12 = ['.p12', '.pfx'].includes(extname(file).toLowerCase());
    const certificate = isPkcs12 ? { pfx: bytes, passphrase: password } : { cert: `${bytes}`, key: `${bytes}` };
    createSecureContext(certificate);
    return { urls, certificate };
  } catch (error) {
    throw new Failure(`VERIFACTU_CERTIFICATE: ${file} can't be used: ${oneLine(error)}`, { cause: error });
  }
}
