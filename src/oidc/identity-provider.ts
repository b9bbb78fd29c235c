import type * as OpenidClient from 'openid-client';
import { sessionSeconds } from '../domain/session.ts';

// One identity provider, by OpenID Connect: the code flow with PKCE, state and nonce. Its library is loaded at the first use.

export type OidcSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** What the button says. */
  readonly name: string;
};

/** What must be known again when the browser comes back. */
export type OidcVisit = {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Of a visit that asks the person to prove again who they are: when it began, in Unix milliseconds. */
  readonly proofSince?: string;
};

export type Identified = {
  readonly issuer: string;
  readonly subject: string;
  /** Undefined unless the provider says that it has verified it. */
  readonly email: string | undefined;
  /** When they proved it to the provider, in Unix milliseconds of its clock: long ago for somebody whom it let through without asking. */
  readonly authenticatedAt: number;
};

export type IdentityProvider = ReturnType<typeof createIdentityProvider>;

const timeoutSeconds = 10;

/** Who proved themselves to the provider longer ago is asked again there. A provider that gets this parameter is to say when it was. */
const maxAgeSeconds = sessionSeconds.operator.absolute;

export function createIdentityProvider(settings: OidcSettings, redirectUri: string) {
  let configuring: Promise<OpenidClient.Configuration> | undefined;
  /** Asked once; after a failure again. */
  const configuration = (client: typeof OpenidClient) => {
    configuring ??= discover(client, settings).catch((error: unknown) => {
      configuring = undefined;
      throw error;
    });
    return configuring;
  };
  return {
    name: settings.name,
    /** Where the browser goes to, and what must be known when it comes back. With `isProof` nobody is let through without being asked. */
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
    /** Who came back with this query; rejects for what does not belong to the visit or is not signed as it should be. */
    identify: async (query: string, visit: OidcVisit): Promise<Identified> => {
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
      const told =
        claims['email'] === undefined ? await client.fetchUserInfo(config, tokens.access_token, subject) : claims;
      const { email, email_verified: isVerified } = told;
      return {
        issuer,
        subject,
        email: isVerified === true && typeof email === 'string' ? email : undefined,
        authenticatedAt: proofTimeOf(visit, authTime),
      };
    },
  };
}

const clockSkewMs = 30_000;

/**
 * When a person who came back has proved who they are. Some providers, Google among them, do not say: then a visit that asked for a
 * proof is one, and no other visit, since the provider may have let the person through in silence. Throws when it says that it did.
 */
function proofTimeOf({ proofSince }: OidcVisit, authTime: number | undefined): number {
  const saidMs = authTime === undefined ? undefined : authTime * 1000;
  if (proofSince === undefined) return saidMs ?? 0;
  if (saidMs !== undefined && saidMs < Number(proofSince) - clockSkewMs)
    throw new Error('the identity provider did not ask again who this is');
  return saidMs ?? Date.now();
}

async function discover(client: typeof OpenidClient, { issuer, clientId, clientSecret }: OidcSettings) {
  const url = new URL(issuer);
  const isPlain = url.protocol === 'http:';
  return client.discovery(url, clientId, clientSecret, clientSecret === undefined ? client.None() : undefined, {
    timeout: timeoutSeconds,
    // The settings allow plain http on this machine alone.
    ...(isPlain && { execute: [client.allowInsecureRequests] }),
  });
}
