import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { hashPassword } from '../../../src/accounts/sign-in/passwords.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { eraseUsersWithoutAccount, eraseUserAs, listErasuresByCommand } from '../../../src/accounts/people/erasure.ts';
import { invitePersonAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { signInWithIdentity } from '../../../src/credits/sign-up/sign-in-with-identity.ts';
import { createUser, findUser } from '../../../src/accounts/people/users.ts';
import { createOneTimeLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { holdAt, settledOrBlocked } from '../../support/database/held-statement.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { goodPassword, newBrowser, newMember, newPerson, origin, shell } from '../../support/service/person.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
  await newPerson(service, { isOperator: true });
});
after(async () => {
  const violations = await auditLedger(service.database.db);
  await service.close();
  assert.deepEqual(violations, []);
});

const path = '/api/admin/v1/people/erase';
const erase = (userId: string, by = operator) => by.ask('POST', path, { body: { userId } });

async function ask(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
  return service.database.db.run({ name: 'test-ask', text, plannedAnew: true }, values);
}

/** The tables in which a row holds the text. */
async function tablesWith(text: string): Promise<readonly string[]> {
  const tables = await ask(`select table_name as name from information_schema.tables where table_schema = 'public'`);
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await ask(`select 1 from "${String(name)}" t where strpos(to_jsonb(t)::text, $1) > 0 limit 1`, [text]);
    if (rows.length > 0) found.push(String(name));
  }
  return found.toSorted();
}

const books = () => ask('select id, balance, unfinished_tasks from accounts order by id');
const ledger = () => ask('select id, account_id, task_id, kind, amount, balance_after from ledger_entries order by id');

test('200 nothing that names the person is left in any table, and the books are untouched', async () => {
  const { db } = service.database;
  const [email, address, userAgent] = ['Eve.Erasable@example.com', '203.0.113.77', 'Erasable/1.0'];
  const passwordHash = await hashPassword(goodPassword);
  const user = await createUser(db, { email: email.toLowerCase(), passwordHash, isOperator: true });
  const { accountId, person: owner } = await newMember(service);
  await setMembership(db, accountId, user.userId, 'owner');
  const browser = newBrowser(service, undefined, address);
  const headers = { 'user-agent': userAgent };
  const post = (at: string, body: unknown) => browser.ask('POST', at, { body, accountId, headers });
  for (const password of ['a wrong password', goodPassword])
    await post('/api/console/v1/sign-in', { email: user.email, password });
  const done = [
    await post('/api/v1/jobs/createTask', plainRequest),
    await post('/api/console/v1/members/invite', { email: 'friend@example.com', role: 'viewer' }),
    await post('/api/admin/v1/people/invite', { email: 'friend@example.com', isOperator: true }),
    await post('/api/admin/v1/prices/set', {
      model: plainRequest.model,
      creditsPerSecond: 30,
      accountId,
      reason: 'a test',
    }),
    await post('/api/admin/v1/providers/set', { provider: 'preview', state: 'draining', reason: 'a test' }),
    await operator.ask('POST', '/api/admin/v1/people/reset', { body: { userId: user.userId } }),
    await operator.ask('POST', '/api/admin/v1/people/invite', { body: { email: user.email, isOperator: true } }),
  ];
  for (const answer of done) assert.equal(answer.status, 200, answer.bytes.toString());
  await ask(
    `insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name)
    values (gen_random_uuid(), $1, 'credential', '', 0, '{}', 'Eve’s phone')`,
    [user.userId],
  );
  await ask(`insert into oidc_identities (issuer, subject, user_id) values ('https://id.test', 'eve-1', $1)`, [
    user.userId,
  ]);
  await ask(
    `insert into pending_proofs (hash, kind, user_id, details, expires_at) values (sha256('p'), 'oidc', $1, '{}', now())`,
    [user.userId],
  );
  const traces = [
    user.email,
    address,
    userAgent,
    'Eve’s phone',
    'eve-1',
    createHash('sha256').update(user.email).digest('hex'),
  ];
  for (const trace of traces) assert.notDeepEqual(await tablesWith(trace), [], trace);
  const earlier = [await books(), await ledger()];

  assert.deepEqual(await dataOf(erase(user.userId)), { userId: user.userId });

  for (const trace of traces) assert.deepEqual(await tablesWith(trace), [], trace);
  assert.deepEqual(await tablesWith(user.userId), ['operator_actions', 'tasks'], 'an id that refers to nothing');
  assert.deepEqual([await books(), await ledger()], earlier);
  assert.equal((await browser.ask('GET', '/api/console/v1/me')).status, 401);
  assert.equal((await post('/api/console/v1/sign-in', { email: user.email, password: goodPassword })).status, 401);
  const tasks = await dataOf(owner.ask('GET', '/api/v1/jobs/listTasks', { accountId }));
  assert.deepEqual((tasks['tasks'] as { createdBy: unknown }[])[0]?.createdBy, {
    kind: 'person',
    id: user.userId,
    name: 'erased user',
  });
  const { actions } = (await dataOf(operator.ask('GET', '/api/admin/v1/audit'))) as {
    actions: { action: string; actor: object; details: object }[];
  };
  assert.deepEqual([actions[0]?.action, actions[0]?.details], ['people.erase', { userId: user.userId }]);
  assert.deepEqual(
    actions
      .filter(({ actor }) => 'userId' in actor && actor.userId === user.userId)
      .map(({ actor }) => 'name' in actor && actor.name),
    ['erased user', 'erased user', 'erased user'],
  );
  assert.deepEqual(await dataOf(erase(user.userId)), { userId: user.userId }, 'a repetition changes nothing');
});

