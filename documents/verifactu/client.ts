// Sends an envelope to the agency by mutual TLS, and reads its answer. DOC-02
import { request } from 'node:https';
import type { RegisterMode } from '../../entities/values.ts';
import { type Answer, AnswerError, type Fault, readAnswer } from './envelope.ts';

/** Where registers are sent: by a certificate of a person or representative, or by the seal of an organisation. */
export const SENDING_ADDRESSES: Record<RegisterMode, Record<'persona' | 'sello', string>> = {
  pruebas: {
    persona: 'https://prewww1.aeat.es/wlpl/TIKE-CONT/ws/SistemaFacturacion/VerifactuSOAP',
    sello: 'https://prewww10.aeat.es/wlpl/TIKE-CONT/ws/SistemaFacturacion/VerifactuSOAP',
  },
  produccion: {
    persona: 'https://www1.agenciatributaria.gob.es/wlpl/TIKE-CONT/ws/SistemaFacturacion/VerifactuSOAP',
    sello: 'https://www10.agenciatributaria.gob.es/wlpl/TIKE-CONT/ws/SistemaFacturacion/VerifactuSOAP',
  },
};

export interface Sender {
  url: string;
  /** The certificate and its key, as PKCS #12 or as PEM. */
  certificate: { pfx: Buffer; passphrase: string } | { cert: string; key: string };
  /** Authorities other than the known ones, as PEM. */
  ca?: string;
  /** Until the whole answer is there. */
  timeoutMs: number;
  signal?: AbortSignal;
}

/** No answer came: whether the registers were taken is not known. Sending them again tells (3000). */
export class UnansweredError extends Error {}

/** A thousand lines with their errors have less than two megabytes. */
const MAX_ANSWER = 8 * 1024 ** 2;

/** Throws an UnansweredError without an answer, and an AnswerError at one that is not the agency's. */
export async function send(envelope: string, sender: Sender): Promise<{ respuesta: Answer } | { fallo: Fault }> {
  return readAnswer(await answerTo(envelope, sender));
}

function answerTo(envelope: string, { url, certificate, ca, timeoutMs, signal }: Sender): Promise<string> {
  const body = Buffer.from(envelope);
  const headers = { 'content-type': 'text/xml; charset=UTF-8', 'content-length': body.length, soapaction: '""' };
  const deadline = AbortSignal.timeout(timeoutMs);
  return new Promise((done, fail) => {
    const lost = (cause: Error) => fail(new UnansweredError(cause.message, { cause }));
    const sent = request(url, {
      method: 'POST',
      headers,
      ...certificate,
      ca,
      minVersion: 'TLSv1.2',
      // A connection of its own: the certificate is one company's.
      agent: false,
      signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
    });
    sent.on('error', lost);
    sent.on('response', (response) => {
      // A fault comes as 500: what the body says counts.
      const parts: Buffer[] = [];
      let size = 0;
      response.on('data', (part: Buffer) => {
        size += part.length;
        if (size > MAX_ANSWER) {
          fail(new AnswerError(`la respuesta pasa de ${MAX_ANSWER} bytes`));
          sent.destroy();
        } else parts.push(part);
      });
      response.on('error', lost);
      response.on('end', () => done(Buffer.concat(parts).toString()));
    });
    sent.end(body);
  });
}
