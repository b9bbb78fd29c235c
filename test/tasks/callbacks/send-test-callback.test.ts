import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { callbackFormatOf } from '../../../src/api/dialects/shapes.ts';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { parseAllowList } from '../../../src/platform/outbound/guard/allow-list.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import type { ReceiverErrorKind } from '../../../src/tasks/callbacks/receiver-error.ts';
import { createTestCallbackSender } from '../../../src/tasks/callbacks/send-test-callback.ts';
import { ensureSigningSecrets } from '../../../src/tasks/callbacks/signing-secrets.ts';
import { OutboundError } from '../../../src/platform/outbound/outbound-error.ts';
import { startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { askWith, dataOf } from '../../support/service/operator-key.ts';

let service: HttpService;
let answerOf: () => Promise<number | ReceiverErrorKind> = () => Promise.resolve(204);
const sent: object[] = [];
before(async () => {
  service = await startHttpService({
    testCallback: (wanted) => {
      sent.push(wanted);
      return answerOf();
    },
    refuseCallbackUrl: (url) => (url.includes('10.0.0.1') ? 'must not be a private address' : undefined),
  });
});
after(() => service.close());

type Sent = { readonly type?: string; readonly eventId?: string; readonly data: Readonly<Record<string, unknown>> };

const url = 'https://receiver.example/hook';
const post = (key: string, body: object) => askWith(service, key)('POST', '/api/v1/callbacks/test', { body });

for (const [answer, delivered] of [
  [199, false],
  [200, true],
  [299, true],
  [300, false],
  [500, false],
  ['unreachable', false],
  ['tls', false],
] as const) {
  test(`200 a receiver that answers ${answer} would ${delivered ? '' : 'not '}count`, async () => {
    const { key, accountId } = await service.newAccount(0);
    answerOf = () => Promise.resolve(answer);
    const webhookId = `msg_${'0'.repeat(32)}`;
    const [status, error] =
      typeof answer === 'number' ? [answer, answer === 300 ? 'redirected' : null] : [null, answer];
    assert.deepEqual(await dataOf(post(key, { url })), { webhookId, status, error, delivered });
    assert.deepEqual(sent.at(-1), { accountId, url, dialect: 'native' });
  });
}

test('503 a test of a host that other accounts are testing', async () => {
  const { key } = await service.newAccount(0);
  answerOf = () => Promise.reject(new OutboundError('busy', 'receiver.example'));
  const { status, json } = await post(key, { url });
  assert.deepEqual([status, json.error], [503, 'tests_busy']);
});

test('409 a second test of the account, until the first is over', async () => {
  const [mine, other] = [await service.newAccount(0), await service.newAccount(0)];
  let release: (status: number) => void = () => {};
  let onCall: () => void = () => {};
  const called = new Promise<void>((resolve) => {
    onCall = resolve;
  });
  answerOf = () => {
    onCall();
    return new Promise((resolve) => {
      release = resolve;
    });
  };
  const first = post(mine.key, { url });
  await called;
  const { status, json } = await post(mine.key, { url });
  assert.deepEqual([status, json.error], [409, 'callback_test_running']);
  const releaseFirst = release;
  answerOf = () => Promise.resolve(204);
  assert.equal((await post(other.key, { url })).status, 200);
  releaseFirst(204);
  assert.equal((await first).status, 200);
  assert.equal((await post(mine.key, { url })).status, 200);
});

for (const body of [{}, { url: 'ftp://x' }, { url: 7 }, { url: 'http://10.0.0.1/' }, { url, body: 'x' }]) {
  test(`422 ${JSON.stringify(body)}`, async () => {
    const { key } = await service.newAccount(0);
    const posted = sent.length;
    const { status, json } = await post(key, body);
    assert.deepEqual([status, json.error, sent.length], [422, 'invalid_request', posted]);
  });
}

test('403 without the scope, or when suspended', async () => {
  const { key } = await service.newAccount(0, ['tasks:read']);
  assert.equal((await post(key, { url })).status, 403);
  assert.equal((await post(await suspendedKey(), { url })).json.error, 'account_suspended');
});

async function suspendedKey(): Promise<string> {
  const { accountId, key } = await service.newAccount(0);
  const text = 'update accounts set suspended_at = now() where id = $1';
  await service.database.db.run({ name: 'test-suspend', text }, [accountId]);
  return key;
}

const aTask = { taskId: '00000000-0000-0000-0000-000000000000', state: 'success', failCode: null };
for (const [event, data] of [
  [undefined, aTask],
  ['task.succeeded', aTask],
  ['task.failed', { ...aTask, state: 'fail', failCode: 'internal' }],
  ['task.cancelled', { ...aTask, state: 'fail', failCode: 'cancelled' }],
  ['balance.low', { balance: 90, lowBalance: 100 }],
  [
    'key.cap_reached',
    { subject: 'account', subjectId: aTask.taskId, period: 'total', cap: 1_000, spent: 1_000, resetTime: null },
  ],
] as const) {
  test(`a test of ${event ?? 'a callback'} has the body and the signature of a real one`, async (t) => {
    const receiver = await startCallbackReceiver();
    t.after(() => receiver.close());
    const { db } = service.database;
    const box = createSecretBox('s'.repeat(32));
    const { models } = builtInCatalogue();
    const callbacks = createTestCallbackSender({
      db,
      box,
      log: service.deps.log,
      models: () => models,
      callbackFormatOf,
      serviceName: 'test',
      own: [],
      allow: parseAllowList('127.0.0.0/8'),
    });
    t.after(callbacks.close);
    const { accountId } = await service.newAccount(0);
    const order = { accountId, url: `${receiver.url}/hook`, dialect: 'native', ...(event && { event }) } as const;
    assert.equal(await callbacks.send(order), 204);
    const [{ headers, body } = assert.fail('nothing was sent')] = receiver.received;
    const { type, eventId, data: record } = JSON.parse(body) as Sent; // as it was sent
    assert.deepEqual([type, eventId], event === undefined ? [undefined, undefined] : [event, aTask.taskId]);
    const shown =
      'state' in data ? { taskId: record['taskId'], state: record['state'], failCode: record['failCode'] } : record;
    assert.deepEqual(shown, data);
    const [secret = ''] = await ensureSigningSecrets(db, box, accountId, event === undefined ? 'callback' : 'event');
    new Webhook(secret).verify(body, {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    });
  });
}
