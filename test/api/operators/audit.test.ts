import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { newPerson } from '../../support/service/person.ts';

let service: HttpService;
let ada: TestOperator;
let bob: TestOperator;
before(async () => {
  service = await startHttpService();
  [ada, bob] = [await createTestOperator(service), await createTestOperator(service)];
});
after(() => service.close());

type Action = {
  readonly actionId: number;
  readonly action: string;
  readonly accountId: string | null;
  readonly actor: { readonly operatorId: string | null };
  readonly createTime: number;
  readonly details: unknown;
};

async function walk(query: Record<string, string>): Promise<readonly Action[]> {
  const all: Action[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = { limit: '2', ...query, ...(cursor !== undefined && { cursor }) };
    const data = await dataOf(ada.ask('GET', '/api/admin/v1/audit', { query: page }));
    // The service holds its answers against the schema of the endpoint.
    all.push(...(data['actions'] as Action[]));
    cursor = data['nextCursor'] as string | null;
  }
  return all;
}

async function openAccount(operator: TestOperator): Promise<string> {
  const data = await dataOf(operator.ask('POST', '/api/admin/v1/accounts', { body: { name: 'a' } }));
  return String(data['accountId']);
}

test('200 the log is listed newest first, of one account or one operator or both, without gaps', async () => {
  const [one, two] = [await openAccount(ada), await openAccount(bob)];
  for (const operator of [ada, bob, ada]) {
    for (const accountId of [one, two]) {
      const path = operator === bob ? 'unsuspend' : 'suspend';
      await operator.ask('POST', `/api/admin/v1/accounts/${path}`, { body: { accountId, reason: 'x' } });
    }
  }
  const all = await walk({});
  assert.equal(all.length, 8);
  assert.deepEqual(
    all.map(({ actionId }) => actionId),
    all.map(({ actionId }) => actionId).toSorted((a, b) => b - a),
  );
  assert.deepEqual(
    await walk({ accountId: one }),
    all.filter(({ accountId }) => accountId === one),
  );
  assert.deepEqual(
    (await walk({ accountId: one })).map(({ action }) => action),
    ['accounts.suspend', 'accounts.unsuspend', 'accounts.suspend', 'accounts.create'],
  );
  const ofBob = all.filter(({ actor }) => actor.operatorId === bob.operatorId);
  assert.equal(ofBob.length, 3);
  assert.deepEqual(await walk({ operatorId: bob.operatorId }), ofBob);
  assert.deepEqual(
    await walk({ operatorId: bob.operatorId, accountId: one }),
    ofBob.filter(({ accountId }) => accountId === one),
  );
});

test('200 an entry names who acted, on what, and the request; a person by their e-mail', async () => {
  const person = await newPerson(service, { isOperator: true });
  const { accountId, key } = await service.newAccount(1_000);
  const taskId = String((await service.create(key, plainRequest)).json.data['taskId']);
  const made = await ada.ask('POST', '/api/admin/v1/keys', { body: { accountId, name: 'a' } });
  const { keyId } = made.json.data;
  const cancelled = await person.ask('POST', '/api/admin/v1/tasks/cancel', { body: { taskId, reason: 'a test' } });
  assert.equal(cancelled.status, 200, cancelled.json.msg);
  const shown = (await walk({ accountId })).map(
    ({ actionId: _id, createTime: _time, details: _details, ...entry }) => entry,
  );
  const about = { accountId, accountName: 'test' };
  const noIds = { operatorId: null, userId: null };
  assert.deepEqual(shown, [
    {
      ...about,
      action: 'tasks.cancel',
      actor: {
        ...noIds,
        kind: 'user',
        userId: person.userId,
        name: person.email,
        requestId: cancelled.headers['x-request-id'],
      },
      taskId,
      keyId: null,
    },
    {
      ...about,
      action: 'keys.create',
      actor: {
        ...noIds,
        kind: 'operator',
        operatorId: ada.operatorId,
        name: 'ada',
        requestId: made.headers['x-request-id'],
      },
      taskId: null,
      keyId,
    },
  ]);
});

for (const text of [
  `update operator_actions set details = '{}'`,
  'delete from operator_actions',
  'truncate operator_actions',
]) {
  test(`the database itself refuses to ${text.split(' ')[0] ?? ''} what is in the log`, async () => {
    await openAccount(ada);
    const { db } = service.database;
    await assert.rejects(db.run({ name: `test-${text.slice(0, 6)}`, text }), /operator_actions is not allowed/);
  });
}

for (const query of [
  { accountId: 'x' },
  { operatorId: 'x' },
  { cursor: '0' },
  { cursor: 'x' },
  { limit: '101' },
  { action: 'x' },
]) {
  test(`422 ${JSON.stringify(query)}`, async () => {
    assert.equal((await ada.ask('GET', '/api/admin/v1/audit', { query: { ...query } })).status, 422);
  });
}
