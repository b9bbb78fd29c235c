import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { newMember, newPerson, signIn, newBrowser } from '../../support/service/person.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(() => service.close());

const path = '/api/admin/v1/people';
const post = (what: string, body: object) => operator.ask('POST', `${path}/${what}`, { body });
const errorOf = async (what: string, body: object) => (await post(what, body)).json.error;
type Row = Readonly<Record<string, unknown>>;
// the documented shapes
const peopleOf = async (query: Readonly<Record<string, string>> = {}) =>
  (await dataOf(operator.ask('GET', path, { query }))) as { people: readonly Row[]; nextCursor: string | null };
const invitationsOf = async () =>
  (await dataOf(operator.ask('GET', `${path}/invitations`)))['invitations'] as readonly Row[];

test('200 people are listed by their e-mail in pages, all of them, or those of a search or an account', async () => {
  const [member, other] = [await newMember(service, 'viewer'), await newMember(service)];
  const third = await newPerson(service, { isOperator: true });
  const times = `
update users set created_at = to_timestamp(1), last_sign_in_at = to_timestamp(2), disabled_at = now() where id = $1`;
  await service.database.db.run({ name: 'test-user-times', text: times }, [third.userId]);
  const ofThird = `delete from sessions where user_id = $1`;
  await service.database.db.run({ name: 'test-no-session', text: ofThird }, [third.userId]);
  const emails = [member.person.email, other.person.email, third.email].toSorted();
  const first = await peopleOf({ limit: '2' });
  assert.deepEqual([first.people.map(({ email }) => email), first.nextCursor], [emails.slice(0, 2), emails[1]]);
  const second = await peopleOf({ limit: '2', cursor: String(first.nextCursor) });
  assert.deepEqual([second.people.map(({ email }) => email), second.nextCursor], [emails.slice(2), null]);
  const { people } = await peopleOf({ accountId: member.accountId });
  assert.deepEqual(
    people.map(({ email, role }) => [email, role]),
    [[member.person.email, 'viewer']],
  );
  const [found, ...rest] = (await peopleOf({ search: third.email.toUpperCase() })).people;
  assert.deepEqual(rest, []);
  assert.deepEqual(found, {
    userId: third.userId,
    email: third.email,
    isDisabled: true,
    role: null,
    joinTime: null,
    lastUseTime: 2_000,
    operator: { isOperator: true, accounts: [], createTime: 1_000, lastSignInTime: 2_000 },
  });
});

test('200 security events of all accounts are listed in pages, the newest first', async () => {
  const text = `
insert into security_events (kind, email, account_id, details)
select 'signed_in', 'event-' || n || '@example.com', $1, '{}' from generate_series(1, 3) n`;
  const accountId = await createAccount(service.database.db, { name: 'events', credits: 0 });
  await service.database.db.run({ name: 'test-events', text }, [accountId]);
  const seen: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 2; page += 1) {
    const query = { limit: '2', ...(cursor !== undefined && { cursor }) };
    const { events, nextCursor } = await dataOf(operator.ask('GET', `${path}/events`, { query }));
    seen.push(...(events as readonly Row[]).map(({ email }) => email));
    cursor = String(nextCursor);
  }
  assert.equal(seen.length, 4);
  assert.deepEqual(
    seen.slice(0, 3),
    [3, 2, 1].map((n) => `event-${n}@example.com`),
  );
});

