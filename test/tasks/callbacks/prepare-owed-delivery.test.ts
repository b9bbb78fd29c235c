import assert from 'node:assert/strict';
import { exchangeOf } from '../../../src/tasks/callbacks/recorded-exchange.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { createSendCallbackActivity, type SendCallbackDeps } from '../../../activities/send-callback-or-event.ts';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { callbackFormatOf } from '../../../src/api/dialects/shapes.ts';
import { ensureSigningSecrets } from '../../../src/tasks/callbacks/signing-secrets.ts';
import { webhookId } from '../../../src/tasks/callbacks/deliveries.ts';
import { setEventEndpoint } from '../../../src/tasks/callbacks/event-endpoint.ts';
import { setLowBalanceThreshold } from '../../../src/credits/ledger/balance-and-low-balance-threshold.ts';
import { eventTypes } from '../../../src/tasks/callbacks/account-event-types-and-body.ts';
import {
  findOwedDelivery,
  prepareUnsignedDelivery,
  type PrepareDeliveryDeps,
} from '../../../src/tasks/callbacks/prepare-owed-delivery.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { acceptTaskAlone } from '../../../src/tasks/accept/accept-one-task.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { taskEventId } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { eventsInto, silentEvents } from '../../support/service/metric-event-sinks.ts';
import { workerParts } from '../../support/service/worker-parts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { interruptedParts, Killed } from '../../support/processes/dying-worker-parts.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { unlimitedSender } from '../../support/tasks/owed-callback.ts';
import { acceptTestTask, listedTerms, madeUpMeasures, requestOf, taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
let folder: string;
before(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'videogen-callbacks-'));
});
after(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

/** The dependencies of an owed delivery, with the service's own formats. */
function deliveryDeps(): PrepareDeliveryDeps {
  const { models } = builtInCatalogue();
  return {
    db: database.db,
    box: createSecretBox('s'.repeat(32)),
    media: createFolderStore(folder, { publicUrl: 'http://media.test' }),
    models: () => models,
    callbackFormatOf,
  };
}

async function prepared(deps: PrepareDeliveryDeps, deliveryId: string) {
  const delivery = (await findOwedDelivery(deps.db, deliveryId)) ?? assert.fail('nothing is owed');
  return { ...delivery, ...(await prepareUnsignedDelivery(deps, delivery)) };
}

for (const { title, endsFirst } of [
  { title: 'a task that had ended before', endsFirst: true },
  { title: 'a task that the closing cancels', endsFirst: false },
]) {
  test(`a closed account gets no callback for ${title}`, async () => {
    const { db } = database;
    const posted: string[] = [];
    const sendCallback = createSendCallbackActivity({
      ...deliveryDeps(),
      events: silentEvents,
      sender: unlimitedSender(({ url }) => {
        posted.push(url);
        const network = {
          error: 'refused',
          retryAfterMs: undefined,
          responseHead: undefined,
          exchange: exchangeOf({ headers: {}, body: '' }),
        };
        return Promise.resolve({ ...network, status: undefined, startedAt: Date.now(), durationMs: 1 });
      }),
    });
    const attempt = (taskId: string) =>
      silentActivity({ workflowId: taskId }, () =>
        sendCallback({ deliveryId: taskId, isLast: false, nextPauseMs: 5_000 }),
      );
    const accountId = await createAccount(db, { name: 'test', credits: 1_000 });
    const taskId = await acceptTestTask(db, accountId, taskParam('a boat', {}, 'http://receiver.test/'));
    const end = () => failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
    if (endsFirst) {
      await end();
      assert.equal((await attempt(taskId)).kind, 'failed');
    }
    await closeAccountAs(db, { kind: 'command_line', name: 'ada' }, { accountId, reason: 'asked for' });
    if (!endsFirst) await end();
    assert.equal((await attempt(taskId)).kind, 'ended');
    assert.equal(posted.length, endsFirst ? 1 : 0);
  });
}

test('a delivery that has ended sends nothing and counts nothing, and a repeated workflow has nothing left to wait for', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'test', credits: 1_000 });
  const taskId = await acceptTestTask(db, accountId, taskParam('a boat', {}, 'http://receiver.test/'));
  await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  const posted: string[] = [];
  const counted: unknown[] = [];
  const sendCallback = createSendCallbackActivity({
    ...deliveryDeps(),
    events: eventsInto('callback_attempted', ({ status, durationMs }) => counted.push([status, durationMs])),
    sender: unlimitedSender(({ url }) => {
      posted.push(url);
      const response = {
        error: undefined,
        retryAfterMs: undefined,
        responseHead: undefined,
        exchange: exchangeOf({ headers: {}, body: '' }),
      };
      return Promise.resolve({ ...response, status: 500, startedAt: Date.now(), durationMs: 1 });
    }),
  });
  const lastAttempt = () =>
    silentActivity({ workflowId: taskId }, () => sendCallback({ deliveryId: taskId, isLast: true }));
  assert.equal((await lastAttempt()).kind, 'failed');
  assert.equal((await lastAttempt()).kind, 'ended');
  assert.equal(posted.length, 1);
  assert.deepEqual(counted, [[500, 1]]);
});

