// The state that an assistant's host keeps of its connection, for the SDKs of both generations.
import type { OAuthClientMetadata, OAuthDiscoveryState } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { REDIRECT } from './application.ts';
import { decide, type Person } from './person.ts';

interface KeptTokens {
  access_token: string;
  token_type: string;
  refresh_token?: string;
  scope?: string;
}

export class Memory {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata: OAuthClientMetadata = { redirect_uris: [REDIRECT], client_name: 'Asistente' };
  client: { client_id: string } | undefined;
  kept: KeptTokens | undefined;
  verifier = '';
  discovered: OAuthDiscoveryState | undefined;
  /** The last address that the person was sent to. */
  address: URL | undefined;

  state = () => 'the state';
  clientInformation = () => this.client;
  saveClientInformation = (client: { client_id: string }) => {
    this.client = client;
  };
  tokens = () => this.kept;
  saveTokens = (tokens: KeptTokens) => {
    this.kept = tokens;
  };
  redirectToAuthorization = (address: URL) => {
    this.address = address;
  };
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier;
  };
  codeVerifier = () => this.verifier;
  saveDiscoveryState = (state: OAuthDiscoveryState) => {
    this.discovered = state;
  };
  discoveryState = () => this.discovered;
  invalidateCredentials = (what: string) => {
    if (what === 'tokens' || what === 'all') this.kept = undefined;
  };

  /** The parameters that the person's browser brings back. */
  async answer(person: Person, options?: Parameters<typeof decide>[2]): Promise<URL> {
    if (!this.address) throw new Error('Nobody was sent anywhere');
    const back = await decide(person, this.address.pathname + this.address.search, options);
    expect(back.searchParams.get('state')).toBe('the state');
    return back;
  }
}
