import type * as OpenidClient from 'openid-client';
import { idleAndAbsoluteSessionSeconds } from './signed-in-type-and-session-lifetimes.ts';

// OpenID Connect: the code flow with PKCE, state and nonce. The library is loaded at the first use.

export type OidcSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** The label of the button. */
  readonly name: string;
};

/** Stored until the browser returns. */
export type OidcVisit = {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Start of a visit for a recent authentication, in Unix milliseconds. */
  readonly proofSince?: string;
};

export type VerifiedIdentity = {
  readonly issuer: string;
  readonly subject: string;
  /** Undefined unless the provider has verified it. */
  readonly email: string | undefined;
  /** In Unix milliseconds of the provider's clock. May be long ago, because providers have sessions of their own. */
  readonly authenticatedAt: number;
};

export type IdentityProvider = ReturnType<typeof createIdentityProvider>;

const timeoutSeconds = 10;

/**
 * The provider must authenticate a person again whose session there is older
 * than this. The parameter also makes providers return `auth_time`.
 */
const maxAgeSeconds = idleAndAbsoluteSessionSeconds.operator.absolute;

export function createIdentityProvider(settings: OidcSettings, redirectUri: string) {
  let configuring: Promise<OpenidClient.Configuration> | undefined;
  /** Cached, except for a failure. */
  const configuration = (client: typeof OpenidClient) => {
    configuring ??= discover(client, settings).catch((error: unknown) => {
      configuring = undefined;
      throw error;
    });
    return configuring;
  };
  return {
    name: settings.name,
    /** With `isProof` the provider must authenticate the person now, also within a session of its own. */
    begin: async (isProof: boolean): Promise<{ readonly url: string; readonly visit: OidcVisit }> => {
      const client = await import('openid-client');
      const codeVerifier = client.randomPKCECodeVerifier();
      const secrets = { state: client.randomState(), nonce: client.randomNonce(), codeVerifier };
      const visit = isProof ? { ...secrets, proofSince: String(Date.now()) } : secrets;
      const url = client.buildAuthorizationUrl(await configuration(client), {
        redirect_uri: redirectUri,
        scope: 'openid email',
        response_type: 'code',
        state: visit.state,
        nonce: visit.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(isProof ? { prompt: 'login', max_age: '0' } : { max_age: String(maxAgeSeconds) }),
      });
      return { url: url.href, visit };
    },
    /** Identifies the person by the query of the callback; rejects if it does not belong to the visit or is not signed correctly. */
    identify: async (query: string, visit: OidcVisit): Promise<VerifiedIdentity> => {
      const client = await import('openid-client');
      const config = await configuration(client);
      const tokens = await client.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
        expectedState: visit.state,
        expectedNonce: visit.nonce,
        pkceCodeVerifier: visit.codeVerifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the identity provider sent no ID token');
      const { iss: issuer, sub: subject, auth_time: authTime } = claims;
      const { email, email_verified: isVerified } =
        claims['email'] === undefined ? await client.fetchUserInfo(config, tokens.access_token, subject) : claims;
      return {
        issuer,
        subject,
        email: isVerified === true && typeof email === 'string' ? email : undefined,
        authenticatedAt: authenticationTimeOf(visit, authTime),
      };
    },
  };
}

const clockSkewMs = 30_000;

/**
 * Returns 0 without `auth_time`, which Google and others do not send, unless the visit was for a recent authentication. Throws if such a
 * visit ended without an authentication.
 */
function authenticationTimeOf({ proofSince }: OidcVisit, authTime: number | undefined): number {
  const authTimeMs = authTime === undefined ? undefined : authTime * 1000;
  if (proofSince === undefined) return authTimeMs ?? 0;
  if (authTimeMs !== undefined && authTimeMs < Number(proofSince) - clockSkewMs)
    throw new Error('the identity provider did not authenticate the person again');
  return authTimeMs ?? Date.now();
}

async function discover(client: typeof OpenidClient, { issuer, clientId, clientSecret }: OidcSettings) {
  const url = new URL(issuer);
  const isPlain = url.protocol === 'http:';
  return client.discovery(url, clientId, clientSecret, clientSecret === undefined ? client.None() : undefined, {
    timeout: timeoutSeconds,
    // The configuration allows plain http for loopback only.
    ...(isPlain && { execute: [client.allowInsecureRequests] }),
  });
}
