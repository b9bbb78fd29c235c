import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { inviteMember } from '../../../src/accounts/people/change-members.ts';
import { listInvitations } from '../../../src/accounts/sign-in/one-time-links.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { goodPassword, newBrowser, newMember, newPerson, origin, signIn } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const members = '/api/console/v1/members';

test('rule 14: another account, an unknown one and none get the same 404', async () => {
  const [{ person }, other] = [await newMember(service), await newMember(service)];
  const answers = [];
  for (const accountId of [other.accountId, randomUUID(), 'none', ''])
    answers.push(await person.ask('GET', members, { accountId }));
  for (const { status, json } of answers) assert.deepEqual([status, json.error], [404, 'account_not_found']);
  assert.equal(new Set(answers.map(({ bytes }) => bytes.toString())).size, 1);
});

test('rule 14: a viewer only reads, and a member creates tasks but manages no members', async () => {
  const { accountId, person: owner } = await newMember(service);
  const viewer = await newPerson(service, { roles: { [accountId]: 'viewer' } });
  const member = await newPerson(service, { roles: { [accountId]: 'member' } });
  const invite = { accountId, body: { email: 'x@example.com', role: 'owner' } };
  const create = { accountId, body: plainRequest };
  for (const reader of [viewer, member]) {
    assert.equal((await reader.ask('GET', '/api/v1/credits', { accountId })).status, 200);
    assert.equal((await reader.ask('GET', '/api/v1/jobs/listTasks', { accountId })).status, 200);
    assert.equal((await reader.ask('GET', members, { accountId })).status, 200);
    assert.equal((await reader.ask('GET', '/api/v1/keys', { accountId })).json.error, 'scope_missing');
    for (const path of [`${members}/invite`, `${members}/role`, `${members}/remove`, `${members}/withdraw`]) {
      assert.equal((await reader.ask('POST', path, invite)).json.error, 'owner_required', path);
    }
    assert.equal((await reader.ask('GET', '/api/console/v1/events', { accountId })).json.error, 'owner_required');
  }
  const refused = await viewer.ask('POST', '/api/v1/jobs/createTask', create);
  assert.deepEqual([refused.status, refused.json.error], [403, 'scope_missing']);
  assert.equal((await member.ask('POST', '/api/v1/jobs/createTask', create)).status, 200);
  assert.equal((await owner.ask('GET', '/api/v1/keys', { accountId })).status, 200);
});

test('an owner invites, lists invitations, withdraws, changes roles and removes; the last owner stays', async () => {
  const { accountId, person: owner } = await newMember(service);
  const list = async () =>
    (await owner.ask('GET', members, { accountId })).json.data as Record<string, Record<string, unknown>[]>;
  const post = (what: string, body: unknown) => owner.ask('POST', `${members}/${what}`, { accountId, body });
  const made = await post('invite', { email: 'Carol@example.com', role: 'viewer' });
  assert.equal(made.status, 200, made.json.msg);
  const { linkId } = made.json.data;
  const { invitations } = await list();
  assert.deepEqual(
    invitations?.map(({ linkId: id, email, role }) => [id, email, role]),
    [[linkId, 'carol@example.com', 'viewer']],
  );
  assert.equal((await post('withdraw', { linkId })).status, 200);
  assert.equal((await post('withdraw', { linkId })).json.error, 'link_not_found');
  const dan = await newPerson(service, { roles: { [accountId]: 'member' } });
  assert.equal((await post('invite', { email: dan.email, role: 'owner' })).json.error, 'already_member');
  const self = { userId: owner.userId };
  assert.equal((await post('role', { ...self, role: 'viewer' })).json.error, 'last_owner');
  assert.equal((await post('remove', self)).json.error, 'last_owner');
  assert.equal((await post('role', { userId: dan.userId, role: 'owner' })).status, 200);
  assert.equal((await post('role', { userId: dan.userId, role: 'owner' })).status, 200, 'again');
  for (const userId of [randomUUID(), 'x', (await newPerson(service)).userId]) {
    assert.equal((await post('role', { userId, role: 'owner' })).json.error, 'member_not_found');
    assert.equal((await post('remove', { userId })).json.error, 'member_not_found');
  }
  assert.deepEqual(
    (await list())['members']?.map(({ email, role }) => `${String(email)} ${String(role)}`),
    [`${owner.email} owner`, `${dan.email} owner`].toSorted((a, b) => (a < b ? -1 : 1)),
  );
  assert.equal((await post('remove', self)).status, 200, 'another owner is left');
  assert.equal((await owner.ask('GET', members, { accountId })).json.error, 'account_not_found');
});

