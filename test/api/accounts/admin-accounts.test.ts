import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { askWith, createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(() => service.close());

type Page = { readonly accounts: readonly { accountId: string; name: string }[]; readonly nextCursor: string | null };

const admin = '/api/admin/v1/accounts';
const reason = 'bills';
const newAccountNamed = (name: string) => createAccount(service.database.db, { name, credits: 0 });
const change = (path: string, body: object) => operator.ask('POST', `${admin}${path}`, { body });

async function list(query: Record<string, string>): Promise<Page> {
  // The service holds its answers against the schema of the endpoint.
  return (await dataOf(operator.ask('GET', admin, { query }))) as Page;
}

async function walk(query: Record<string, string>): Promise<readonly string[]> {
  const names: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: Page = await list({ ...query, ...(cursor !== undefined && { cursor }) });
    names.push(...page.accounts.map(({ name }) => name));
    cursor = page.nextCursor;
  }
  return names;
}

test('200 accounts are found by how their name begins, in any case, or by their id', async () => {
  for (const name of ['Zoë Films', 'zoë', 'Zo', 'azoë', 'ZOË%', 'zo_x']) await newAccountNamed(name);
  assert.deepEqual(await walk({ search: 'zoë' }), ['zoë', 'Zoë Films', 'ZOË%']);
  assert.deepEqual(await walk({ search: 'zo_' }), ['zo_x'], 'no letter is a wildcard');
  assert.deepEqual(await walk({ search: 'zoë%' }), ['ZOË%']);
  const { accountId } = (await list({ search: 'azo' })).accounts[0] ?? { accountId: '' };
  assert.deepEqual(await walk({ search: accountId }), ['azoë']);
  assert.deepEqual(await walk({ search: randomUUID() }), []);
  assert.deepEqual(await walk({ search: 'nobody at all' }), []);
});

test('200 pages meet every account once, also among accounts of one name', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, () => newAccountNamed('twin')));
  await newAccountNamed('Twin 2');
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: Page = await list({ search: 'twin', limit: '2', ...(cursor !== undefined && { cursor }) });
    assert.ok(page.accounts.length <= 2);
    seen.push(...page.accounts.map(({ accountId }) => accountId));
    cursor = page.nextCursor;
  }
  assert.deepEqual(seen.slice(0, 5), ids.toSorted());
  assert.equal(seen.length, 6);
  assert.ok((await walk({ limit: '3' })).length >= 6, 'without a search all are listed');
});

test('200 a cursor of another search leads to nothing that does not fit this one', async () => {
  const [first] = [await newAccountNamed('aaa cursor'), await newAccountNamed('bbb cursor')];
  await newAccountNamed('ccc cursor');
  const { accounts } = await list({ search: 'ccc cursor', cursor: first });
  assert.deepEqual(
    accounts.map(({ name }) => name),
    ['ccc cursor'],
  );
});

test('200 accounts of one state: active, suspended or closed', async () => {
  const [suspended, closed] = [await newAccountNamed('filter suspended'), await newAccountNamed('filter closed')];
  await newAccountNamed('filter open');
  await change('/suspend', { accountId: suspended, reason });
  await change('/close', { accountId: closed, reason });
  for (const [state, names] of [
    ['active', ['filter open']],
    ['suspended', ['filter suspended']],
    ['closed', ['filter closed']],
  ] as const)
    assert.deepEqual(await walk({ search: 'filter', state }), names);
  assert.deepEqual(await walk({ search: closed, state: 'closed' }), ['filter closed'], 'also by the id');
  assert.deepEqual(await walk({ search: closed, state: 'suspended' }), []);
  await change('/unsuspend', { accountId: suspended, reason });
  assert.deepEqual(await walk({ search: 'filter', state: 'suspended' }), []);
});

test('200 one account with its balance, limits and counts', async () => {
  const { accountId, key } = await service.newAccount(1_000);
  await service.create(key, plainRequest);
  const data = await dataOf(operator.ask('GET', `${admin}/show`, { query: { accountId } }));
  const { createTime, ...account } = data['account'] as Record<string, unknown>;
  assert.ok(Number(createTime) > 0);
  assert.deepEqual(account, {
    accountId,
    name: 'test',
    balance: 835,
    unfinishedTasks: 1,
    maxUnfinishedTasks: 1000,
    creates: null,
    suspendTime: null,
    closeTime: null,
  });
  assert.deepEqual(data['counts'], { activeKeys: 1, waiting: 1, queuing: 0, generating: 0, tasks: 1 });
});

