import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deliveryErrorOfOutcome,
  presentOwnAttemptDetails,
  presentCallback,
  presentOperatorAttemptDetails,
  presentOperatorCallback,
} from '../../../src/api/callbacks/callback-view.ts';
import { callbackTimeoutMs } from '../../../src/tasks/callbacks/callback-schedule.ts';
import type { Delivery, DeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { recordedError } from '../../../src/tasks/callbacks/receiver-error.ts';
import { exchangeOf } from '../../../src/tasks/callbacks/recorded-exchange.ts';

const deliveryId = '018f0000-0000-7000-8000-00000000000a';
const shown = { webhookId: 'msg_018f000000007000800000000000000a', url: 'https://receiver.example/hook' };
/** In whole seconds, unlike the times below. */
const second = 1_790_000_000_000;

const delivery: Delivery = {
  deliveryId,
  accountId: 'account',
  accountName: 'studio',
  taskId: 'task',
  event: undefined,
  details: undefined,
  url: shown.url,
  dialect: 'native',
  state: 'pending',
  redeliveries: 3,
  createdAt: 1_001,
  finishedAt: 1_002,
  dueAt: second + 90_123,
};
const answered: DeliveryAttempt = {
  attempt: 2,
  startedAt: second + 456,
  durationMs: 77,
  status: 500,
  error: undefined,
  responseHead: Buffer.from('it broke'),
};
const unreachable: DeliveryAttempt = {
  ...answered,
  attempt: 1,
  status: undefined,
  error: 'dns',
  responseHead: undefined,
};
const shownAnswered = { attempt: 2, startTime: second, status: 500, durationMs: 77, error: null };
const shownUnreachable = { attempt: 1, startTime: second, status: null, durationMs: null, error: 'unreachable' };
/** When an attempt that began with the others can have ended at the latest. */
const endedMs = answered.startedAt + callbackTimeoutMs;

/** What an account reads that may differ between two deliveries. */
function own(changes: Partial<Delivery>, attempts: readonly DeliveryAttempt[], nowMs: number) {
  const {
    state,
    completeTime,
    nextAttemptTime,
    attempts: visible,
  } = presentCallback({ ...delivery, ...changes }, attempts, nowMs);
  return [state, completeTime, nextAttemptTime, visible.length];
}

test('an account reads its callback with the times of attempts in whole seconds', () => {
  assert.deepEqual(presentCallback(delivery, [answered, unreachable], endedMs), {
    taskId: deliveryId,
    ...shown,
    state: 'pending',
    createTime: 1_001,
    completeTime: null,
    nextAttemptTime: second + 90_000,
    attempts: [shownAnswered, shownUnreachable],
  });
});

test('a callback has a next attempt until the moment when that is due', () => {
  const { dueAt } = delivery;
  assert.deepEqual(own({}, [answered], dueAt - 1), ['pending', null, second + 90_000, 1]);
  assert.deepEqual(own({}, [answered], dueAt), ['pending', null, null, 1]);
  assert.deepEqual(own({ state: 'delivered' }, [answered], dueAt - 1), ['delivered', 1_002, null, 1]);
  assert.deepEqual(own({ state: 'rejected' }, [answered], dueAt - 1), ['rejected', 1_002, null, 1]);
});

test('an attempt without a status is shown from the moment when the longest attempt would have ended, and nothing shows it before', () => {
  const attempts = [unreachable, answered];
  for (const state of ['pending', 'failed'] as const)
    assert.deepEqual(own({ state }, attempts, endedMs - 1), ['pending', null, null, 1]);
  assert.deepEqual(own({ state: 'delivered' }, attempts, endedMs - 1), ['delivered', 1_002, null, 1]);
  assert.deepEqual(own({ state: 'pending' }, attempts, endedMs), ['pending', null, second + 90_000, 2]);
  assert.deepEqual(own({ state: 'failed' }, attempts, endedMs), ['failed', second + 90_000, null, 2]);
});

test('the duration of an attempt without a status is shown of public receivers alone', () => {
  const error = recordedError({ kind: 'connect', isPublic: true });
  const [attempt] = presentCallback(delivery, [{ ...unreachable, error }], endedMs).attempts;
  assert.deepEqual(attempt, { ...shownUnreachable, durationMs: 77, error: 'refused' });
});

for (const [outcome, error] of [
  [299, null],
  [300, 'redirected'],
  [399, 'redirected'],
  [400, null],
  ['timeout', 'timeout'],
] as const)
  test(`the error of ${outcome} is ${error}`, () => assert.equal(deliveryErrorOfOutcome(outcome), error));

test('operators read callbacks and events with exact times, network errors and responses', () => {
  const error = recordedError({ kind: 'connect', isPublic: true });
  const attempts = [answered, { ...unreachable, error }];
  const expected = {
    taskId: 'task',
    event: null,
    ...shown,
    state: 'pending',
    createTime: 1_001,
    completeTime: 1_002,
    nextAttemptTime: second + 90_123,
    attempts: [
      { ...shownAnswered, startTime: second + 456, operator: { networkError: null, responseHead: 'it broke' } },
      {
        ...shownUnreachable,
        startTime: second + 456,
        durationMs: 77,
        error: 'refused',
        operator: { networkError: 'connect', responseHead: null },
      },
    ],
    operator: { accountId: 'account', accountName: 'studio', redeliveries: 3 },
  };
  assert.deepEqual(presentOperatorCallback(delivery, attempts), expected);
  const ended = { ...delivery, state: 'failed', event: 'balance.low', taskId: undefined } as const;
  assert.deepEqual(presentOperatorCallback({ ...ended, accountName: undefined, finishedAt: undefined }, []), {
    ...expected,
    taskId: null,
    event: 'balance.low',
    state: 'failed',
    completeTime: null,
    nextAttemptTime: null,
    attempts: [],
    operator: { ...expected.operator, accountName: null },
  });
});

test('the exchange of an attempt is shown to operators always, and its response to accounts if any client can reach the receiver', () => {
  const sent = { headers: { 'webhook-id': 'msg_1' }, body: '{"code":200}' };
  const exchange = exchangeOf(sent, { headers: { 'content-type': 'text/plain' }, isPublic: false });
  const request = { headers: [{ name: 'webhook-id', value: 'msg_1' }], body: '{"code":200}', isBodyCut: false };
  const response = { headers: [{ name: 'content-type', value: 'text/plain' }], body: 'it broke' };
  const recorded = { ...answered, exchange };
  const forOperators = { ...shownAnswered, startTime: second + 456, ...shown, request };
  assert.deepEqual(presentOperatorAttemptDetails(delivery, recorded), {
    ...forOperators,
    response,
    isResponseHidden: false,
  });
  assert.deepEqual(presentOperatorAttemptDetails(delivery, { ...recorded, responseHead: undefined }), {
    ...forOperators,
    response: { ...response, body: '' },
    isResponseHidden: false,
  });
  assert.deepEqual(presentOperatorAttemptDetails(delivery, answered), {
    ...forOperators,
    request: null,
    response: null,
    isResponseHidden: false,
  });
  const forAccount = { ...shownAnswered, ...shown, request };
  assert.deepEqual(presentOwnAttemptDetails(delivery, answered, second), {
    ...forAccount,
    request: null,
    response: null,
    isResponseHidden: false,
  });
  assert.deepEqual(presentOwnAttemptDetails(delivery, recorded, second), {
    ...forAccount,
    response: null,
    isResponseHidden: true,
  });
  const open = {
    ...recorded,
    exchange: exchangeOf(sent, { headers: { 'content-type': 'text/plain' }, isPublic: true }),
  };
  assert.deepEqual(presentOwnAttemptDetails(delivery, open, second), {
    ...forAccount,
    response,
    isResponseHidden: false,
  });
  assert.equal(presentOwnAttemptDetails(delivery, unreachable, endedMs - 1), undefined);
});