test('the last owner stays, however their id is spelled and however many members there are', async () => {
  const { db } = service.database;
  const { accountId, person: owner } = await newMember(service);
  const post = (what: string, body: unknown) => owner.ask('POST', `${members}/${what}`, { accountId, body });
  const disable = { name: 'test-disable-person', text: 'update users set disabled_at = now() where id = $1' };
  await db.run(disable, [(await newPerson(service, { roles: { [accountId]: 'owner' } })).userId]);
  const self = { userId: owner.userId.toUpperCase() };
  assert.equal((await post('remove', self)).json.error, 'last_owner');
  assert.equal((await post('role', { ...self, role: 'viewer' })).json.error, 'last_owner');
  const crowd = `
with made as (
  insert into users (id, email) select gen_random_uuid(), 'crowd-' || n || '@example.com' from generate_series(1, 1100) n returning id
)
insert into memberships (account_id, user_id, role) select $1, id, 'viewer' from made`;
  await db.run({ name: 'test-crowd', text: crowd }, [accountId]);
  // Their address sorts after a thousand others.
  assert.equal((await post('remove', self)).json.error, 'last_owner');
  const last = await newPerson(service, { roles: { [accountId]: 'viewer' } });
  const body = { email: last.email, role: 'owner' };
  assert.equal((await post('invite', body)).json.error, 'already_member');
  assert.equal((await post('role', { userId: last.userId, role: 'owner' })).status, 200);
  const cookie = owner.cookie();
  assert.equal((await post('role', { ...self, role: 'member' })).status, 200, 'there is another owner');
  assert.notEqual(owner.cookie(), cookie, 'it is the person themselves, whose browser gets a new secret');
  assert.equal((await owner.ask('GET', members, { accountId })).status, 200);
});

test('rule 16: every sign-in, failure, link, role and end of a session is an event that owner and operators can read', async () => {
  const { accountId, person: owner } = await newMember(service);
  const erin = await newPerson(service, { roles: { [accountId]: 'member' } });
  const elsewhere = newBrowser(service);
  await signIn(elsewhere, erin.email, 'not the password');
  await signIn(elsewhere, erin.email);
  await elsewhere.ask('POST', '/api/console/v1/reauthenticate', { body: { password: goodPassword } });
  await elsewhere.ask('POST', '/api/console/v1/sessions/end-others');
  const passwords = { currentPassword: goodPassword, newPassword: 'another long password' };
  await elsewhere.ask('POST', '/api/console/v1/password', { body: passwords });
  await elsewhere.ask('POST', '/api/console/v1/sign-out');
  const post = (what: string, body: unknown) => owner.ask('POST', `${members}/${what}`, { accountId, body });
  const { linkId } = (await post('invite', { email: 'f@example.com', role: 'viewer' })).json.data;
  await post('withdraw', { linkId });
  await post('role', { userId: erin.userId, role: 'viewer' });
  await post('remove', { userId: erin.userId });
  const foreign = await newMember(service);
  type Event = {
    kind: string;
    userId: string | null;
    email: string;
    actor: string | null;
    address: string | null;
    details: object;
  };
  const events = async (path: string, by = owner, query = '') =>
    (await by.ask('GET', `${path}${query}`, { accountId })).json.data as unknown as {
      events: Event[];
      nextCursor: string;
    };
  const operator = await newPerson(service, { isOperator: true });
  const { events: all } = await events('/api/admin/v1/people/events', operator, '?limit=100');
  const ofErin = all.filter(({ email, userId }) => email === erin.email && userId === erin.userId);
  const means = { means: 'password' };
  assert.deepEqual(ofErin.map(({ kind, actor, details }) => [kind, actor, details]).toReversed(), [
    ['signed_in', null, means],
    ['sign_in_failed', null, {}],
    ['signed_in', null, means],
    ['reauthenticated', null, means],
    ['session_ended', null, { sessions: 1 }],
    ['password_changed', null, {}],
    ['signed_out', null, {}],
    ['role_changed', owner.email, { from: 'member', to: 'viewer' }],
    ['member_removed', owner.email, { role: 'viewer' }],
  ]);
  const { events: ofAccount, nextCursor } = await events('/api/console/v1/events', owner, '?limit=3');
  assert.deepEqual(
    ofAccount.map(({ kind, actor }) => [kind, actor]),
    [
      ['member_removed', owner.email],
      ['role_changed', owner.email],
      ['link_withdrawn', owner.email],
    ],
  );
  const { events: older } = await events('/api/console/v1/events', owner, `?cursor=${nextCursor}`);
  assert.deepEqual(
    [ofAccount.at(-1), ...older].map((event) => [event?.kind, event?.details]),
    [
      ['link_withdrawn', { purpose: 'invite', role: 'viewer', isOperator: false }],
      ['link_made', { email: 'f@example.com', role: 'viewer', isOperator: false }],
      ['signed_in', means],
    ],
  );
  assert.ok([...ofAccount, ...older].every(({ email }) => email !== foreign.person.email));
  assert.ok(older.every(({ address }) => String(address).startsWith('10.')));
});