test('200 a new account has its opening credits in the ledger, and a key makes it usable', async () => {
  const opened = await dataOf(change('', { name: 'Fresh', credits: 500 }));
  const accountId = String(opened['accountId']);
  assert.equal(opened['balance'], 500);
  const made = await dataOf(operator.ask('POST', '/api/admin/v1/keys', { body: { accountId, name: 'first' } }));
  assert.deepEqual([made['scopes'], made['dialect']], [['tasks:write', 'tasks:read', 'credits:read'], 'native']);
  assert.equal((await service.create(String(made['key']), plainRequest)).status, 200);
  const listed = await dataOf(operator.ask('GET', '/api/admin/v1/keys', { query: { accountId } }));
  assert.deepEqual(
    (listed['keys'] as { keyId: string; uses: unknown }[]).map(({ keyId, uses }) => [keyId, uses]),
    [[made['keyId'], { tasks: 1, credits: 165 }]],
  );
  assert.ok(!JSON.stringify(listed).includes(String(made['key'])));
  await dataOf(operator.ask('POST', '/api/admin/v1/keys/revoke', { body: { keyId: made['keyId'] } }));
  assertRefused(await service.create(String(made['key']), plainRequest), 401, /valid API key/);
});

test('200 a key is made in the dialect that is asked for; the list and the audit log show it', async () => {
  const { accountId } = await service.newAccount(1_000);
  const body = { accountId, name: 'theirs', dialect: 'kie', scopes: ['tasks:read', 'tasks:read'] };
  const made = await dataOf(operator.ask('POST', '/api/admin/v1/keys', { body }));
  assert.deepEqual([made['dialect'], made['scopes']], ['kie', ['tasks:read']]);
  const { keys } = await dataOf(operator.ask('GET', '/api/admin/v1/keys', { query: { accountId } }));
  assert.deepEqual((keys as { dialect: string }[]).map(({ dialect }) => dialect).toSorted(), ['kie', 'native']);
  const { actions } = await dataOf(operator.ask('GET', '/api/admin/v1/audit', { query: { accountId } }));
  const [entry] = actions as { action: string; details: Record<string, unknown> }[];
  assert.deepEqual([entry?.action, entry?.details['dialect']], ['keys.create', 'kie']);
});

test('200 an account is renamed, once in the audit log; the same name again changes nothing', async () => {
  const accountId = await newAccountNamed('first account');
  const rename = () => dataOf(change('/rename', { accountId, name: 'Harbor Films' }));
  assert.equal((await rename())['name'], 'Harbor Films');
  assert.equal((await rename())['name'], 'Harbor Films');
  assert.equal((await findAccount(service.database.db, accountId))?.name, 'Harbor Films');
  const { actions } = await dataOf(operator.ask('GET', '/api/admin/v1/audit', { query: { accountId } }));
  const renames = (actions as { action: string; details: unknown }[]).filter(
    ({ action }) => action === 'accounts.rename',
  );
  assert.deepEqual(
    renames.map(({ details }) => details),
    [{ from: { name: 'first account' }, to: { name: 'Harbor Films' } }],
  );
  const unknown = await change('/rename', { accountId: randomUUID(), name: 'Harbor Films' });
  assert.equal(unknown.json.error, 'account_not_found');
});

test('422 unknown fields are named by their paths, each', async () => {
  const accountId = await newAccountNamed('a');
  const creates = { quota: 1, windowSeconds: 1, burst: 2 };
  const answer = await change('/limits', { accountId, creates, maxUnfinished: 3, rate: 1 });
  const unknown = 'unknown field';
  const errors = [
    { path: 'creates.burst', message: unknown },
    { path: 'maxUnfinished', message: `${unknown}, did you mean maxUnfinishedTasks?` },
    { path: 'rate', message: unknown },
  ];
  assertRefused(answer, 422, /unknown field/, { errors });
});

test('403 a suspended account creates nothing and makes no keys, but reads, cancels and is read', async () => {
  const { accountId } = await service.newAccount(1_000);
  const body = { accountId, name: 'all', scopes };
  const { key } = await dataOf(operator.ask('POST', '/api/admin/v1/keys', { body }));
  const client = askWith(service, String(key));
  const taskId = String((await service.create(String(key), plainRequest)).json.data['taskId']);
  const suspended = await dataOf(change('/suspend', { accountId, reason }));
  assert.ok(Number(suspended['suspendTime']) > 0);
  assertRefused(await service.create(String(key), plainRequest), 403, /suspended/);
  assertRefused(await client('POST', '/api/v1/keys', { body: { name: 'more' } }), 403, /suspended/);
  assert.equal((await service.recordInfo(String(key), taskId)).status, 200);
  assert.equal((await client('GET', '/api/v1/credits')).status, 200);
  assert.equal((await operator.ask('GET', '/api/admin/v1/tasks/show', { query: { taskId } })).status, 200);
  assert.equal((await operator.ask('GET', '/api/admin/v1/credits', { query: { accountId } })).status, 200);
  const cancelled = await client('POST', '/api/v1/jobs/cancelTask', { body: { taskId } });
  assert.equal(cancelled.json.data['creditsRefunded'], 165);
  const again = await dataOf(change('/suspend', { accountId, reason: 'again' }));
  assert.equal(again['suspendTime'], suspended['suspendTime'], 'since when it is suspended stays');
  await dataOf(change('/unsuspend', { accountId, reason: 'paid' }));
  assert.equal((await service.create(String(key), plainRequest)).status, 200);
});

