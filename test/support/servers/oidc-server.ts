import { createServer } from 'node:http';
import { type Context, Provider } from 'oidc-provider';

type Claims = { readonly sub: string; readonly email?: string; readonly email_verified?: boolean };

/** A real provider of OpenID Connect, in which `person` is signed in. */
export type TestIdentityProvider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  person: Claims;
  /** When they signed in there, in Unix seconds; undefined is now. */
  authTime: number | undefined;
  /** Parameters of visits that it does not know. */
  ignores: readonly string[];
  close(): void;
};

export async function startIdentityProvider(redirectUri: string): Promise<TestIdentityProvider> {
  let handle: (...request: Parameters<ReturnType<Provider['callback']>>) => void = () => undefined;
  const server = createServer((req, res) => handle(req, res));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('it listens on no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const test: TestIdentityProvider = {
    issuer,
    clientId: 'videogen',
    clientSecret: 's'.repeat(43),
    person: { sub: 'nobody' },
    authTime: undefined,
    ignores: [],
    close: () => server.close(),
  };
  const known = new Map<string, Claims>();
  const provider = new Provider(issuer, {
    clients: [{ client_id: test.clientId, client_secret: test.clientSecret, redirect_uris: [redirectUri] }],
    cookies: { keys: ['k'.repeat(32)] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    findAccount: (_ctx: unknown, accountId: string) => ({ accountId, claims: () => known.get(accountId) }),
    // Every user consents.
    loadExistingGrant: async ({ oidc }: Context) => {
      const { clientId } = oidc.client;
      const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  handle = (req, res) => {
    const { pathname, searchParams } = new URL(String(req.url), issuer);
    if (pathname.startsWith('/interaction/')) {
      known.set(test.person.sub, test.person);
      const login = { accountId: test.person.sub, ...(test.authTime !== undefined && { ts: test.authTime }) };
      void provider.interactionFinished(req, res, { login });
      return;
    }
    for (const name of test.ignores) searchParams.delete(name);
    req.url = searchParams.size === 0 ? pathname : `${pathname}?${searchParams.toString()}`;
    answer(req, res);
  };
  return test;
}

/** Follows redirects with the cookies of each host, as a browser does, and stops at a page. */
export async function visit(
  start: string,
  jar: Map<string, string>,
  stopBefore?: (url: string) => boolean,
): Promise<{ readonly url: string; readonly status: number }> {
  let url = start;
  for (let steps = 0; steps < 20; steps += 1) {
    if (stopBefore?.(url) === true) return { url, status: 0 };
    const { host } = new URL(url);
    const ofHost = [...jar].filter(([key]) => key.startsWith(`${host} `));
    const cookie = ofHost.map(([key, value]) => `${key.slice(host.length + 1)}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie, 'sec-fetch-site': 'cross-site' } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /Max-Age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(`${host} ${name}`);
      else jar.set(`${host} ${name}`, value);
    }
    const target = response.headers.get('location');
    if (target === null) return { url, status: response.status };
    url = new URL(target, url).href;
  }
  throw new Error(`too many redirects, last to ${url}`);
}
