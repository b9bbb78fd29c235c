import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { generateApiKey } from '../../../src/accounts/keys/key-format.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { isConsoleApiPath } from '../../../src/api/core/endpoint-spec.ts';
import { endpoints } from '../../../src/api/endpoints.ts';
import { errorShapeOfPath } from '../../../src/api/dialects/shapes.ts';
import { createBadKeyLimiter, createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { createOperator, listOperators, revokeOperator } from '../../../src/accounts/operators/operator-keys.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { askWith, createTestOperator, type TestOperator } from '../../support/service/operator-key.ts';

const operatorEndpoints = endpoints.filter(({ scope }) => scope === 'operator');

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(async () => {
  const violations = await auditLedger(service.database.db);
  await service.close();
  assert.deepEqual(violations, []);
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
const send = (method: string, path: string, headers: Record<string, string>): Promise<Answer> =>
  service.send(method.toUpperCase(), path, { headers, ...(method === 'post' && { body: '{}' }) });

const invalidKeyAnswer = async () => (await send('get', '/api/v1/credits', {})).bytes.toString();

test('the endpoints for operators are those under /api/admin/v1, and all take the keys of operators only', () => {
  assert.ok(operatorEndpoints.length >= 18);
  for (const { path, scope, operationId } of endpoints) {
    assert.equal(path.startsWith('/api/admin/v1/'), scope === 'operator', operationId);
  }
});

for (const { method, path, operationId } of operatorEndpoints) {
  test(`401 ${operationId} rejects the key of a client, even with all scopes, and requests without one`, async () => {
    const { accountId } = await service.newAccount(0);
    const created = await createKeyUnchecked(service.database.db, { accountId, name: 'all', scopes });
    assert.ok(created);
    for (const headers of [bearer(created.key), bearer(generateApiKey('operator')), {}]) {
      const answer = await send(method, path, headers);
      assertRefused(answer, 401, /valid API key/);
      assert.equal(answer.bytes.toString(), await invalidKeyAnswer());
    }
  });
}

for (const { method, path, operationId, scope } of endpoints) {
  if (scope === 'none' || scope === 'operator') continue;
  test(`401 ${operationId} rejects the key of an operator`, async () => {
    const answer = await send(method, path, bearer(operator.key));
    if (isConsoleApiPath(path)) return assertRefused(answer, 401, /sign in/);
    if (errorShapeOfPath(path) !== undefined) {
      assert.equal(answer.status, 401);
      return assert.match(answer.bytes.toString(), /"unauthorized"/);
    }
    assertRefused(answer, 401, /valid API key/);
    assert.equal(answer.bytes.toString(), await invalidKeyAnswer());
  });
}

test('401 a revoked operator from the next request on, and one that has expired', async () => {
  const { db } = service.database;
  const [leaving, expired] = [
    await createTestOperator(service),
    await createOperator(db, { name: 'a', expiresAt: 1000 }),
  ];
  assert.equal((await leaving.ask('GET', '/api/admin/v1/accounts')).status, 200);
  const revoked = await revokeOperator(db, leaving.operatorId);
  assert.equal(revoked?.changed, true);
  assert.deepEqual(await revokeOperator(db, leaving.operatorId), { ...revoked, changed: false });
  for (const { key } of [leaving, expired]) {
    const answer = await askWith(service, key)('GET', '/api/admin/v1/accounts');
    assert.equal(answer.bytes.toString(), await invalidKeyAnswer());
  }
  assert.equal((await operator.ask('GET', '/api/admin/v1/accounts')).status, 200);
});

test('only the hash of a key is stored, and its use is recorded', async () => {
  const { operatorId, key, ask } = await createTestOperator(service);
  const shown = async () => (await listOperators(service.database.db)).find((one) => one.operatorId === operatorId);
  assert.equal((await shown())?.lastUsedAt, undefined);
  await ask('GET', '/api/admin/v1/accounts');
  const first = (await shown())?.lastUsedAt;
  assert.ok(first);
  await ask('GET', '/api/admin/v1/accounts');
  assert.equal((await shown())?.lastUsedAt, first, 'at most once a minute');
  const text = `select to_jsonb(operators)::text as row from operators`;
  const rows = await service.database.db.run<{ row: string }>({ name: 'test-operators', text });
  assert.ok(rows.every(({ row }) => !row.includes(key)));
  assert.match((await shown())?.hint ?? '', /^vgop_.{4}…/);
});

test('429 guessing keys of operators is rate-limited like any other guessing; operators with a recent valid key are not', async () => {
  const badKeys = createBadKeyLimiter(createRateLimiter({ quota: 3, windowMs: 3_600_000 }));
  const slow = await startHttpService({ badKeys, database: service.database });
  try {
    const ask = (key: string) => askWith(slow, key)('GET', '/api/admin/v1/accounts');
    assert.equal((await ask(operator.key)).status, 200);
    for (const bad of [generateApiKey('operator'), generateApiKey(), 'x'])
      assertRefused(await ask(bad), 401, /valid API key/);
    assertRefused(await ask(generateApiKey('operator')), 429, /too many invalid API keys/);
    assert.equal((await ask(operator.key)).status, 200);
  } finally {
    await slow.close();
  }
});
