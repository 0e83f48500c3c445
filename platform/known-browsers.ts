// Browsers in which a person has signed in before. Attempts by others with the person's e-mail do not lock them out. Each browser
// holds a signed text with its name, the person and an expiry. It is bound to the password's hash, so that a new password
// invalidates all of them.
import { randomBytes } from 'node:crypto';
import { Signer } from './signer.ts';

/** Lifetime, from the last sign-in. */
export const KNOWN_BROWSER_DAYS = 365;

/** The person as stored. */
interface Owner {
  id: number;
  passwordHash: string;
}

/** Signs and verifies the texts of known browsers. */
export class KnownBrowsers {
  readonly #signer: Signer;

  /** `secrets`: the id keys, newest first. */
  constructor(secrets: readonly string[]) {
    this.#signer = new Signer(secrets, 'albaran known browser key');
  }

  /** The text for a browser to store after a sign-in. A known browser keeps its name. */
  sign(owner: Owner, now: Temporal.Instant, browser = randomBytes(16).toString('base64url')): string {
    const until = now.add({ hours: 24 * KNOWN_BROWSER_DAYS }).epochMilliseconds;
    return this.#signer.sign([browser, owner.id.toString(36), until.toString(36)].join('.'), owner.passwordHash);
  }

  /** The browser's name; undefined if the text is invalid, another person's, of an earlier password or expired. */
  open(text: string, owner: Owner, now: Temporal.Instant): string | undefined {
    const [browser, id = '', until = ''] = this.#signer.open(text, owner.passwordHash)?.split('.') ?? [];
    const lives = Number.parseInt(id, 36) === owner.id && Number.parseInt(until, 36) > now.epochMilliseconds;
    return lives ? browser : undefined;
  }
}