test('the body of a callback has fresh links to the video and its last frame, and what was measured', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'test', credits: 1_000 });
  const taskId = await acceptTestTask(db, accountId, taskParam('a boat', {}, 'http://receiver.test/'));
  const keys = {
    videoKey: `results/${taskId}/video.mp4`,
    posterKey: `results/${taskId}/poster.jpg`,
    lastFrameKey: `results/${taskId}/last-frame.jpg`,
  };
  await completeTask(db, taskId, { ...madeUpMeasures, ...keys });
  const { body } = await prepared(deliveryDeps(), taskId);
  const { resultUrls, lastFrameUrl, video } = (JSON.parse(body) as { data: { resultJson: Record<string, unknown> } })
    .data.resultJson; // as the contract says
  assert.match(String(resultUrls), new RegExp(`^http://media.test/media/${keys.videoKey}\\?expires=`));
  assert.match(String(lastFrameUrl), new RegExp(`^http://media.test/media/${keys.lastFrameKey}\\?expires=`));
  assert.deepEqual(video, { width: 1280, height: 720, seconds: 4, framesPerSecond: 24, hasAudio: true, bytes: 1 });
});

test('an event has its type, its time and the record or the figures, and is signed with the secret of events', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'test', credits: 132 });
  await setEventEndpoint(db, accountId, { url: 'http://events.test/', types: eventTypes });
  await setLowBalanceThreshold(db, accountId, 132);
  const taskId = await acceptTestTask(db, accountId, taskParam('a boat', {}, 'http://receiver.test/'));
  await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  const deps = deliveryDeps();
  const sent = async (deliveryId: string) => {
    const { url, body, secrets } = await prepared(deps, deliveryId);
    return { url, body: JSON.parse(body) as Record<string, unknown>, secrets }; // a JSON object
  };
  const callback = await sent(taskId);
  const event = await sent(taskEventId(taskId));
  const { timestamp, ...rest } = event.body;
  assert.deepEqual(rest, { eventId: taskEventId(taskId), type: 'task.cancelled', data: callback.body['data'] });
  assert.equal(new Date(String(timestamp)).toISOString(), timestamp);
  assert.equal(event.url, 'http://events.test/');
  assert.deepEqual(event.secrets, await ensureSigningSecrets(db, deps.box, accountId, 'event'));
  assert.notDeepEqual(event.secrets, callback.secrets);
  const lowOf = {
    name: 'test-low',
    text: `select id from callback_deliveries where account_id = $1 and task_id is null`,
  };
  const [low] = await db.run<{ id: string }>(lowOf, [accountId]);
  const { type, data } = (await sent(low?.id ?? '')).body;
  assert.deepEqual([type, data], ['balance.low', { balance: 0, lowBalance: 132 }]);
});

test('a callback has the format of the dialect of its task, and the event of the task has ours', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'test', credits: 1_000 });
  await setEventEndpoint(db, accountId, { url: 'http://events.test/', types: eventTypes });
  const taskId = uuidv7();
  const request = requestOf(taskParam('a boat', {}, 'http://receiver.test/'));
  await acceptTaskAlone(db, { taskId, accountId, dialect: 'kie', ...request, ...listedTerms });
  await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  const formatOf = async (deliveryId: string) => (await prepared(deliveryDeps(), deliveryId)).format;
  assert.equal(await formatOf(taskId), callbackFormatOf('kie'));
  assert.equal(await formatOf(taskEventId(taskId)), callbackFormatOf('native'));
});

test('a worker that dies after it sent an event sends it again with the same webhook-id, and then no more', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'test', credits: 1_000 });
  await setEventEndpoint(db, accountId, { url: 'http://events.test/', types: ['task.cancelled'] });
  const taskId = await acceptTestTask(db, accountId, taskParam('a boat'));
  await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  const posted: string[] = [];
  const deps: SendCallbackDeps = {
    ...deliveryDeps(),
    events: silentEvents,
    sender: unlimitedSender(({ deliveryId }) => {
      posted.push(webhookId(deliveryId));
      const response = {
        error: undefined,
        retryAfterMs: undefined,
        responseHead: undefined,
        exchange: exchangeOf({ headers: {}, body: '' }),
      };
      return Promise.resolve({ ...response, status: 204, startedAt: Date.now(), durationMs: 1 });
    }),
  };
  const order = { deliveryId: taskEventId(taskId), isLast: false, nextPauseMs: 5_000 };
  const attempt = (using: SendCallbackDeps) =>
    silentActivity({ workflowId: taskId }, () => createSendCallbackActivity(using)(order));
  const dying = interruptedParts(workerParts(db, folder, []), { call: 7, when: 'before' });
  await assert.rejects(attempt({ ...deps, db: dying.parts.db }), Killed);
  assert.deepEqual(dying.calls, [
    'find-delivery',
    'find-account',
    'list-callback-secrets',
    'create-first-callback-secret',
    'list-callback-secrets',
    'find-task',
    'read-clock',
    'record-delivery-attempt',
  ]);
  assert.equal((await attempt(deps)).kind, 'delivered');
  assert.equal((await attempt(deps)).kind, 'ended');
  const id = webhookId(taskEventId(taskId));
  assert.deepEqual(posted, [id, id]);
});
