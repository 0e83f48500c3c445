// What the operator sets for registers of invoices. DOC-02
import type { RegisterMode } from '../entities/values.ts';

/** Who supplies this system to those who bill with it, as registers name them. */
export interface Producer {
  producerName: string;
  producerNif: string;
  systemName: string;
  /** Two capitals or digits. */
  systemId: string;
  systemVersion: string;
}

/** How registers are sent to the agency. */
export interface RegisterSending {
  urls: Record<RegisterMode, string>;
  /** The certificate and its key, as PKCS #12 or as PEM. */
  certificate: { pfx: Buffer; passphrase: string } | { cert: string; key: string };
}

export interface VerifactuSettings {
  producer: Producer;
  /** Where the producer's declaration of responsibility is. */
  declarationUrl: string | undefined;
  /** Without it registers are made and kept. */
  sending: RegisterSending | undefined;
}
