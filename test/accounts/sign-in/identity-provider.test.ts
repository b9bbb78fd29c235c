import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createIdentityProvider } from '../../../src/accounts/sign-in/identity-provider.ts';
import { assertSince } from '../../support/assert-since.ts';
import { serve } from '../../support/servers/serve.ts';

// These cases hold the requests to a provider and the meaning of its responses. The provider of test/api/sign-in/oidc.test.ts signs its tokens.

type Claims = Readonly<Record<string, unknown>>;

const redirectUri = 'http://service.test/console/oidc/callback';
const visit = { state: 'state', nonce: 'nonce', codeVerifier: 'v'.repeat(43) };
const ada = { email: 'ada@example.com', email_verified: true };

/** A provider that answers every visit with these claims, beside those that each token has; its signatures are never read. */
async function startProvider(t: TestContext) {
  const answers = { isDown: false, ofToken: {} as Claims, ofUser: {} as Claims };
  const requests: string[] = [];
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const issuer = await serve(t, (req, res) => {
    requests.push(String(req.url));
    const seconds = Math.floor(Date.now() / 1000);
    const own = { iss: issuer, sub: 'ada', aud: 'client', iat: seconds, exp: seconds + 3_600, nonce: visit.nonce };
    const idToken = [part({ alg: 'RS256' }), part({ ...own, ...answers.ofToken }), part('signature')].join('.');
    const bodies: Readonly<Record<string, object>> = {
      '/.well-known/openid-configuration': {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
      },
      '/token': { access_token: 'access', token_type: 'bearer', id_token: idToken },
      '/userinfo': { sub: 'ada', ...answers.ofUser },
    };
    res.writeHead(answers.isDown ? 503 : 200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(bodies[String(req.url)] ?? {}));
  });
  const settings = { issuer, clientId: 'client', clientSecret: 'secret', name: 'Test' };
  const provider = createIdentityProvider(settings, redirectUri);
  const identify = (ofToken: Claims, ofUser: Claims = {}, proofSince?: number) => {
    Object.assign(answers, { ofToken, ofUser });
    const begun = proofSince === undefined ? visit : { ...visit, proofSince: String(proofSince) };
    return provider.identify('code=1&state=state', begun);
  };
  return { issuer, answers, requests, provider, identify };
}

test('the discovery of a provider that is down is repeated at the next visit, and is cached once it has succeeded', async (t) => {
  const { answers, requests, provider } = await startProvider(t);
  answers.isDown = true;
  await assert.rejects(provider.begin(false));
  answers.isDown = false;
  for (let times = 0; times < 2; times += 1) await provider.begin(false);
  assert.equal(requests.length, 2);
});

test('a visit requires an authentication of the last twelve hours, and a visit for a proof requires a new one', async (t) => {
  const { issuer, provider } = await startProvider(t);
  const sinceMs = Date.now();
  for (const isProof of [false, true]) {
    const { url, visit: begun } = await provider.begin(isProof);
    const { origin, pathname, searchParams } = new URL(url);
    assert.equal(origin + pathname, `${issuer}/authorize`);
    const { code_challenge: challenge, ...asked } = Object.fromEntries(searchParams);
    assert.match(String(challenge), /^[\w-]{43}$/);
    assert.deepEqual(asked, {
      client_id: 'client',
      redirect_uri: redirectUri,
      scope: 'openid email',
      response_type: 'code',
      code_challenge_method: 'S256',
      state: begun.state,
      nonce: begun.nonce,
      ...(isProof ? { prompt: 'login', max_age: '0' } : { max_age: '43200' }),
    });
    if (isProof) assertSince(sinceMs, Number(begun.proofSince));
    else assert.equal(begun.proofSince, undefined);
  }
});

test('an e-mail is that of the token, or else of the person, and counts only if the provider states that it is verified', async (t) => {
  const { issuer, requests, identify } = await startProvider(t);
  const other = { email: 'other@example.com', email_verified: true };
  for (const [ofToken, ofUser, email] of [
    [ada, other, ada.email],
    [{}, ada, ada.email],
    [{ ...ada, email_verified: false }, other, undefined],
    [{ email: ada.email }, other, undefined],
    [{ ...ada, email_verified: 'true' }, other, undefined],
    [{}, {}, undefined],
    [{ email: 7, email_verified: true }, {}, undefined],
  ] as const) {
    const found = await identify(ofToken, ofUser);
    assert.deepEqual(found, { issuer, subject: 'ada', email, authenticatedAt: 0 }, JSON.stringify([ofToken, ofUser]));
  }
  assert.equal(requests.filter((path) => path === '/userinfo').length, 2);
});

test('a proof is an authentication since its visit, by a clock that is thirty seconds behind at most', async (t) => {
  const { identify } = await startProvider(t);
  const [beganMs, seconds] = [1_790_000_000_000, 1_790_000_000];
  const authenticatedAt = async (authTime: number | undefined, proofSince?: number) =>
    (await identify({ ...ada, auth_time: authTime }, {}, proofSince)).authenticatedAt;
  assert.equal(await authenticatedAt(5), 5_000, 'any other visit takes an old one');
  assert.equal(await authenticatedAt(seconds - 30, beganMs), beganMs - 30_000);
  await assert.rejects(authenticatedAt(seconds - 31, beganMs), /did not authenticate the person again/);
  const sinceMs = Date.now();
  assertSince(sinceMs, await authenticatedAt(undefined, beganMs));
});