test('what an operator changes about a person is in the audit log and an event of the person, each change once', async () => {
  const [operator, person] = [await newPerson(service, { isOperator: true }), await newPerson(service)];
  const { userId, email } = person;
  for (const [what, more] of [
    ['disable', {}],
    ['enable', {}],
    ['end-sessions', {}],
    ['operator', { isOperator: true }],
    ['operator', { isOperator: false }],
  ] as const) {
    if (what === 'end-sessions') await signIn(person, email);
    for (const time of ['first', 'second']) {
      const { status, json } = await operator.ask('POST', `/api/admin/v1/people/${what}`, {
        body: { userId, ...more },
      });
      assert.equal(status, 200, `${what} for the ${time} time: ${json.msg}`);
    }
  }
  const read = async (path: string) => (await operator.ask('GET', `/api/admin/v1/${path}?limit=100`)).json.data;
  const { actions } = (await read('audit')) as { actions: { action: string; actor: object; details: object }[] };
  const done = actions.filter(({ actor }) => 'name' in actor && actor.name === operator.email);
  assert.deepEqual(
    done.map(({ action, details }) => [action, details]).toReversed(),
    ['disable', 'enable', 'end_sessions', 'operator', 'operator'].map((name) => [`people.${name}`, { userId, email }]),
  );
  const { events } = (await read('people/events')) as { events: Record<string, unknown>[] };
  assert.deepEqual(
    events
      .filter((event) => event['actor'] === operator.email)
      .map((event) => [event['kind'], event['userId'], event['email']])
      .toReversed(),
    ['user_disabled', 'user_enabled', 'session_ended', 'operator_changed', 'operator_changed'].map((kind) => [
      kind,
      userId,
      email,
    ]),
  );
});

