import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { ordinaryScopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { recordDeliveryAttempt, type RecordedAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { exchangeOf } from '../../../src/tasks/callbacks/recorded-exchange.ts';
import { createOperator } from '../../../src/accounts/operators/operator-keys.ts';
import { parseAllowList } from '../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient } from '../../../src/platform/outbound/guarded-client.ts';
import { isReachableByAll } from '../../../src/platform/outbound/guard/guard.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
let account: { accountId: string; key: string };
let operatorKey: string;
before(async () => {
  service = await startHttpService();
  account = await service.newAccount(100_000, ordinaryScopes);
  operatorKey = (await createOperator(service.database.db, { name: 'ada' })).key;
});
after(() => service.close());

const url = 'https://receiver.example/hook';
const sent = { headers: { 'webhook-id': 'msg_1', 'webhook-signature': 'v1,secret' }, body: '{"code":200}' };
const headers = { 'content-type': 'text/plain' };
const shownRequest = {
  headers: [
    { name: 'webhook-id', value: 'msg_1' },
    { name: 'webhook-signature', value: '(hidden)' },
  ],
  body: '{"code":200}',
  isBodyCut: false,
};

async function endedTask(...attempts: readonly Partial<RecordedAttempt>[]): Promise<string> {
  const created = await service.create(account.key, { ...plainRequest, callBackUrl: url });
  const taskId = String(created.json.data['taskId']);
  await failAndRefund(service.database.db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  for (const attempt of attempts) {
    const plain = { startedAt: 1_790_000_000_123, durationMs: 77, status: 500, error: undefined };
    await recordDeliveryAttempt(service.database.db, {
      delivery: { deliveryId: taskId, redeliveries: 0 },
      attempt: { ...plain, responseHead: Buffer.from('it broke'), ...attempt },
      newState: { state: 'pending', dueAt: 4_000_000_000_000 },
    });
  }
  return taskId;
}

function read(query: string, key = account.key, path = '/api/v1/callbacks/attempt'): Promise<Answer> {
  return service.send('GET', `${path}?${query}`, { headers: { authorization: `Bearer ${key}` } });
}

const asOperator = (query: string) => read(query, operatorKey, '/api/admin/v1/callbacks/attempt');

function assertMissing({ status, json }: Answer): void {
  assert.deepEqual([status, json.error], [404, 'attempt_not_found']);
}

test('an attempt shows what was sent, without signatures, and the beginning of a public response; the latest one by default', async () => {
  const exchange = exchangeOf(sent, { headers, isPublic: true });
  const taskId = await endedTask({ exchange: exchangeOf(sent) }, { exchange });
  const { json } = await read(`deliveryId=${taskId}`);
  assert.deepEqual(json.data, {
    webhookId: `msg_${taskId.replaceAll('-', '')}`,
    url,
    attempt: 2,
    startTime: 1_790_000_000_000,
    status: 500,
    durationMs: 77,
    error: null,
    request: shownRequest,
    response: { headers: [{ name: 'content-type', value: 'text/plain' }], body: 'it broke' },
    isResponseHidden: false,
  });
  assert.equal((await read(`deliveryId=${taskId}&attempt=1`)).json.data['attempt'], 1);
});

test('the response of a receiver in a private network is shown to operators only, also where nothing says that it is public', async () => {
  const exchange = exchangeOf(sent, { headers, isPublic: false });
  const taskId = await endedTask({ exchange }, { exchange: undefined });
  const own = await read(`deliveryId=${taskId}&attempt=1`);
  assert.deepEqual(
    [own.json.data['request'], own.json.data['response'], own.json.data['isResponseHidden']],
    [shownRequest, null, true],
  );
  const unrecorded = await read(`deliveryId=${taskId}&attempt=2`);
  assert.deepEqual([unrecorded.json.data['request'], unrecorded.json.data['response']], [null, null]);
  assert.doesNotMatch(own.bytes.toString() + unrecorded.bytes.toString(), /it broke|text\/plain/);
  assert.match((await asOperator(`deliveryId=${taskId}&attempt=1`)).bytes.toString(), /it broke/);
});

test('an unreachable receiver shows the request alone, and nothing before the longest possible attempt would have ended', async () => {
  const failed = { status: undefined, error: 'blocked', responseHead: undefined, exchange: exchangeOf(sent) };
  const taskId = await endedTask(failed, { ...failed, startedAt: Date.now() + 600_000 });
  const old = await read(`deliveryId=${taskId}&attempt=1`);
  const { request, response, error, durationMs, isResponseHidden } = old.json.data;
  assert.deepEqual(
    [request, response, error, durationMs, isResponseHidden],
    [shownRequest, null, 'unreachable', null, false],
  );
  assertMissing(await read(`deliveryId=${taskId}&attempt=2`));
  assert.equal((await asOperator(`deliveryId=${taskId}&attempt=2`)).status, 200);
});

test('404 for attempts of another account, and for deliveries and attempts that do not exist', async () => {
  const taskId = await endedTask({});
  const other = await service.newAccount(1, ordinaryScopes);
  assertMissing(await read(`deliveryId=${taskId}`, other.key));
  for (const query of [`deliveryId=${taskId}&attempt=2`, 'deliveryId=none', `deliveryId=${account.accountId}`]) {
    assertMissing(await read(query));
    assertMissing(await asOperator(query));
  }
  assertMissing(await read(`deliveryId=${await endedTask()}`));
});

test('only addresses that clients could reach without an allow-list are public', async () => {
  const target = { hostname: 'receiver.example', port: 443 };
  for (const address of [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '168.63.129.16',
    'fd00::1',
    '::ffff:10.1.2.3',
    '',
  ]) {
    assert.equal(isReachableByAll(address, target), false, address);
  }
  assert.equal(isReachableByAll('93.184.216.34', target), true);
  assert.equal(isReachableByAll('93.184.216.34', { ...target, port: 25 }), false);

  const server = createServer((_request, response) => response.end('private'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const client = createGuardedClient({ allow: parseAllowList(`127.0.0.1:${port}`) });
  const limits = { headers: {}, body: '', timeoutMs: 60_000, maxResponseBytes: 100 };
  const answer = await client.post(`http://127.0.0.1:${port}/`, limits);
  assert.deepEqual([answer.body.toString(), answer.isPublic], ['private', false]);
  await client.close();
  server.close();
});