test('200 an invitation into an account, as an operator, or both; those that make an operator are listed and withdrawn', async () => {
  const accountId = await createAccount(service.database.db, { name: 'Harbor', credits: 0 });
  const invite = (body: object) => dataOf(post('invite', body));
  const plain = await invite({ email: 'plain@example.com', accountId });
  assert.deepEqual(await invitationsOf(), [], 'this one makes no operator');
  const both = await invite({ email: 'both@example.com', accountId, role: 'owner', isOperator: true });
  const alone = await invite({ email: 'alone@example.com', isOperator: true });
  const noAccount = { accountId: null, accountName: null, role: null };
  const shown = [
    { linkId: alone['linkId'], email: 'alone@example.com', ...noAccount, expireTime: alone['expireTime'] },
    {
      linkId: both['linkId'],
      email: 'both@example.com',
      accountId,
      accountName: 'Harbor',
      role: 'owner',
      expireTime: both['expireTime'],
    },
  ];
  assert.deepEqual(await invitationsOf(), shown);
  const tokenOf = ({ url }: Row) => String(url).split('#')[1];
  const show = async (link: Row) => {
    const { json } = await newBrowser(service).ask('POST', '/api/console/v1/links/show', {
      body: { token: tokenOf(link) },
    });
    return json.data;
  };
  const { role, accountName } = await show(plain);
  assert.deepEqual([role, accountName], ['member', 'Harbor'], 'a member by default');
  for (const body of [{ email: 'x@example.com' }, { email: 'x@example.com', isOperator: false, role: 'owner' }])
    assert.equal(await errorOf('invite', body), 'invalid_request');
  assert.equal(await errorOf('invite', { email: 'x@example.com', accountId: randomUUID() }), 'account_not_found');
  for (const linkId of [plain['linkId'], randomUUID()])
    assert.equal(await errorOf('withdraw', { linkId }), 'link_not_found');
  assert.deepEqual(await dataOf(post('withdraw', { linkId: alone['linkId'] })), { linkId: alone['linkId'] });
  assert.deepEqual(await invitationsOf(), shown.slice(1));
});

test('200 an operator disables, enables and signs out one person, and no one else', async () => {
  const [{ person }, { person: other }] = [await newMember(service), await newMember(service)];
  const { userId } = person;
  const isSignedIn = async () => (await person.ask('GET', '/api/console/v1/me')).status === 200;
  const canSignIn = async () => (await signIn(person, person.email)).status === 200;
  const change = async (what: string, more: object = {}) => {
    assert.deepEqual(await dataOf(post(what, { userId, ...more })), { userId });
    assert.equal((await other.ask('GET', '/api/console/v1/me')).status, 200, 'someone else stays signed in');
  };
  await change('end-sessions');
  assert.deepEqual([await isSignedIn(), await canSignIn(), await isSignedIn()], [false, true, true]);
  await change('disable');
  assert.deepEqual([await isSignedIn(), await canSignIn()], [false, false]);
  await change('enable');
  assert.equal(await canSignIn(), true);
  const isOperator = async () => {
    const [row] = (await peopleOf({ search: person.email })).people;
    return (row?.['operator'] as Row | undefined)?.['isOperator'];
  };
  await newPerson(service, { isOperator: true });
  await change('operator', { isOperator: true });
  assert.deepEqual([await isSignedIn(), await isOperator()], [false, true]);
  await change('operator', { isOperator: false });
  assert.equal(await isOperator(), false);
  const unknown = { userId: randomUUID(), isOperator: true };
  assert.equal(await errorOf('operator', unknown), 'person_not_found');
  for (const what of ['disable', 'enable', 'end-sessions', 'reset'])
    assert.equal(await errorOf(what, { userId: randomUUID() }), 'person_not_found', what);
});

test('200 a link for a new password is for the person who is named', async () => {
  const [{ person }] = [await newMember(service), await newMember(service)];
  const { url } = await dataOf(post('reset', { userId: person.userId }));
  const { json } = await newBrowser(service).ask('POST', '/api/console/v1/links/show', {
    body: { token: String(url).split('#')[1] },
  });
  assert.deepEqual([json.data['purpose'], json.data['email']], ['reset', person.email]);
});

test('200 a person is erased; 409 the last owner of an account, which is named, and the last operator', async () => {
  const { accountId, person } = await newMember(service);
  const { status, json } = await post('erase', { userId: person.userId });
  assert.deepEqual([status, json.error], [409, 'last_owner']);
  assert.ok(json.msg.includes(accountId));
  const plain = await newPerson(service);
  assert.deepEqual(await dataOf(post('erase', { userId: plain.userId })), { userId: plain.userId });
  assert.deepEqual((await peopleOf({ search: plain.email })).people, []);
  assert.equal(service.log.filter((line) => line['userId'] === plain.userId).length, 1);
  const others = `update users set is_operator = false`;
  await service.database.db.run({ name: 'test-no-operators', text: others });
  const last = await newPerson(service, { isOperator: true });
  for (const [what, more] of [
    ['erase', {}],
    ['disable', {}],
    ['operator', { isOperator: false }],
  ] as const)
    assert.equal(await errorOf(what, { userId: last.userId, ...more }), 'last_operator', what);
});
