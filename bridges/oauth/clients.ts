// Applications register themselves (RFC 7591): all of them are public, none has a secret. OAU-02
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { UNUSED_CLIENT_HOURS } from '../../platform/purge.ts';
import { oauthError } from './errors.ts';

export interface ClientOptions {
  /** Lets applications have `http://localhost` redirects, which some of the desktop use. OAU-02 */
  allowLocalhost?: boolean;
  /** Applications that one address may register in an hour. */
  registrationsPerHour?: number;
}

export interface Client {
  id: string;
  name: string;
  redirectUris: string[];
}

const REGISTRATIONS_PER_HOUR = 100;
const MAX_REDIRECT_URIS = 10;
const MAX_URI = 2000;
const MAX_NAME = 100;

export const GRANT_TYPES = ['authorization_code', 'refresh_token'];

const metadata = z.object({
  redirect_uris: z.unknown().optional(),
  client_name: z.string().optional(),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
});

/** Keeps an application and answers its registration. An OAuth error for what can't be registered; 429 after too many. */
export async function registerClient(service: Service, body: unknown, address: string, options: ClientOptions) {
  const given = metadata.safeParse(body);
  if (!given.success) throw oauthError('invalid_client_metadata', 'The metadata is not valid');
  const { redirect_uris, client_name, grant_types, response_types } = given.data;
  const redirectUris = checkRedirectUris(redirect_uris, options.allowLocalhost ?? false);
  if (grant_types && !grant_types.includes('authorization_code')) {
    throw oauthError('invalid_client_metadata', 'grant_types has to include authorization_code');
  }
  if (response_types && !response_types.includes('code')) {
    throw oauthError('invalid_client_metadata', 'response_types has to include code');
  }
  const now = service.clock.now();
  await refuseMany(service, address, now, options.registrationsPerHour ?? REGISTRATIONS_PER_HOUR);
  const client = { id: randomBytes(16).toString('base64url'), name: nameOf(client_name, redirectUris), redirectUris };
  await service.database.service
    .insertInto('oauth_clients')
    .values({
      id: client.id,
      name: client.name,
      redirect_uris: redirectUris,
      registered_from: address,
      registered_at: now.toString(),
    })
    .execute();
  return {
    client_id: client.id,
    client_id_issued_at: Math.floor(now.epochMilliseconds / 1000),
    client_name: client.name,
    redirect_uris: redirectUris,
    grant_types: GRANT_TYPES,
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

/** The application with this id, unless nobody authorised it in time. */
export async function findClient({ database, clock }: Service, id: string): Promise<Client | undefined> {
  const row = await database.service.selectFrom('oauth_clients').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) return undefined;
  const expires = Temporal.Instant.from(row.registered_at).add({ hours: UNUSED_CLIENT_HOURS });
  if (row.authorized_at === null && Temporal.Instant.compare(expires, clock.now()) <= 0) return undefined;
  return { id: row.id, name: row.name, redirectUris: row.redirect_uris };
}

async function refuseMany({ database }: Service, address: string, now: Temporal.Instant, most: number): Promise<void> {
  const since = now.subtract({ hours: 1 });
  const { registered } = await database.service
    .selectFrom('oauth_clients')
    .select(({ fn }) => fn.countAll<number>().as('registered'))
    .where('registered_from', '=', address)
    .where('registered_at', '>', since.toString())
    .executeTakeFirstOrThrow();
  if (registered >= most) {
    throw new ApiError('quotaSpent', 'Demasiados registros desde esta dirección', { retryAfterSeconds: 3600 });
  }
}

function checkRedirectUris(given: unknown, allowLocalhost: boolean): string[] {
  const wrong = (text: string) => oauthError('invalid_redirect_uri', text);
  if (!Array.isArray(given) || given.length === 0) throw wrong('redirect_uris has to be a list of at least one');
  if (given.length > MAX_REDIRECT_URIS) throw wrong(`redirect_uris may hold ${MAX_REDIRECT_URIS} at most`);
  return given.map((uri: unknown) => {
    if (typeof uri !== 'string' || uri.length > MAX_URI) throw wrong('A redirect URI is not a text, or too long');
    const problem = problemOf(uri, allowLocalhost);
    if (problem) throw wrong(problem);
    return uri;
  });
}

/** What is wrong with a redirect URI. It is read as text, since a parsed one hides how its host was written. */
function problemOf(uri: string, allowLocalhost: boolean): string | undefined {
  const [, scheme = '', authority = ''] = /^([a-z]+):\/\/([\w.:[\]-]+)(?=[/?]|$)/.exec(uri) ?? [];
  const url = URL.parse(uri);
  // Nothing that a browser would read in another way than we do: no user, no backslash, no blanks, no fragment.
  if (!url || !/^[!-~]+$/.test(uri) || /[#\\"<>`{}|^]/.test(uri)) return 'A redirect URI is not valid';
  const host = authority.replace(/:\d+$/, '');
  if (scheme === 'https' && host !== '') return undefined;
  if (scheme === 'http' && host === '127.0.0.1') return undefined;
  if (scheme === 'http' && host === 'localhost') {
    return allowLocalhost ? undefined : 'http://localhost is not allowed as a redirect URI: use http://127.0.0.1';
  }
  return 'A redirect URI has to be https, or http://127.0.0.1 for desktop applications';
}

/** A name to show, without characters that hide or turn around what stands beside them. */
function nameOf(given: string | undefined, [first = '']: readonly string[]): string {
  const name = (given ?? '')
    .normalize('NFC')
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return Array.from(name).slice(0, MAX_NAME).join('') || new URL(first).host;
}
