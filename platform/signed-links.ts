// Addresses that open one file for a while without a key: they carry what they open, until when, and a signature.
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface LinkTarget {
  accountId: number;
  attachmentId: number;
}

const MINUTES = 10;

export class SignedLinks {
  readonly #keys: Buffer[];

  /** `secrets`: those of the ids, the newest first; links signed with any are honoured. */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) => createHmac('sha256', secret).update('albaran link key').digest());
  }

  /** The token of an address that is good for ten minutes. */
  sign({ accountId, attachmentId }: LinkTarget, now: Temporal.Instant): string {
    const until = now.add({ minutes: MINUTES }).epochMilliseconds;
    const payload = [accountId, attachmentId, until].map((part) => part.toString(36)).join('.');
    return `${payload}.${this.#signature(payload, 0)}`;
  }

  /** What a token opens; undefined when it was altered or its time is over. */
  open(token: string, now: Temporal.Instant): LinkTarget | undefined {
    const [payload = '', signature = ''] = token.split(/\.(?=[^.]*$)/);
    const given = Buffer.from(signature);
    const signed = this.#keys.some((_, index) => {
      const expected = Buffer.from(this.#signature(payload, index));
      return expected.length === given.length && timingSafeEqual(expected, given);
    });
    const [accountId = 0, attachmentId = 0, until = 0] = payload.split('.').map((part) => Number.parseInt(part, 36));
    return signed && until > now.epochMilliseconds ? { accountId, attachmentId } : undefined;
  }

  #signature(payload: string, index: number): string {
    const key = this.#keys[index];
    if (!key) throw new Error('Links need at least one key');
    return createHmac('sha256', key).update(payload).digest('base64url');
  }
}
