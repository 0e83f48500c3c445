// Links that download one file without an API key for a while. A link carries the file, its expiry and a signature.
import { Signer } from './signer.ts';

/** The file that a link opens. */
export interface LinkTarget {
  accountId: number;
  attachmentId: number;
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
  sign({ accountId, attachmentId }: LinkTarget, now: Temporal.Instant): string {
    const until = now.add({ minutes: MINUTES }).epochMilliseconds;
    return this.#signer.sign([accountId, attachmentId, until].map((part) => part.toString(36)).join('.'));
  }

  /** The file of a token; undefined if the token is altered or expired. */
  open(token: string, now: Temporal.Instant): LinkTarget | undefined {
    const payload = this.#signer.open(token);
    if (payload === undefined) return undefined;
    const [accountId = 0, attachmentId = 0, until = 0] = payload.split('.').map((part) => Number.parseInt(part, 36));
    return until > now.epochMilliseconds ? { accountId, attachmentId } : undefined;
  }
}