test('409 the only owner of an open account, until there is another one or the account is closed', async () => {
  const { accountId, person } = await newMember(service);
  const { accountId: second } = await newMember(service);
  await setMembership(service.database.db, second, person.userId, 'owner');
  // Neither a viewer nor a disabled owner can take over.
  await newPerson(service, { roles: { [accountId]: 'viewer' } });
  const { userId: disabled } = await newPerson(service, { roles: { [accountId]: 'owner' } });
  await ask('update users set disabled_at = now() where id = $1', [disabled]);
  const refused = await erase(person.userId);
  assertRefused(refused, 409, new RegExp(`account ${accountId} has no other owner`));
  assert.equal(refused.json.error, 'last_owner');
  assert.equal((await person.ask('GET', '/api/console/v1/me')).status, 200);
  await operator.ask('POST', '/api/admin/v1/accounts/close', { body: { accountId, reason: 'a test' } });
  assert.equal((await erase(person.userId)).status, 200);
});

test('409 the last operator; others, and the person themselves under no name', async () => {
  const other = await startHttpService();
  try {
    const key = await createTestOperator(other);
    const person = await newPerson(other, { isOperator: true });
    const refused = await erase(person.userId, key);
    assert.deepEqual([refused.status, refused.json.error], [409, 'last_operator']);
    await newPerson(other, { isOperator: true });
    assert.equal((await person.ask('POST', path, { body: { userId: person.userId } })).status, 200);
    const { actions } = (await dataOf(key.ask('GET', '/api/admin/v1/audit'))) as {
      actions: { actor: { name: string } }[];
    };
    assert.equal(actions[0]?.actor.name, 'erased user');
  } finally {
    await other.close();
  }
});

test('409 one of them, when an owner is erased while the only other one leaves', async () => {
  for (let times = 0; times < 5; times += 1) {
    const { accountId, person: leaving } = await newMember(service);
    const erased = await newPerson(service, { roles: { [accountId]: 'owner' } });
    const leave = { accountId, body: { userId: leaving.userId } };
    const answers = await Promise.all([
      erase(erased.userId),
      leaving.ask('POST', '/api/console/v1/members/remove', leave),
    ]);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 409]));
    assert.equal(answers.find(({ status }) => status === 409)?.json.error, 'last_owner');
  }
});

test('200 while the person accepts an invitation to an account that is being closed', async () => {
  const { db } = service.database;
  const [mine, joined] = [
    await createAccount(db, { name: 'mine', credits: 0 }),
    await createAccount(db, { name: 'joined', credits: 0 }),
  ];
  const { email, userId } = await newPerson(service, { roles: { [mine]: 'viewer' } });
  await invitePersonAs(db, shell, { email, isOperator: false, accountId: joined, role: 'viewer' });
  const [erasing, closing] = [holdAt(db, 'lock-user'), holdAt(db, 'close-account')];
  const erasure = eraseUserAs(erasing.db, shell, { userId });
  await erasing.arrived;
  const acceptance = signInWithIdentity(db, { issuer: 'https://id.test', subject: email, email }, { origin });
  await settledOrBlocked(db, acceptance);
  const closure = closeAccountAs(closing.db, shell, { accountId: joined, reason: 'a test' });
  await closing.arrived;
  erasing.go();
  await settledOrBlocked(db, erasure);
  closing.go();
  await Promise.all([erasure, acceptance, closure]);
  assert.equal(await findUser(db, userId), undefined);
});

