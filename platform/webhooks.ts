// Webhooks: their secrets, which addresses they may have, and how a message is signed and sent, as Standard Webhooks say.
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { sql } from 'kysely';
import type { Clock } from './clock.ts';
import type { Database } from './database.ts';
import { hostOf, isPublic, PrivateAddress, publicLookup } from './public-addresses.ts';

/** How long a receiver may take to answer. */
const ANSWERS_WITHIN_MS = 20_000;
/** How much of an answer is read, so that the receiver may end it in peace; none of it is kept. */
const MOST_READ = 4096;
/** For how long the secret before a rotation signs too. */
export const BOTH_SIGN_HOURS = 24;

const PREFIX = 'whsec_';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface WebhooksOptions {
  /** Receivers on private addresses and by plain http are allowed. */
  allowPrivate?: boolean | undefined;
  /** Finds the addresses of names. Default: the system's. */
  lookup?: LookupFunction | undefined;
  answersWithinMs?: number | undefined;
}

/** Where to send, and what signs. */
export interface Receiver {
  url: string;
  secret: string;
  earlier_secret: string | null;
  earlier_secret_until: string | null;
}

/** What came of sending a message. */
export interface Attempt {
  /** Of HTTP; 0 without an answer. */
  status: number;
  milliseconds: number;
  /** Empty if the receiver has taken it. */
  error: string;
  /** What a receiver that is busy asks for. */
  retryAfterSeconds?: number | undefined;
}

export class Webhooks {
  readonly #keys: Buffer[];
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #options: WebhooksOptions;

  /** `idKeys`: newest first. Secrets are sealed with the first and opened with any. */
  constructor(idKeys: readonly string[], database: Database, clock: Clock, options: WebhooksOptions = {}) {
    this.#keys = idKeys.map((key) => createHmac('sha256', key).update('webhook secrets').digest());
    this.#database = database;
    this.#clock = clock;
    this.#options = options;
  }

  /** A new secret: as the receiver takes it, and as it is stored. */
  newSecret(accountId: number): { secret: string; sealed: string } {
    const secret = randomBytes(32);
    return { secret: `${PREFIX}${secret.toString('base64')}`, sealed: this.#seal(accountId, secret) };
  }

  /** Why a webhook may not have this address; undefined if it may. */
  refusal(address: string): string | undefined {
    const url = URL.parse(address);
    const { allowPrivate = false } = this.#options;
    if (!url || !(url.protocol === 'https:' || (allowPrivate && url.protocol === 'http:'))) {
      return 'se esperaba una dirección https://';
    }
    if (url.username !== '' || url.password !== '') return 'no puede llevar usuario ni contraseña';
    const host = hostOf(url).replace(/\.$/, '');
    const isLocal = isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : !isPublic(host);
    return isLocal && !allowPrivate ? 'no puede llevar a una red privada' : undefined;
  }

  /** Puts a company among those that the processes look at, soon. */
  async enqueue(accountId: number): Promise<void> {
    const now = this.#clock.now().toString();
    await sql`insert into webhook_queue (company, look_at) values (${accountId}, ${now})
      on conflict (company) do update set look_at = least(webhook_queue.look_at, excluded.look_at)`.execute(
      this.#database.service,
    );
  }

  /** Sends a message, signed. Never throws: whatever goes wrong is an attempt that failed. */
  async send(accountId: number, receiver: Receiver, id: string, body: string): Promise<Attempt> {
    const started = this.#clock.now();
    const answer = await this.#post(accountId, receiver, id, body).catch((error: unknown) => ({
      status: 0,
      error: failureOf(error),
    }));
    return { ...answer, milliseconds: Math.max(0, Math.round(this.#clock.now().since(started).total('milliseconds'))) };
  }

  async #post(accountId: number, receiver: Receiver, id: string, body: string): Promise<Omit<Attempt, 'milliseconds'>> {
    const { allowPrivate = false, lookup, answersWithinMs = ANSWERS_WITHIN_MS } = this.#options;
    const url = new URL(receiver.url);
    const timestamp = Math.floor(this.#clock.now().epochMilliseconds / 1000);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'Albaran-Webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': this.#signatures(accountId, receiver, `${id}.${timestamp}.${body}`),
    };
    // No lookup is made of an address, so that one is checked here.
    if (!allowPrivate && isIP(hostOf(url)) !== 0 && !isPublic(hostOf(url))) throw new PrivateAddress();
    const { promise, resolve, reject } = Promise.withResolvers<Omit<Attempt, 'milliseconds'>>();
    const send = url.protocol === 'http:' ? requestByHttp : requestByHttps;
    const request = send(url, {
      method: 'POST',
      headers,
      // Each attempt has a connection of its own, to an address that was checked for it.
      agent: false,
      lookup: allowPrivate ? lookup : publicLookup(lookup),
      signal: AbortSignal.timeout(answersWithinMs),
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let read = 0;
      response.on('data', (part: Buffer) => {
        read += part.length;
        if (read > MOST_READ) response.destroy();
      });
      response.on('error', () => {}); // Cut off by this side, or by theirs: it has answered.
      const { statusCode: status = 0 } = response;
      const isTaken = status >= 200 && status < 300;
      const isBusy = status === 429 || status === 503;
      resolve({
        status,
        error: isTaken ? '' : `Ha respondido ${status}`,
        retryAfterSeconds: isBusy ? secondsUntil(response.headers['retry-after'], this.#clock.now()) : undefined,
      });
    });
    request.end(body);
    return promise;
  }

  /** One for each secret that signs now. */
  #signatures(accountId: number, receiver: Receiver, text: string): string {
    const { secret, earlier_secret: earlier, earlier_secret_until: until } = receiver;
    const bothSign =
      earlier !== null &&
      until !== null &&
      Temporal.Instant.compare(this.#clock.now(), Temporal.Instant.from(until)) < 0;
    return [secret, ...(bothSign ? [earlier] : [])]
      .map((sealed) => `v1,${createHmac('sha256', this.#open(accountId, sealed)).update(text).digest('base64')}`)
      .join(' ');
  }

  /** AES-256-GCM; the company is authenticated too, so that a secret is of no use to another one. */
  #seal(accountId: number, secret: Buffer): string {
    const [newest] = this.#keys;
    if (!newest) throw new Error('Nothing to seal with');
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', newest, iv).setAAD(Buffer.from(String(accountId)));
    const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  #open(accountId: number, sealed: string): Buffer {
    const bytes = Buffer.from(sealed, 'base64url');
    for (const key of this.#keys) {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(String(accountId)))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
      } catch {
        // Sealed with another key.
      }
    }
    throw new LostSecret();
  }
}

/** The id key that a secret was sealed with is gone. */
class LostSecret extends Error {}

/** The seconds that a `Retry-After` names, in digits or as a date. */
function secondsUntil(text: string | undefined, now: Temporal.Instant): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now.epochMilliseconds) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/** What is said of a message that got no answer: nothing of what is behind the address. */
function failureOf(error: unknown): string {
  if (error instanceof PrivateAddress) return 'La dirección lleva a una red privada';
  if (error instanceof LostSecret) return 'El secreto ya no se puede leer: hay que rotarlo';
  if (!(error instanceof Error)) return 'No se ha podido enviar';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'No ha respondido a tiempo';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return `No se ha podido enviar${code && ` (${code})`}`;
}
