// Where a page of a list ended, as text that its caller sends for the page after it. It holds what the list is ordered by, internal
// numbers and names among it, so it is encrypted; and it is bound to the list and to the company, so it opens nowhere else.
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';

/** A place in a list. */
export interface Position {
  /** The order of the list. */
  order: string;
  /** The page that begins here. */
  page: number;
  /** What the last row before it has in the columns of the order. */
  keys: readonly (string | null)[];
}

const NONCE = 12;
const TAG = 16;

interface Key {
  nonce: Buffer;
  cipher: Buffer;
}

const derived = (secret: string, purpose: string) => createHmac('sha256', secret).update(purpose).digest();

/** Seals and opens the cursors of every company. */
export class Cursors {
  readonly #keys: readonly [Key, ...Key[]];

  /** `secrets`: the id keys, newest first; cursors sealed with any of them open. */
  constructor(secrets: readonly string[]) {
    const [newest, ...older] = secrets.map((secret) => ({
      nonce: derived(secret, 'albaran cursor nonce'),
      cipher: derived(secret, 'albaran cursor key'),
    }));
    if (!newest) throw new Error('Cursors need at least one key');
    this.#keys = [newest, ...older];
  }

  /** The same place always has the same cursor: the nonce follows from what is sealed. */
  seal(account: number, list: string, { order, page, keys }: Position): string {
    const [key] = this.#keys;
    const bound = boundTo(account, list);
    const plain = JSON.stringify([order, page, ...keys]);
    const nonce = createHmac('sha256', key.nonce).update(bound).update(plain).digest().subarray(0, NONCE);
    const cipher = createCipheriv('aes-256-gcm', key.cipher, nonce).setAAD(bound);
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url');
  }

  /** The place; undefined for anything else: altered, of another list or another company. */
  open(account: number, list: string, cursor: string): Position | undefined {
    const sealed = Buffer.from(cursor, 'base64url');
    if (sealed.length <= NONCE + TAG || sealed.toString('base64url') !== cursor) return undefined;
    for (const key of this.#keys) {
      const decipher = createDecipheriv('aes-256-gcm', key.cipher, sealed.subarray(0, NONCE), { authTagLength: TAG })
        .setAAD(boundTo(account, list))
        .setAuthTag(sealed.subarray(-TAG));
      const plain = decipher.update(sealed.subarray(NONCE, -TAG));
      try {
        decipher.final();
      } catch {
        // Sealed with another key, or for another list, or altered.
        continue;
      }
      const [order, page, ...keys]: [string, number, ...(string | null)[]] = JSON.parse(plain.toString());
      return { order, page, keys };
    }
    return undefined;
  }
}

const boundTo = (account: number, list: string) => Buffer.from(`${account} ${list}`);
