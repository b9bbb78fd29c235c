import type * as OpenidClient from 'openid-client';

// One identity provider, by OpenID Connect: the code flow with PKCE, state and nonce. Its library is loaded at the first use.

export type OidcSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** What the button says. */
  readonly name: string;
};

/** What must be known again when the browser comes back. */
export type OidcVisit = { readonly state: string; readonly nonce: string; readonly codeVerifier: string };

export type Identified = {
  readonly issuer: string;
  readonly subject: string;
  /** Undefined unless the provider says that it has verified it. */
  readonly email: string | undefined;
};

export type IdentityProvider = ReturnType<typeof createIdentityProvider>;

const timeoutSeconds = 10;

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
    /** Where the browser goes to, and what must be known when it comes back. */
    begin: async (): Promise<{ readonly url: string; readonly visit: OidcVisit }> => {
      const client = await import('openid-client');
      const codeVerifier = client.randomPKCECodeVerifier();
      const visit = { state: client.randomState(), nonce: client.randomNonce(), codeVerifier };
      const url = client.buildAuthorizationUrl(await configuration(client), {
        redirect_uri: redirectUri,
        scope: 'openid email',
        response_type: 'code',
        state: visit.state,
        nonce: visit.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
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
      const { iss: issuer, sub: subject } = claims;
      const told =
        claims['email'] === undefined ? await client.fetchUserInfo(config, tokens.access_token, subject) : claims;
      const { email, email_verified: isVerified } = told;
      return { issuer, subject, email: isVerified === true && typeof email === 'string' ? email : undefined };
    },
  };
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
