// Links that download one file without an API key for a while. A link carries the file, its expiry and a signature.
import { Signer } from './signer.ts';

/** What a link may open. Links hold the place in this list: add to its end. */
export const LINKED_FILES = [
  'attachment',
  'deliveryNotePdf',
  'invoicePdf',
  'estimatePdf',
  'invoiceFacturae',
  'invoiceUbl',
  'invoiceRegister',
  'registersNdjson',
  'registersXml',
  'logo',
] as const;
export type LinkedFile = (typeof LINKED_FILES)[number];

/** The file that a link opens, by the number of its record; one that is of the whole company has 0. */
export interface LinkTarget {
  accountId: number;
  file: LinkedFile;
  id: number;
}

const MINUTES = 10;

/** Signs and verifies links. */
export class SignedLinks {
  readonly #signer: Signer;

  /** `secrets`: the id keys, newest first; links signed with any of them are valid. */
  constructor(secrets: readonly string[]) {
    this.#signer = new Signer(secrets, 'albaran link key');
  }

  /** The token of a link that works for ten minutes. */
  sign({ accountId, file, id }: LinkTarget, now: Temporal.Instant): string {
    const until = now.add({ minutes: MINUTES }).epochMilliseconds;
    const place = LINKED_FILES.indexOf(file);
    const [account = '', record = '', end = ''] = [accountId, id, until].map((part) => part.toString(36));
    // A version that knows attachments alone reads no date in `~`, so to it the link has expired.
    return this.#signer.sign([account, record, ...(place > 0 ? [`~${place.toString(36)}`] : []), end].join('.'));
  }

  /** The file of a token; undefined if the token is altered or expired. */
  open(token: string, now: Temporal.Instant): LinkTarget | undefined {
    const payload = this.#signer.open(token);
    if (payload === undefined) return undefined;
    const [account = '', record = '', ...rest] = payload.split('.');
    const [end = '', place = '~0'] = rest.toReversed();
    const [accountId = 0, id = 0, until = 0] = [account, record, end].map((part) => Number.parseInt(part, 36));
    const file = LINKED_FILES[Number.parseInt(place.slice(1), 36)];
    return file && until > now.epochMilliseconds ? { accountId, file, id } : undefined;
  }
}
