import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ReceiverError } from '../../../src/tasks/callbacks/receiver-error.ts';
import { OutboundError } from '../../../src/platform/outbound/outbound-error.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { askWith, dataOf } from '../../support/service/operator-key.ts';

let service: HttpService;
let answerOf: () => Promise<number | ReceiverError> = () => Promise.resolve(204);
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

const url = 'https://receiver.example/hook';
const post = (key: string, body: object) => askWith(service, key)('POST', '/api/v1/callbacks/test', { body });

for (const [answer, delivered] of [
  [204, true],
  [500, false],
  ['unreachable', false],
  ['tls', false],
] as const) {
  test(`200 a receiver that answers ${answer} would ${delivered ? '' : 'not '}count`, async () => {
    const { key, accountId } = await service.newAccount(0);
    answerOf = () => Promise.resolve(answer);
    const webhookId = `msg_${'0'.repeat(32)}`;
    const [status, error] = typeof answer === 'number' ? [answer, null] : [null, answer];
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
