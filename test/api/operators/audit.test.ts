import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';

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
