// The model that @node-oauth/oauth2-server needs to issue codes and tokens: clients from clients.ts, the rest from
// platform/identity/grants.ts. Each request has its own model, because some of the library's callbacks lack request data.
// grants.ts checks expiry by the service's clock. The library compares the times returned here with the system clock, so they are
// always in the future.
import OAuth2Server from '@node-oauth/oauth2-server';
import type { Service } from '../../platform/context.ts';
import {
  ACCESS_TOKEN_SECONDS,
  CODE_SECONDS,
  createGrant,
  findToken,
  type IssuedToken,
  issueTokens,
  type NewGrant,
  useCode,
} from '../../platform/identity/grants.ts';
import { type Client, findClient, GRANT_TYPES } from './clients.ts';
import { scopeText } from './metadata.ts';

/** What a person agreed to. The library itself only handles the client and the code. */
export type Agreement = Omit<NewGrant, 'clientId' | 'clientName'> & { client: Client; requestId: string };

type Model = OAuth2Server.AuthorizationCodeModel & OAuth2Server.RefreshTokenModel;

const stillValid = (seconds: number) => new Date(Date.now() + seconds * 1000);
const scopes = (canWrite: boolean) => scopeText(canWrite).split(' ');
const forLibrary = ({ id, redirectUris }: Client) => ({ id, redirectUris, grants: GRANT_TYPES });

/** A server for the authorization that a person has just agreed to. */
export function authorizing(service: Service, { client, requestId, ...agreed }: Agreement): OAuth2Server {
  const model: Model = {
    ...exchange(service, ''),
    async saveAuthorizationCode({ redirectUri, codeChallenge }, libraryClient, user) {
      if (!codeChallenge) throw new Error('A code without its challenge');
      const authorizationCode = await createGrant(
        service.database,
        { ...agreed, clientId: client.id, clientName: client.name },
        { redirectUri, codeChallenge },
        { requestId, now: service.clock.now() },
      );
      return { authorizationCode, expiresAt: stillValid(CODE_SECONDS), redirectUri, client: libraryClient, user };
    },
  };
  return new OAuth2Server({
    model,
    allowEmptyState: true,
    authorizationCodeLifetime: CODE_SECONDS,
    authenticateHandler: { handle: () => ({ id: agreed.userId }) },
  });
}

/** A server for exchanging a code (with the `redirectUri` that the application sent) or a refresh token. */
export const exchanging = (service: Service, redirectUri: string | undefined): OAuth2Server =>
  new OAuth2Server({
    model: exchange(service, redirectUri),
    accessTokenLifetime: ACCESS_TOKEN_SECONDS,
    requireClientAuthentication: { authorization_code: false, refresh_token: false },
  });

function exchange(service: Service, redirectUri: string | undefined): Model {
  const { database, clock } = service;
  /** The code or refresh token of this request. */
  let presented: IssuedToken | undefined;
  const find = async (kind: 'code' | 'refresh', secret: string) => {
    presented = await findToken(service, kind, secret, clock.now());
    return presented;
  };

  return {
    async getClient(id, secret) {
      // All applications are public clients, so one that sends a secret is refused.
      const client = secret ? undefined : await findClient(service, id);
      return client && forLibrary(client);
    },
    async getAuthorizationCode(authorizationCode) {
      const code = await find('code', authorizationCode);
      if (!code?.redirectUri || !code.codeChallenge) return undefined;
      return {
        authorizationCode,
        expiresAt: stillValid(CODE_SECONDS),
        redirectUri: code.redirectUri,
        scope: scopes(code.canWrite),
        client: { id: code.clientId, grants: GRANT_TYPES },
        user: { grant: code.grantId },
        codeChallenge: code.codeChallenge,
        codeChallengeMethod: 'S256',
      };
    },
    async revokeAuthorizationCode(code) {
      const used = presented !== undefined && (await useCode(service, presented, clock.now()));
      if (used && redirectUri !== code.redirectUri) {
        throw new OAuth2Server.InvalidGrantError('Invalid grant: `redirect_uri` is not the one of the authorization');
      }
      return used;
    },
    async getRefreshToken(refreshToken) {
      const token = await find('refresh', refreshToken);
      return (
        token && {
          refreshToken,
          scope: scopes(token.canWrite),
          client: { id: token.clientId, grants: GRANT_TYPES },
          user: { grant: token.grantId },
        }
      );
    },
    // issueTokens marks it as used in the transaction that issues the next one.
    revokeToken: async () => true,
    async saveToken({ scope }, client, user) {
      const canWrite = scope?.includes('svc.write') ?? false;
      const pair = presented && (await issueTokens(database, presented, canWrite, clock.now()));
      if (!pair) throw new OAuth2Server.InvalidGrantError('Invalid grant: it has been used or withdrawn');
      return {
        accessToken: pair.access,
        accessTokenExpiresAt: stillValid(ACCESS_TOKEN_SECONDS),
        refreshToken: pair.refresh,
        scope: scopes(canWrite),
        client,
        user,
      };
    },
    // Required by the library's types but never called: `authorizing` issues codes, and the connector reads access tokens.
    saveAuthorizationCode: async () => undefined,
    getAccessToken: async () => undefined,
  };
}
