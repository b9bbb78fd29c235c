import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setEventEndpoint } from '../../../src/tasks/callbacks/event-endpoint.ts';
import type { TestCallbackRequest } from '../../../src/tasks/callbacks/send-test-callback.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { askWith } from '../../support/service/operator-key.ts';
import { newMember } from '../../support/service/person.ts';

let service: HttpService;
let outcome: Awaited<ReturnType<HttpService['deps']['testCallback']>> = 204;
/** Tests wait for it before they end. */
let end: Promise<void> = Promise.resolve();
let begun = () => {};
const sent: TestCallbackRequest[] = [];
before(async () => {
  service = await startHttpService({
    testCallback: async (request) => {
      sent.push(request);
      begun();
      await end;
      return outcome;
    },
    refuseCallbackUrl: (url) => (url.includes('private') ? 'must be public' : undefined),
  });
});
after(() => service.close());

const webhookId = 'msg_00000000000000000000000000000000';
const runTest = (key: string, what: 'callbacks' | 'events', body: object) =>
  askWith(service, key)('POST', `/api/v1/${what}/test`, { body });

for (const [given, status, error, delivered] of [
  [200, 200, null, true],
  [299, 299, null, true],
  [199, 199, null, false],
  [300, 300, 'redirected', false],
  [399, 399, 'redirected', false],
  [400, 400, null, false],
  ['timeout', null, 'timeout', false],
] as const) {
  test(`200 a test whose receiver gave ${given} has delivered: ${delivered}`, async () => {
    const { accountId, key } = await service.newAccount(0);
    outcome = given;
    const url = 'https://receiver.example/hook';
    const { json } = await runTest(key, 'callbacks', { url });
    assert.deepEqual(json.data, { webhookId, status, error, delivered });
    assert.deepEqual(sent.at(-1), { accountId, url, dialect: 'native' });
    outcome = 204;
  });
}

test('422 a URL that may not be called is not called', async () => {
  const { key } = await service.newAccount(0);
  const earlier = sent.length;
  const { status, json } = await runTest(key, 'callbacks', { url: 'https://private.example/' });
  assert.deepEqual([status, json.data], [422, { errors: [{ path: 'url', message: 'must be public' }] }]);
  assert.equal(sent.length, earlier);
});

test('200 a test event of the chosen type goes to the endpoint of the account; 404 without one', async () => {
  const [own, other] = [await service.newAccount(0), await service.newAccount(0)];
  const { db } = service.database;
  await setEventEndpoint(db, own.accountId, { url: 'https://own.example/', types: ['balance.low'] });
  const { json } = await runTest(own.key, 'events', { type: 'balance.low' });
  assert.deepEqual(json.data, { webhookId, status: 204, error: null, delivered: true });
  const about = { accountId: own.accountId, url: 'https://own.example/', dialect: 'native' } as const;
  assert.deepEqual(sent.at(-1), { ...about, event: 'balance.low' });
  await runTest(own.key, 'events', {});
  assert.deepEqual(sent.at(-1), { ...about, event: 'task.succeeded' });
  assert.equal((await runTest(other.key, 'events', {})).json.error, 'event_endpoint_not_found');
});

test('409 an account has one test at a time, of either kind; another account does not wait', async () => {
  const [own, other] = [await service.newAccount(0), await service.newAccount(0)];
  await setEventEndpoint(service.database.db, own.accountId, { url: 'https://own.example/', types: ['balance.low'] });
  let finish = () => {};
  end = new Promise((resolve) => (finish = resolve));
  const isFirstBegun = new Promise<void>((resolve) => (begun = resolve));
  const url = 'https://receiver.example/';
  const first = runTest(own.key, 'callbacks', { url });
  await isFirstBegun;
  for (const [what, body] of [
    ['callbacks', { url }],
    ['events', {}],
  ] as const)
    assert.equal((await runTest(own.key, what, body)).json.error, 'callback_test_running');
  const isSecondBegun = new Promise<void>((resolve) => (begun = resolve));
  const second = runTest(other.key, 'callbacks', { url });
  // A refused one does not begin.
  await Promise.race([isSecondBegun, second]);
  finish();
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
  assert.equal((await runTest(own.key, 'callbacks', { url })).status, 200);
});

test('403 keys and people who may not create tasks, and suspended accounts, test nothing', async () => {
  const reader = await service.newAccount(0, ['tasks:read']);
  const suspended = await service.newAccount(0);
  const text = 'update accounts set suspended_at = now() where id = $1';
  await service.database.db.run({ name: 'test-suspend', text }, [suspended.accountId]);
  const { accountId, person } = await newMember(service, 'viewer');
  const earlier = sent.length;
  for (const [what, body] of [
    ['callbacks', { url: 'https://receiver.example/' }],
    ['events', {}],
  ] as const) {
    const answers = [
      await runTest(reader.key, what, body),
      await person.ask('POST', `/api/v1/${what}/test`, { accountId, body }),
      await runTest(suspended.key, what, body),
    ];
    assert.deepEqual(
      answers.map(({ status, json }) => [status, json.error]),
      [
        [403, 'scope_missing'],
        [403, 'scope_missing'],
        [403, 'account_suspended'],
      ],
    );
  }
  assert.equal(sent.length, earlier);
});
