import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { listAllSecurityEvents } from '../../../src/accounts/people/security-events.ts';
import type { Role } from '../../../src/accounts/people/account-roles-and-scopes.ts';
import { invitePersonAs, createResetLinkAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import {
  createOneTimeLink,
  findLink,
  listInvitationsToEmail,
  listOperatorInvitations,
  withdrawSetupLinks,
} from '../../../src/accounts/sign-in/one-time-links.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { newMember, newPerson, type Person, shell } from '../../support/service/person.ts';

// Open invitations end when they are replaced or withdrawn, or when their person loses rights.

let service: HttpService;
let operator: Person;
before(async () => {
  service = await startHttpService();
  operator = await newPerson(service, { isOperator: true });
});
after(() => service.close());

/** The secret of an invitation that an operator has made: into an account, to make an operator, or both. */
async function invited(email: string, accountId?: string, how: { role?: Role; isOperator?: boolean } = {}) {
  const { role = 'owner', isOperator = false } = how;
  const invitee = { email, isOperator, accountId, role: accountId === undefined ? undefined : role };
  const link = await invitePersonAs(service.database.db, shell, invitee);
  assert.ok(link);
  return link;
}

async function reset(email: string) {
  const link = await createResetLinkAs(service.database.db, shell, email);
  assert.ok(link);
  return link;
}

const isOpen = async ({ token }: { readonly token: string }) =>
  (await findLink(service.database.db, token)) !== undefined;

const otherAccount = () => createAccount(service.database.db, { name: 'other', credits: 0 });

const change = (what: string, body: unknown) => operator.ask('POST', `/api/admin/v1/people/${what}`, { body });

for (const [what, path, body] of [
  ['removed from the account', 'remove', {}],
  ['given another role', 'role', { role: 'viewer' }],
] as const) {
  test(`an open invitation is withdrawn when its member is ${what}`, async () => {
    const { accountId, person: owner } = await newMember(service);
    const { userId, email } = await newPerson(service, { roles: { [accountId]: 'member' } });
    const [left, elsewhere] = [await invited(email, accountId), await invited(email, await otherAccount())];
    const toAnotherPerson = await invited(owner.email, accountId);
    const { status, json } = await owner.ask('POST', `/api/console/v1/members/${path}`, {
      accountId,
      body: { userId, ...body },
    });
    assert.equal(status, 200, json.msg);
    assert.equal(await isOpen(left), false);
    assert.deepEqual([await isOpen(elsewhere), await isOpen(toAnotherPerson)], [true, true]);
    const events = await owner.ask('GET', '/api/console/v1/events?limit=1', { accountId });
    const [latest] = events.json.data['events'] as { kind: string; email: string; actor: string }[];
    assert.deepEqual([latest?.kind, latest?.email, latest?.actor], ['link_withdrawn', email, owner.email]);
  });
}

for (const [path, body] of [
  ['operator', { isOperator: false }],
  ['disable', {}],
] as const) {
  test(`no link that was open before ${path} counts after it`, async () => {
    const { userId, email } = await newPerson(service, { isOperator: true });
    const links = [
      await invited(email, await otherAccount()),
      await invited(email, undefined, { isOperator: true }),
      await reset(email),
    ];
    const toAnotherPerson = await reset(operator.email);
    assert.equal((await change(path, { userId, ...body })).status, 200);
    await change('enable', { userId });
    assert.deepEqual(await Promise.all(links.map(isOpen)), [false, false, false]);
    assert.equal(await isOpen(toAnotherPerson), true);
  });
}

test('a new invitation replaces the open one to the same e-mail and account, also where a hundred are open', async () => {
  const { accountId, person: owner } = await newMember(service);
  const email = 'replaced@example.com';
  const [first, elsewhere] = [await invited(email, accountId), await invited(email, await otherAccount())];
  const ofOperator = await invited(email, undefined, { isOperator: true });
  const text = `
insert into one_time_links (id, hash, purpose, email, account_id, role, expires_at)
select gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), 'invite', 'n' || n, $1, 'viewer', now() + interval '1 hour'
from generate_series(100, 198) n`;
  await service.database.db.run({ name: 'test-many-open', text }, [accountId]);
  const invite = (to: string) =>
    owner.ask('POST', '/api/console/v1/members/invite', { accountId, body: { email: to, role: 'viewer' } });
  const refused = await invite('one-more@example.com');
  assert.deepEqual([refused.json.error, refused.json.data], ['too_many_invitations', { limit: 100 }]);
  assert.equal((await invite(email)).status, 200);
  assert.equal(await isOpen(first), false);
  assert.deepEqual([await isOpen(elsewhere), await isOpen(ofOperator)], [true, true]);
  const second = await invited(email, undefined, { isOperator: true });
  assert.deepEqual([await isOpen(ofOperator), await isOpen(second)], [false, true]);
  const { json } = await owner.ask('GET', '/api/console/v1/members', { accountId });
  assert.equal((json.data['invitations'] as unknown[]).length, 100);
});

test('an invitation by an operator gives the requested role, a member by default, and without an account no role', async () => {
  const accountId = await otherAccount();
  for (const [body, account, role] of [
    [{ accountId }, accountId, 'member'],
    [{ accountId, role: 'owner' }, accountId, 'owner'],
    [{ accountId, role: 'viewer', isOperator: true }, accountId, 'viewer'],
    [{ isOperator: true, role: 'owner' }, undefined, undefined],
  ] as const) {
    const { status, json } = await change('invite', { email: 'role@example.com', ...body });
    assert.equal(status, 200, json.msg);
    const link = await findLink(service.database.db, String(json.data['url']).split('#')[1] ?? '');
    assert.deepEqual([link?.accountId, link?.role], [account, role], JSON.stringify(body));
    const [action] = await listOperatorActions(service.database.db, { limit: 1 });
    const details = { email: 'role@example.com', role: role ?? null, isOperator: 'isOperator' in body };
    assert.deepEqual([action?.action, action?.accountId, action?.details], ['people.invite', account, details]);
  }
});

test('the invitations to an e-mail are the open ones of all accounts, and no other link; a reset leaves them open', async () => {
  const { email } = await newPerson(service);
  const withdrawn = await invited(email, await otherAccount());
  const text = 'update one_time_links set withdrawn_at = now() where id = $1';
  await service.database.db.run({ name: 'test-withdraw-one', text }, [withdrawn.linkId]);
  const open = [
    await invited(email, await otherAccount()),
    await invited(email, await otherAccount(), { role: 'viewer' }),
    await invited(email, undefined, { isOperator: true }),
  ];
  await invited('another@example.com', await otherAccount());
  await reset(email);
  const [event] = await listAllSecurityEvents(service.database.db, { limit: 1 });
  assert.deepEqual([event?.kind, event?.email, event?.details], ['link_made', email, { purpose: 'reset' }]);
  assert.deepEqual(
    (await listInvitationsToEmail(service.database.db, email)).map(({ linkId }) => linkId),
    open.map(({ linkId }) => linkId),
  );
});

test('operators list the open invitations that make an operator, newest first, and withdraw them', async () => {
  const accountId = await otherAccount();
  const plain = await invited('plain@example.com', accountId);
  const first = await invited('first@example.com', undefined, { isOperator: true });
  const second = await invited('second@example.com', accountId, { role: 'viewer', isOperator: true });
  const list = async () => {
    const { status, json } = await operator.ask('GET', '/api/admin/v1/people/invitations');
    assert.equal(status, 200, json.msg);
    return json.data['invitations'] as Record<string, unknown>[];
  };
  assert.deepEqual((await list()).slice(0, 2), [
    {
      linkId: second.linkId,
      email: 'second@example.com',
      accountId,
      accountName: 'other',
      role: 'viewer',
      expireTime: second.expiresAt,
    },
    {
      linkId: first.linkId,
      email: 'first@example.com',
      accountId: null,
      accountName: null,
      role: null,
      expireTime: first.expiresAt,
    },
  ]);
  assert.equal((await change('withdraw', { linkId: second.linkId.toUpperCase() })).status, 200);
  assert.deepEqual([await isOpen(second), await isOpen(first)], [false, true]);
  assert.equal((await change('withdraw', { linkId: second.linkId })).status, 200, 'again');
  assert.equal(
    (await change('withdraw', { linkId: plain.linkId })).json.error,
    'link_not_found',
    'not one that makes an operator',
  );
  assert.equal(await isOpen(plain), true);
  const actions = await listOperatorActions(service.database.db, { limit: 9 });
  const withdrawals = actions.filter(({ action }) => action === 'people.withdraw');
  assert.deepEqual(
    withdrawals.map((action) => [action.accountId, action.details]),
    [[accountId, { linkId: second.linkId, email: 'second@example.com' }]],
  );
  const setup = await createOneTimeLink(service.database.db, { purpose: 'setup', isOperator: true });
  await withdrawSetupLinks(service.database.db);
  assert.equal((await change('withdraw', { linkId: setup.linkId })).json.error, 'link_not_found', 'no invitation');
  assert.equal((await list())[0]?.['linkId'], first.linkId);
  const expire = 'update one_time_links set expires_at = now() where id = $1';
  await service.database.db.run({ name: 'test-expire-one', text: expire }, [first.linkId]);
  assert.equal((await change('withdraw', { linkId: first.linkId })).json.error, 'link_not_found', 'it has expired');
  const { json } = await operator.ask('GET', '/api/admin/v1/people/events?limit=1');
  const [event] = json.data['events'] as { kind: string; email: string; actor: string }[];
  assert.deepEqual([event?.kind, event?.email, event?.actor], ['link_withdrawn', 'second@example.com', operator.email]);
});

test('the list of invitations that make an operator is bounded', async () => {
  const text = `
insert into one_time_links (id, hash, purpose, email, makes_operator, expires_at)
select gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), 'invite', 'o' || n, true, now() + interval '1 hour'
from generate_series(100, 400) n`;
  await service.database.db.run({ name: 'test-many-of-operators', text });
  assert.equal((await listOperatorInvitations(service.database.db)).length, 200);
});