test('operators list, invite, reset and disable people and change operators; one operator stays', async () => {
  const own = await startHttpService();
  try {
    const operator = await newPerson(own, { isOperator: true });
    const { accountId, person } = await newMember(own);
    const post = (what: string, body: unknown) => operator.ask('POST', `/api/admin/v1/people/${what}`, { body });
    const list = async (query: string) => {
      const { json } = await operator.ask('GET', `/api/admin/v1/people${query}`);
      return json.data as unknown as { people: Record<string, unknown>[]; nextCursor: string | null };
    };
    const first = await list('?limit=1');
    const second = await list(`?limit=1&cursor=${encodeURIComponent(String(first.nextCursor))}`);
    assert.deepEqual(
      [...first.people, ...second.people].map(({ email }) => email),
      [operator.email, person.email].toSorted((a, b) => (a < b ? -1 : 1)),
    );
    assert.equal(second.nextCursor, null);
    const { people } = await list(`?search=${person.email.toUpperCase().slice(0, 9)}`);
    const ofAccount = await list(`?accountId=${accountId}`);
    assert.deepEqual(
      ofAccount.people.map(({ email }) => email),
      [person.email],
    );
    const found = people.find(({ email }) => email === person.email);
    assert.equal(found?.['role'], null, 'it is not asked for as a member');
    assert.equal(ofAccount.people[0]?.['role'], 'owner');
    const { isOperator, accounts } = found['operator'] as Record<string, unknown>;
    assert.deepEqual([isOperator, accounts], [false, [{ accountId, name: 'test', role: 'owner' }]]);
    const seenByMembers = await person.ask('GET', members, { accountId });
    assert.deepEqual(
      Object.keys((seenByMembers.json.data['members'] as object[])[0] ?? {}).toSorted(),
      ['email', 'isDisabled', 'joinTime', 'lastUseTime', 'role', 'userId'],
      'members see nothing that only operators may see',
    );
    assert.equal((await post('invite', { email: 'n@example.com' })).status, 422);
    assert.equal(
      (await post('invite', { email: 'n@example.com', accountId: randomUUID() })).json.error,
      'account_not_found',
    );
    const invited = await post('invite', { email: 'n@example.com', accountId, role: null });
    assert.match(String(invited.json.data['url']), /\/console\/invite#/);
    assert.match(String((await post('reset', { userId: person.userId })).json.data['url']), /\/console\/reset#/);
    for (const what of ['disable', 'enable', 'end-sessions', 'reset', 'operator']) {
      const { json } = await post(what, { userId: randomUUID(), ...(what === 'operator' && { isOperator: true }) });
      assert.equal(json.error, 'person_not_found', what);
    }
    const self = { userId: operator.userId };
    const disable = { name: 'test-disable-person', text: 'update users set disabled_at = now() where id = $1' };
    await own.database.db.run(disable, [(await newPerson(own, { isOperator: true })).userId]);
    assert.equal((await post('disable', self)).json.error, 'last_operator');
    assert.equal((await post('operator', { ...self, isOperator: false })).json.error, 'last_operator');
    assert.equal((await post('operator', { userId: person.userId, isOperator: true })).status, 200);
    assert.equal((await person.ask('GET', '/api/console/v1/me')).status, 401, 'sessions of operators are shorter');
    assert.equal((await post('operator', { ...self, isOperator: false })).status, 200);
    await signIn(person, person.email);
    const audit = await person.ask('GET', '/api/admin/v1/audit');
    const actions = audit.json.data['actions'] as { action: string; actor: { name: string } }[];
    assert.deepEqual(
      actions.map(({ action, actor }) => [action, actor.name]),
      ['people.operator', 'people.operator', 'people.reset', 'people.invite'].map((action) => [action, operator.email]),
    );
  } finally {
    await own.close();
  }
});

test('an invitation whose e-mail cannot be queued is not made, and its link is returned to no owner', async () => {
  const { db } = service.database;
  const { accountId, person } = await newMember(service);
  const expiresAt = Date.now() + 3_600_000;
  const session = {
    sessionId: randomUUID(),
    userId: person.userId,
    email: person.email,
    isOperator: false,
    authenticatedAt: Date.now(),
    isRecent: true,
    expiresAt,
  };
  const invite = (isQueued: boolean) =>
    inviteMember(
      db,
      { session, accountId, origin },
      { email: 'x@example.com', role: 'viewer' },
      { add: async () => isQueued },
    );
  await assert.rejects(invite(false), { name: 'TooManyMailsError' });
  assert.deepEqual(await listInvitations(db, accountId), []);
  const link = await invite(true);
  assert.ok(typeof link === 'object' && link.isMailed);
  const invitations = await listInvitations(db, accountId);
  assert.deepEqual(invitations, [
    { linkId: link.linkId, email: 'x@example.com', role: 'viewer', expiresAt: link.expiresAt },
  ]);
});
