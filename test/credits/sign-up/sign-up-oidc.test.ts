import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCodesAs, redeemCode } from '../../../src/credits/ledger/redemption-codes.ts';
import { createIdentityProvider, type IdentityProvider } from '../../../src/accounts/sign-in/identity-provider.ts';
import { oidcCallbackPath } from '../../../src/api/sign-in/oidc-routes.ts';
import type { SignUpPolicy } from '../../../src/credits/sign-up/request-sign-up.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { startIdentityProvider, type TestIdentityProvider, visit } from '../../support/servers/oidc-server.ts';
import { newBrowser, shell } from '../../support/service/person.ts';

const open: SignUpPolicy = {
  mode: 'open',
  domains: [],
  credits: 50,
  secrets: ['s'],
  hourlyLimit: 1_000,
  hourlyLimitPerAddress: 1_000,
};
const policy = { ...open };

let service: HttpService;
let provider: TestIdentityProvider;
let oidc: IdentityProvider | undefined;
before(async () => {
  service = await startHttpService({
    signUp: policy,
    console: {
      get publicUrl() {
        return service.url;
      },
      passwordSignIn: false,
      get oidc() {
        return oidc;
      },
    },
  });
  const redirectUri = service.url + oidcCallbackPath;
  provider = await startIdentityProvider(redirectUri);
  oidc = createIdentityProvider({ ...provider, name: 'Test' }, redirectUri);
});
after(async () => {
  provider.close();
  await service.close();
});

const isPage = (url: string) => url.startsWith(`${service.url}/console`) && !url.includes('/oidc/');

/** Signs in as a person of the provider; returns the page at which the browser arrives. */
async function signInAs(email: string, isVerified = true): Promise<string> {
  provider.person = { sub: `of ${email}`, email, email_verified: isVerified };
  const { url } = await visit(`${service.url}/console/oidc/start`, new Map(), isPage);
  return url.slice(service.url.length);
}

const request = (email: string, code?: string) =>
  newBrowser(service).ask('POST', '/api/console/v1/sign-up', { body: { email, ...(code !== undefined && { code }) } });

async function booksOf(email: string): Promise<readonly number[]> {
  const text = `
select amount from ledger_entries join memberships using (account_id) join users on users.id = user_id
where email = $1 and role = 'owner' order by ledger_entries.id`;
  const rows = await service.database.db.run<{ amount: number }>({ name: 'test-books-of', text }, [email]);
  return rows.map(({ amount }) => amount);
}

const notInvited = '/console/sign-in?failed=oidc_not_invited';

test('a verified sign-in at the identity provider confirms an open sign-up, once', async () => {
  assert.equal(await signInAs('olga@example.com'), notInvited, 'without a sign-up');
  assert.equal((await request('olga@example.com')).status, 200);
  assert.equal(await signInAs('olga@example.com', false), notInvited, 'not verified');
  assert.equal(await signInAs('olga@example.com'), '/console');
  assert.equal(await signInAs('olga@example.com'), '/console', 'again');
  assert.deepEqual(await booksOf('olga@example.com'), [50]);
});

test('sign-ups do not count at the identity provider while sign-up is off, or after their code was redeemed', async () => {
  await request('otto@example.com');
  Object.assign(policy, { mode: 'off' });
  assert.equal(await signInAs('otto@example.com'), notInvited);
  Object.assign(policy, { mode: 'code' });
  const { codes } = await createCodesAs(service.database.db, shell, { name: 'test', credits: 20, codes: 1 });
  assert.equal((await request('olaf@example.com', codes[0])).status, 200);
  const { accountId } = await service.newAccount(0);
  await redeemCode(service.database.db, accountId, codes[0] ?? '');
  assert.equal(await signInAs('olaf@example.com'), notInvited);
  assert.deepEqual(await booksOf('olaf@example.com'), []);
  // Another request, with a code that is not used up.
  const { codes: more } = await createCodesAs(service.database.db, shell, { name: 'test', credits: 20, codes: 1 });
  assert.equal((await request('olaf@example.com', more[0])).status, 200);
  assert.equal(await signInAs('olaf@example.com'), '/console');
  Object.assign(policy, open);
});

test('an e-mail address as long as one may be signs up, and is named in the audit log', async () => {
  const email = `${'o'.repeat(60)}@${Array<string>(3).fill('d'.repeat(60)).join('.')}.example`;
  assert.equal((await request(email)).status, 200);
  assert.equal(await signInAs(email), '/console');
});