test('erasures at the command line are listed after an entry of the log, and those by operators are not', async () => {
  const { db } = service.database;
  const newUserId = async () => (await newPerson(service)).userId;
  const [first, byOperator, second] = [await newUserId(), await newUserId(), await newUserId()];
  await eraseUserAs(db, shell, { userId: first });
  assert.equal((await erase(byOperator)).status, 200);
  await eraseUserAs(db, shell, { userId: second });
  const all = await listErasuresByCommand(db, 0, 100);
  const [earlier, last] = all.slice(-2);
  assert.deepEqual([earlier?.userId, last?.userId], [first, second]);
  assert.ok(all.every(({ userId }) => userId !== byOperator));
  assert.deepEqual(await listErasuresByCommand(db, earlier?.actionId ?? 0, 100), [last]);
  assert.deepEqual(await listErasuresByCommand(db, 0, 1), all.slice(0, 1));
});

test('an address without a user is erased if any record has it, and an id that was never a person is not found', async () => {
  const { db } = service.database;
  const email = 'only-invited@example.com';
  const unknown = { userId: randomUUID() };
  await createOneTimeLink(db, { purpose: 'invite', email, isOperator: true });
  assert.deepEqual(await eraseUserAs(db, shell, { email }), { userId: undefined });
  const actions = () => ask(`select action, actor, details from operator_actions order by id desc limit 1`);
  const erased = [{ action: 'people.erase', actor: shell.name, details: { userId: null } }];
  assert.deepEqual(await actions(), erased);
  assert.deepEqual(await tablesWith(email), []);
  for (const named of [{ email }, unknown])
    assert.equal(await eraseUserAs(db, shell, named), 'person_not_found', JSON.stringify(named));
  assert.deepEqual(await actions(), erased);
  const { userId } = await newPerson(service);
  await eraseUserAs(db, shell, { userId });
  const listed = (await listErasuresByCommand(db, 0, 100)).map((erasure) => erasure.userId);
  assert.ok(listed.includes(userId) && listed.every((id) => typeof id === 'string'), listed.join());
});

test('an operator who erases another person is named', async () => {
  const { userId: byId, email: by, ...boss } = await newPerson(service, { isOperator: true });
  const { userId } = await newPerson(service);
  assert.equal((await boss.ask('POST', path, { body: { userId } })).status, 200);
  assert.deepEqual(await ask('select user_id, actor, details from operator_actions order by id desc limit 1'), [
    { user_id: byId, actor: by, details: { userId } },
  ]);
});

/** A person with a row of each kind, who has caused an event and an action about someone else, too. */
async function addTraces(db: StatementRunner, name: string, accountId: string): Promise<string> {
  const email = `${name}@traces.example`;
  const { userId } = await createUser(db, { email, passwordHash: undefined, isOperator: true });
  const bytes = (what: string) => createHash('sha256').update(`${what} ${name}`).digest();
  const id = () => ({ id: randomUUID() });
  const price = { model: 'm', price_name: name, credits_per_second: 1, credits_per_video: 0, reason: 'a test' };
  const prices =
    'insert into prices (model, price_name, credits_per_second, credits_per_video, reason, who, effective_from, created_at)';
  const [set] = await db.run<{ id: number }>(
    {
      name: 'test-price',
      text: `${prices} values ($1, $2, $3, $4, $5, $6, now() + interval '1 hour', now()) returning id`,
    },
    [...Object.values(price), email],
  );
  const action = { user_id: userId, actor: email, details: JSON.stringify({ priceId: set?.id }) };
  const event = { kind: 'signed_in', details: '{}', address: name, user_agent: name };
  for (const [table, row] of [
    ['memberships', { account_id: accountId, user_id: userId, role: 'viewer' }],
    ['one_time_links', { ...id(), hash: bytes('link'), purpose: 'reset', email, expires_at: ago(0) }],
    ['sign_in_tries', { email_hash: createHash('sha256').update(email).digest(), address: name }],
    ['security_events', { ...event, user_id: userId }],
    ['security_events', { ...event, email }],
    ['security_events', { ...event, email: 'another@traces.example', actor: email }],
    ['operator_actions', { ...action, action: 'prices.set' }],
    ['operator_actions', { ...action, action: 'people.invite', details: JSON.stringify({ email }) }],
    ['operator_actions', { actor: 'ada', action: 'people.reset', details: JSON.stringify({ email }) }],
    ['provider_switches', { provider: name, state: 'off', reason: 'a test', who: email }],
    ['pending_proofs', { hash: bytes('proof'), kind: 'oidc', user_id: userId, details: '{}', expires_at: ago(0) }],
    ['oidc_identities', { issuer: 'https://id.test', subject: name, user_id: userId }],
    ['passkeys', { ...id(), user_id: userId, credential_id: name, public_key: '', counter: 0, transports: '{}', name }],
    [
      'sessions',
      { ...id(), user_id: userId, hash: bytes('session'), expires_at: ago(0), address: name, user_agent: name },
    ],
  ] as const)
    await insertRow(db, table, row);
  return userId;
}