test('200 limits are set one by one, and the log keeps what they were', async () => {
  const { accountId, key } = await service.newAccount(1_000);
  const limited = await dataOf(change('/limits', { accountId, maxUnfinishedTasks: 1 }));
  assert.deepEqual([limited['maxUnfinishedTasks'], limited['creates']], [1, null]);
  assert.equal((await service.create(key, plainRequest)).status, 200);
  assertRefused(await service.create(key, plainRequest), 429, /unfinished/, { limit: 1 });
  const creates = { quota: 1, windowSeconds: 3600 };
  const slow = await dataOf(change('/limits', { accountId, maxUnfinishedTasks: 5, creates }));
  assert.deepEqual([slow['maxUnfinishedTasks'], slow['creates']], [5, creates]);
  assert.deepEqual(
    [(await service.create(key, plainRequest)).status, (await service.create(key, plainRequest)).status],
    [200, 429],
  );
  assert.deepEqual((await dataOf(change('/limits', { accountId, creates: null })))['creates'], null);
  assert.equal((await service.create(key, plainRequest)).status, 200);
  const details = (await listOperatorActions(service.database.db, { accountId, limit: 10 })).map(
    (action) => action.details,
  );
  assert.deepEqual(details[1], {
    from: { maxUnfinishedTasks: 1, creates: null },
    to: { maxUnfinishedTasks: 5, creates: { quota: 1, windowMs: 3_600_000 } },
  });
});

for (const [path, body] of [
  ['/suspend', { reason }],
  ['/unsuspend', { reason }],
  ['/limits', { maxUnfinishedTasks: 1 }],
] as const) {
  test(`404 ${path} of an account that is not there; 422 of an id that is none`, async () => {
    assertRefused(await change(path, { accountId: randomUUID(), ...body }), 404, /account not found/);
    assert.equal((await change(path, { accountId: '../../..', ...body })).status, 422);
    assert.equal((await change(path, body)).status, 422);
  });
}

for (const [what, path, body] of [
  ['a suspension without a reason', '/suspend', {}],
  ['no name', '', {}],
  ['a name of white space', '', { name: '  ' }],
  ['a name of 201 characters', '', { name: 'a'.repeat(201) }],
  ['a name with a NUL', '', { name: 'a\u0000' }],
  ['debts', '', { name: 'a', credits: -1 }],
  ['a misspelt field', '', { name: 'a', credit: 5 }],
  ['limits below zero', '/limits', { maxUnfinishedTasks: -1 }],
  ['a rate without a window', '/limits', { creates: { quota: 1 } }],
  ['a rate of nothing', '/limits', { creates: { quota: 0, windowSeconds: 1 } }],
  ['a window beyond a day', '/limits', { creates: { quota: 1, windowSeconds: 86_401 } }],
] as const) {
  test(`422 ${what}`, async () => {
    const { accountId } = await service.newAccount(0);
    assert.equal((await change(path, path === '' ? body : { accountId, ...body })).status, 422);
  });
}

for (const query of [
  { search: 'a'.repeat(201) },
  { search: '\u0000' },
  { state: 'gone' },
  { limit: '101' },
  { cursor: 'x' },
  { name: 'a' },
]) {
  test(`422 a list with ${JSON.stringify(query).slice(0, 40)}`, async () => {
    assert.equal((await operator.ask('GET', admin, { query: { ...query } })).status, 422);
  });
}

for (const [what, extra] of [
  ['a scope that there is not', { scopes: ['admin'] }],
  ['no scopes', { scopes: [] }],
  ['an expiry that is past', { expireTime: 1 }],
] as const) {
  test(`422 a key with ${what}`, async () => {
    const { accountId } = await service.newAccount(0);
    const body = { accountId, name: 'a', ...extra };
    assert.equal((await operator.ask('POST', '/api/admin/v1/keys', { body })).status, 422);
  });
}

test('409 an account has a hundred active keys at most, also of operators', async () => {
  const { accountId } = await service.newAccount(0);
  const body = { accountId, name: 'a' };
  for (let made = 1; made < 100; made += 1) await dataOf(operator.ask('POST', '/api/admin/v1/keys', { body }));
  assertRefused(await operator.ask('POST', '/api/admin/v1/keys', { body }), 409, /too many active keys/, {
    limit: 100,
  });
});

test('404 keys of an account that is not there, and a key that is not there', async () => {
  const accountId = randomUUID();
  assertRefused(await operator.ask('GET', '/api/admin/v1/keys', { query: { accountId } }), 404, /account not found/);
  const body = { keyId: randomUUID() };
  assertRefused(await operator.ask('POST', '/api/admin/v1/keys/revoke', { body }), 404, /key not found/);
  assertRefused(await operator.ask('GET', `${admin}/show`, { query: { accountId } }), 404, /account not found/);
});
