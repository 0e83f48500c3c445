// Dynamic registration of applications (RFC 7591). All are public clients without a secret. OAU-02
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { UNUSED_CLIENT_HOURS } from '../../platform/identity/grants.ts';
import { networkOf } from '../../platform/network.ts';
import { oauthError } from './errors.ts';

/** Settings of registrations. */
export interface ClientOptions {
  /** Allows `http://localhost` redirects, which some desktop applications use. OAU-02 */
  allowLocalhost?: boolean;
  /** Applications that one network may register in an hour. */
  registrationsPerHour?: number;
  /** Applications that all networks together may register in an hour. */
  totalRegistrationsPerHour?: number;
}

/** A registered application. */
export interface Client {
  id: string;
  name: string;
  redirectUris: string[];
}

const REGISTRATIONS_PER_HOUR = { network: 100, total: 2000 };
/** The counter of all networks; never the name of a network. */
const ALL_NETWORKS = '*';
const MAX_REDIRECT_URIS = 10;
const MAX_URI = 2000;
const MAX_NAME = 100;

/** The supported grant types. */
export const GRANT_TYPES = ['authorization_code', 'refresh_token'];

const metadata = z.object({
  redirect_uris: z.unknown().optional(),
  client_name: z.string().optional(),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
});

/** Registers an application and returns the registration. Throws an OAuth error for invalid metadata, and 429 after too many. */
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
  const network = networkOf(address);
  const { registrationsPerHour, totalRegistrationsPerHour } = options;
  await countRegistration(service, now, network, registrationsPerHour ?? REGISTRATIONS_PER_HOUR.network);
  await countRegistration(service, now, ALL_NETWORKS, totalRegistrationsPerHour ?? REGISTRATIONS_PER_HOUR.total);
  const client = { id: randomBytes(16).toString('base64url'), name: nameOf(client_name, redirectUris), redirectUris };
  await service.database.service
    .insertInto('oauth_clients')
    .values({
      id: client.id,
      name: client.name,
      redirect_uris: redirectUris,
      registered_from: network,
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

/** The application with this id, unless it expired because it was never authorised. */
export async function findClient({ database, clock }: Service, id: string): Promise<Client | undefined> {
  // PostgreSQL rejects NUL.
  if (id.includes('\0')) return undefined;
  const row = await database.service
    .selectFrom('oauth_clients')
    .select(['id', 'name', 'redirect_uris', 'registered_at', 'authorized_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  const expires = Temporal.Instant.from(row.registered_at).add({ hours: UNUSED_CLIENT_HOURS });
  if (row.authorized_at === null && Temporal.Instant.compare(expires, clock.now()) <= 0) return undefined;
  return { id: row.id, name: row.name, redirectUris: row.redirect_uris };
}

/** Counts a registration; throws 429 over the limit. One statement counts and reads, so concurrent registrations are limited too. */
async function countRegistration({ database }: Service, now: Temporal.Instant, network: string, most: number) {
  const moment = now.toString();
  const over = sql<boolean>`oauth_registrations.starts_at <= ${moment}::timestamptz - interval '1 hour'`;
  const { rows } = await sql<{ registered: number; starts_at: string }>`
    insert into oauth_registrations (network, starts_at, registered) values (${network}, ${moment}, 1)
    on conflict (network) do update set
      registered = case when ${over} then 1 else oauth_registrations.registered + 1 end,
      starts_at = case when ${over} then excluded.starts_at else oauth_registrations.starts_at end
    returning registered, starts_at`.execute(database.service);
  const [counted] = rows;
  if (!counted || counted.registered <= most) return;
  const end = Temporal.Instant.from(counted.starts_at).add({ hours: 1 });
  throw new ApiError('quotaSpent', 'Demasiados registros de aplicaciones', {
    retryAfterSeconds: Math.max(1, Math.ceil(now.until(end).total('seconds'))),
  });
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

/** What is wrong with a redirect URI. The host is read from the text, because parsing normalises how it is written. */
function problemOf(uri: string, allowLocalhost: boolean): string | undefined {
  const [, scheme = '', authority = ''] = /^([a-z]+):\/\/([\w.:[\]-]+)(?=[/?]|$)/.exec(uri) ?? [];
  const url = URL.parse(uri);
  // Refuse anything that browsers may parse differently: user, backslash, blanks, fragment.
  if (!url || !/^[!-~]+$/.test(uri) || /[#\\"<>`{}|^]/.test(uri)) return 'A redirect URI is not valid';
  const host = authority.replace(/:\d+$/, '');
  if (scheme === 'https' && host !== '') return undefined;
  if (scheme === 'http' && host === '127.0.0.1') return undefined;
  if (scheme === 'http' && host === 'localhost') {
    return allowLocalhost ? undefined : 'http://localhost is not allowed as a redirect URI: use http://127.0.0.1';
  }
  return 'A redirect URI has to be https, or http://127.0.0.1 for desktop applications';
}

/** The name to show, without control and formatting characters, which could hide or reverse the text beside them. */
function nameOf(given: string | undefined, [first = '']: readonly string[]): string {
  const name = (given ?? '')
    .normalize('NFC')
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return Array.from(name).slice(0, MAX_NAME).join('') || new URL(first).host;
}