/** Every row of the tables that an erasure changes, as text. */
async function rowsOfPeople(db: StatementRunner): Promise<readonly string[]> {
  const tables = `memberships one_time_links sign_in_tries security_events operator_actions prices provider_switches
    pending_proofs oidc_identities passkeys sessions users`.split(/\s+/);
  const rows: string[] = [];
  for (const table of tables) {
    const text = `select '${table} ' || to_jsonb(t)::text as row from ${table} t`;
    rows.push(...(await db.run<{ row: string }>({ name: 'test-rows', text, plannedAnew: true })).map(({ row }) => row));
  }
  return rows;
}

test('an erasure leaves every row about another person as it was', async () => {
  const accountId = await createAccount(service.database.db, { name: 'shared', credits: 0 });
  await rolledBack(service.database.db, async (db) => {
    const earlier = new Set(await rowsOfPeople(db));
    const erased = await addTraces(db, 'erased', accountId);
    const withErased = new Set(await rowsOfPeople(db));
    await addTraces(db, 'stays', accountId);
    const ofStaying = (await rowsOfPeople(db)).filter((row) => !withErased.has(row));
    assert.equal(ofStaying.length, 16);
    assert.deepEqual(await eraseUserAs(db, shell, { userId: erased }), { userId: erased });
    const left = new Set(await rowsOfPeople(db));
    assert.deepEqual(
      [...earlier, ...ofStaying].filter((row) => !left.has(row)),
      [],
    );
    const changed = [...left].filter((row) => !earlier.has(row) && !ofStaying.includes(row));
    assert.deepEqual(changed.map((row) => row.split(' ')[0] ?? '').toSorted(), [
      ...Array.from({ length: 4 }, () => 'operator_actions'),
      'prices',
      'provider_switches',
      'security_events',
    ]);
    for (const row of changed) assert.ok(!row.includes('@traces') || row.startsWith('security_events'), row);
    const event = changed.find((row) => row.startsWith('security_events')) ?? '';
    assert.match(event, /"actor": "erased user".*"address": null.*"user_agent": null/);
  });
});

test('people without an account are erased after their time, unless they are operators or have an open invitation', () =>
  rolledBack(service.database.db, async (db) => {
    const limit = Date.parse('2020-01-05T00:00:00Z');
    const accountId = await createAccount(db, { name: 'kept', credits: 0 });
    type NewUser = { isOperator?: boolean; isMember?: boolean; link?: object | null };
    const newUser = async (sinceMs: number, { isOperator = false, isMember = false, link = {} }: NewUser = {}) => {
      const email = `${randomUUID()}@expired.example`;
      const { userId } = await createUser(db, { email, passwordHash: undefined, isOperator });
      if (isMember) await insertRow(db, 'memberships', { account_id: accountId, user_id: userId, role: 'viewer' });
      const text = 'update users set unattached_since = to_timestamp($2::float8 / 1000) where id = $1';
      await db.run({ name: 'test-unattached', text }, [userId, limit + sinceMs]);
      const invitation = { id: randomUUID(), purpose: 'invite', email, makes_operator: true, expires_at: ago(-1) };
      const hash = createHash('sha256').update(email).digest();
      if (link !== null) await insertRow(db, 'one_time_links', { ...invitation, hash, ...link });
      return userId;
    };
    const none = { link: null };
    const expired = [await newUser(-2, none)];
    for (const link of [{ used_at: ago(0) }, { withdrawn_at: ago(0) }, { expires_at: ago(0) }])
      expired.push(await newUser(-1, { link }));
    for (const kept of [{}, { ...none, isOperator: true }, { ...none, isMember: true }]) await newUser(-1, kept);
    await newUser(0, none);
    assert.deepEqual(await eraseUsersWithoutAccount(db, limit, 1), expired.slice(0, 1));
    assert.deepEqual((await eraseUsersWithoutAccount(db, limit, 9)).toSorted(), expired.slice(1).toSorted());
    assert.deepEqual(await eraseUsersWithoutAccount(db, limit, 9), []);
    for (const userId of expired) assert.equal(await findUser(db, userId), undefined);
  }));
