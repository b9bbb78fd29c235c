import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSendCallbackActivity, type SendCallbackInput } from '../../activities/send-callback-or-event.ts';
import { callbackFormatOf } from '../../src/api/dialects/shapes.ts';
import { builtInCatalogue } from '../../src/catalogue/file/read-catalogue-file.ts';
import { createAccount } from '../../src/credits/open-account.ts';
import { OutboundError } from '../../src/platform/outbound/outbound-error.ts';
import { createSecretBox } from '../../src/platform/secrets/secret-box.ts';
import { findDelivery, listDeliveryAttempts } from '../../src/tasks/callbacks/deliveries.ts';
import type { CallbackAttemptResult, CallbackSender } from '../../src/tasks/callbacks/post-callback.ts';
import { exchangeOf } from '../../src/tasks/callbacks/recorded-exchange.ts';
import { failAndRefund } from '../../src/tasks/end/end-task-statements.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { recordEvents } from '../support/service/metric-event-sinks.ts';
import { unlimitedSender } from '../support/tasks/owed-callback.ts';
import { acceptTestTask, taskParam } from '../support/tasks/tasks.ts';
import { silentActivity } from '../support/workflows/silent-activity.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'test', credits: 100_000 });
});
after(() => database.close());

const startedAt = 1_790_000_000_123;
const [durationMs, timeoutMs] = [1_000, 15_000];

/** Makes an attempt at a callback that is owed; returns its outcome with what was recorded about it. */
async function attempt(post: CallbackSender['post'], input: Omit<SendCallbackInput, 'deliveryId'>) {
  const { db } = database;
  const deliveryId = await acceptTestTask(db, accountId, taskParam('a boat', {}, 'http://receiver.test/'));
  await failAndRefund(db, deliveryId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  const events = recordEvents('callback_attempted');
  const { models } = builtInCatalogue();
  const deps = { db, box: createSecretBox('s'.repeat(32)), media: { link: () => assert.fail() }, callbackFormatOf };
  const sendCallback = createSendCallbackActivity({
    ...deps,
    models: () => models,
    sender: unlimitedSender(post),
    events,
  });
  const [outcome] = await Promise.allSettled([
    silentActivity({ workflowId: deliveryId, attempt: 3 }, () => sendCallback({ deliveryId, ...input })),
  ]);
  const { state, dueAt } = (await findDelivery(db, deliveryId)) ?? assert.fail('no delivery');
  return { outcome, events: events.seen, state, dueAt, attempts: await listDeliveryAttempts(db, deliveryId) };
}

const answered = (status: number | undefined, retryAfterMs?: number): CallbackAttemptResult => ({
  startedAt,
  durationMs,
  status,
  retryAfterMs,
  error: status === undefined ? 'timeout' : undefined,
  responseHead: undefined,
  exchange: exchangeOf({
    headers: {},
    body: '',
  }),
});

const pause = { isLast: false, nextPauseMs: 5_000 };
const last = { isLast: true, nextPauseMs: 5_000 };
const failed = (retryAfterMs?: number) => ({ kind: 'failed', retryAfterMs });

/** `due` counts from the latest time at which the attempt could have ended. */
for (const [title, answer, input, outcome, state, due] of [
  ['200', answered(200), pause, { kind: 'delivered' }, 'delivered', 0],
  ['299', answered(299), pause, { kind: 'delivered' }, 'delivered', 0],
  ['199', answered(199), pause, failed(), 'pending', 5_000],
  ['300', answered(300), pause, failed(), 'pending', 5_000],
  ['409', answered(409), pause, failed(), 'pending', 5_000],
  ['410', answered(410), pause, { kind: 'rejected' }, 'rejected', 0],
  ['410 at last', answered(410), last, { kind: 'rejected' }, 'rejected', 0],
  ['200 at last', answered(200), last, { kind: 'delivered' }, 'delivered', 0],
  ['500 at last', answered(500), last, failed(), 'failed', 0],
  ['a short Retry-After', answered(503, 4_000), pause, failed(4_000), 'pending', 5_000],
  ['a long Retry-After', answered(503, 60_000), pause, failed(60_000), 'pending', 60_000],
  // Its pause lasts as long as that of an attempt that has used its whole time.
  ['no response', answered(undefined), pause, failed(5_000 + timeoutMs - durationMs), 'pending', 5_000],
  ['no response at last', answered(undefined), { isLast: true }, failed(timeoutMs - durationMs), 'failed', 0],
] as const) {
  test(`after ${title} a delivery is ${state}, and its attempt is recorded and counted`, async () => {
    const made = await attempt(() => Promise.resolve(answer), input);
    assert.deepEqual(made, {
      outcome: { status: 'fulfilled', value: outcome },
      events: [{ kind: 'callback_attempted', status: answer.status, durationMs }],
      state,
      dueAt: startedAt + timeoutMs + due,
      attempts: [
        { attempt: 1, startedAt, durationMs, status: answer.status, error: answer.error, responseHead: undefined },
      ],
    });
  });
}

const nothing = { events: [], state: 'pending', attempts: [] };

test('an attempt without a free slot is not counted, and is retried after a pause that grows', async (t) => {
  t.mock.method(Math, 'random', () => 0.25);
  const {
    outcome,
    dueAt: _,
    ...rest
  } = await attempt(() => Promise.reject(new OutboundError('busy', 'receiver.test')), pause);
  assert.deepEqual(rest, nothing);
  const error: unknown = outcome.status === 'rejected' ? outcome.reason : assert.fail('it was made');
  assert.ok(error instanceof ApplicationFailure);
  const { type, message, category, nonRetryable } = error;
  assert.deepEqual(
    { type, message, nextRetryDelay: String(error.nextRetryDelay), category, nonRetryable: nonRetryable === true },
    {
      type: 'busy',
      message: 'receiver.test',
      nextRetryDelay: '3000',
      category: ApplicationFailureCategory.BENIGN,
      nonRetryable: false,
    },
  );
});

test('an attempt that we break off is thrown as it is, and not counted', async () => {
  for (const error of [new OutboundError('aborted', 'receiver.test'), new Error('a bug')]) {
    const { outcome, dueAt: _, ...rest } = await attempt(() => Promise.reject(error), pause);
    assert.deepEqual(rest, nothing);
    assert.equal(outcome.status === 'rejected' && outcome.reason, error);
  }
});
