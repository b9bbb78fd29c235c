import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Role } from '../../../src/accounts/people/account-roles-and-scopes.ts';
import { invitePersonAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { findMembership } from '../../../src/accounts/people/memberships.ts';
import { signInWithIdentity } from '../../../src/credits/sign-up/sign-in-with-identity.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import {
  type Browser,
  goodPassword,
  newBrowser,
  newMember,
  newPerson,
  origin,
  shell,
  signIn,
} from '../../support/service/person.ts';

// An invitation never lowers a role, whether it is accepted by its link or through the identity provider.

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const me = async (browser: Browser) => (await browser.ask('GET', '/api/console/v1/me')).status;

type Invited = { readonly email: string; readonly accountId: string; readonly role: Role };

const invited = (invitee: Invited) => invitePersonAs(service.database.db, shell, { ...invitee, isOperator: false });

const ways = {
  'by its link': {
    enter: async (email: string) => {
      const browser = newBrowser(service);
      assert.equal((await signIn(browser, email)).status, 200);
      return browser;
    },
    accept: async (invitee: Invited) => {
      const body = { token: (await invited(invitee))?.token, password: goodPassword };
      const { status, json } = await newBrowser(service).ask('POST', '/api/console/v1/links/accept', { body });
      assert.equal(status, 200, json.msg);
    },
  },
  'through the identity provider': {
    enter: enterByIdentity,
    accept: async (invitee: Invited) => {
      await invited(invitee);
      await enterByIdentity(invitee.email);
    },
  },
} as const;

async function enterByIdentity(email: string): Promise<Browser> {
  const identity = { issuer: 'https://id.example.com', subject: email, email };
  const made = await signInWithIdentity(service.database.db, identity, { origin });
  assert.ok(made);
  return newBrowser(service, `videogen_${new URL(service.url).port}=${made.token}`);
}

for (const [how, { enter, accept }] of Object.entries(ways)) {
  test(`an invitation that is accepted ${how} lowers no role: the last owner stays one`, async () => {
    const { accountId, person } = await newMember(service);
    await accept({ email: person.email, accountId, role: 'viewer' });
    assert.equal((await findMembership(service.database.db, accountId, person.userId))?.role, 'owner');
  });

  test(`an invitation that is accepted ${how} ends earlier sessions if they would gain rights`, async () => {
    const [{ accountId }, another] = [await newMember(service), await newMember(service)];
    const { email, userId } = await newPerson(service, { roles: { [accountId]: 'viewer' } });
    for (const [invitation, staysSignedIn] of [
      [{ accountId, role: 'viewer' }, true],
      [{ accountId, role: 'member' }, false],
      [{ accountId, role: 'viewer' }, true],
      [{ accountId: another.accountId, role: 'viewer' }, false],
    ] as const) {
      const earlier = await enter(email);
      await accept({ email, ...invitation });
      assert.equal(await me(earlier), staysSignedIn ? 200 : 401, invitation.role);
    }
    assert.equal((await findMembership(service.database.db, accountId, userId))?.role, 'member');
    assert.equal((await findMembership(service.database.db, another.accountId, userId))?.role, 'viewer');
  });
}

test('accepting a link ends the earlier session of the browser', async () => {
  const person = await newPerson(service);
  const cookie = person.cookie();
  const { accountId } = await newMember(service);
  const link = await invitePersonAs(service.database.db, shell, {
    email: 'new-here@example.com',
    isOperator: false,
    accountId,
    role: 'viewer',
  });
  const body = { token: link?.token, password: goodPassword };
  assert.equal((await person.ask('POST', '/api/console/v1/links/accept', { body })).status, 200);
  assert.equal(await me(newBrowser(service, cookie)), 401);
  assert.equal(await me(person), 200);
});
