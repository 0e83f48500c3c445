// Signs texts that callers keep and send back, so that they can't be forged or altered.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signs and verifies texts for one purpose. */
export class Signer {
  readonly #keys: Buffer[];

  /** `secrets`: the id keys, newest first; texts signed with any of them are valid. Each purpose derives its own keys. */
  constructor(secrets: readonly string[], purpose: string) {
    this.#keys = secrets.map((secret) => createHmac('sha256', secret).update(purpose).digest());
  }

  /** The payload with its signature. `bound` is signed too but not included; `open` needs the same value. */
  sign(payload: string, bound = ''): string {
    const [newest] = this.#keys;
    if (!newest) throw new Error('Nothing to sign with');
    return `${payload}.${signature(newest, payload, bound)}`;
  }

  /** The payload of a signed text; undefined if it was altered, or signed with a different `bound`. */
  open(signed: string, bound = ''): string | undefined {
    const [payload = '', given = ''] = signed.split(/\.(?=[^.]*$)/);
    const genuine = this.#keys.some((key) => {
      const [expected, found] = [Buffer.from(signature(key, payload, bound)), Buffer.from(given)];
      return expected.length === found.length && timingSafeEqual(expected, found);
    });
    return genuine ? payload : undefined;
  }
}

const signature = (key: Buffer, payload: string, bound: string) =>
  createHmac('sha256', key)
    .update(bound === '' ? payload : `${payload}\n${bound}`)
    .digest('base64url');
