import { createAccount } from '../../src/credits/open-account.ts';
import { ApplicationFailure } from '@temporalio/common';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { createConfirmOrChargeActivity, type OperatorOrderForAccount } from '../../activities/confirm-or-charge.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { taskEventId } from '../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { readTaskTiers } from '../../src/tasks/jobs/stored-task-tiers.ts';
import { failAndRefund } from '../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { recordEvents, silentEvents } from '../support/service/metric-event-sinks.ts';
import { modelsAt } from '../support/tasks/fake-providers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { insertBackdatedPrice } from '../support/tasks/backdated-price.ts';
import { silentActivity } from '../support/workflows/silent-activity.ts';
import { acceptTestTask, taskParam } from '../support/tasks/tasks.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'orders', credits: 200 });
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

function charge(taskId: string, order?: OperatorOrderForAccount, { workflowId = taskId, events = silentEvents } = {}) {
  const { param } = { param: taskParam('ordered') };
  const models = () => modelsAt([]);
  const parseTaskRequest = () => ({ ok: true, param }) as const;
  const deps = { db: database.db, models, parseTaskRequest, events };
  return silentActivity({ workflowId }, () => createConfirmOrChargeActivity(deps)({ taskId, order }));
}

/** Refused for good: an error that were retried would keep the workflow for ever. */
const refused = (reason: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ApplicationFailure && error.nonRetryable === true, String(error));
  assert.match(error.message, reason);
  return true;
};

test('the charge of an accepted task is confirmed on every call, and never repeated', async () => {
  const taskId = await acceptTestTask(database.db, accountId, taskParam('accepted'));
  const first = await charge(taskId);
  const terms = { accountId, model: 'videogen-2.0-fast', deadlineMs: 1_800_000 };
  assert.deepEqual(first, { ...terms, isFinal: false, isRemote: true });
  assert.deepEqual(await charge(taskId), first);
  assert.equal((await findTask(database.db, taskId))?.creditsCharged, 132);
  assert.equal((await findAccount(database.db, accountId))?.balance, 68);
});

test('a task of an upstream keeps the tiers of its model, and one that has ended says so', async () => {
  const account = await createAccount(database.db, { name: 'upstream', credits: 1_000 });
  const taskId = await acceptTestTask(database.db, account, taskParam('remote'));
  const deps = { db: database.db, parseTaskRequest: () => assert.fail(), events: silentEvents };
  const models = modelsAt(['studio']);
  const confirm = () =>
    silentActivity({ workflowId: taskId }, () =>
      createConfirmOrChargeActivity({ ...deps, models: () => models })({ taskId }),
    );
  const { isFinal, isRemote } = await confirm();
  assert.deepEqual([isFinal, isRemote], [false, true]);
  const tiers = models.get('videogen-2.0-fast')?.tiers;
  assert.ok(tiers);
  assert.deepEqual(await readTaskTiers(database.db, taskId), { tiers });
  await failAndRefund(database.db, taskId, { failCode: 'cancelled', failMsg: 'A test.' });
  assert.equal((await confirm()).isFinal, true);
});

test('an order whose request is invalid is refused with each error', async () => {
  const errors = [
    { path: 'model', message: 'is missing' },
    { path: '', message: 'is no object' },
  ];
  const deps = { db: database.db, models: () => modelsAt([]), events: silentEvents };
  const parseTaskRequest = () => ({ ok: false, errors }) as const;
  const taskId = uuidv7();
  const charging = silentActivity({ workflowId: taskId }, () =>
    createConfirmOrChargeActivity({ ...deps, parseTaskRequest })({ taskId, order: { accountId, request: 7 } }),
  );
  await assert.rejects(charging, refused(/^model: is missing; is no object$/));
});

test("an order is charged at the account's own price, and a repeated step does not change the charge", async () => {
  const { db } = database;
  const payer = await createAccount(db, { name: 'own price', credits: 1_000 });
  const taskId = uuidv7();
  const price = { model: 'videogen-2.0-fast', accountId: payer };
  const events = recordEvents('task_charged');
  for (const [creditsPerSecond, fromMs] of [
    [11, 1_000],
    [50, 2_000],
  ] as const) {
    await insertBackdatedPrice(db, { ...price, creditsPerSecond, fromMs });
    await charge(taskId, { accountId: payer, request: {} }, { events });
    assert.equal((await findTask(db, taskId))?.creditsCharged, 44);
  }
  assert.equal((await findAccount(db, payer))?.balance, 1_000 - 44);
  assert.deepEqual(events.seen, [{ kind: 'task_charged', model: price.model, credits: 44 }]);
});

test('an order that the balance does not cover is refused and charges nothing', async () => {
  await assert.rejects(charge(uuidv7(), { accountId, request: {} }), refused(/insufficient_credits/));
  assert.equal((await findAccount(database.db, accountId))?.balance, 68);
});

test('an order of an account that does not exist is refused', async () => {
  await assert.rejects(charge(uuidv7(), { accountId: uuidv7(), request: {} }), refused(/account_not_found/));
});

test('typing errors of an operator are refused without a retry: invalid ids, a workflow under another id, no order', async () => {
  const taskId = uuidv7();
  await assert.rejects(charge('my-task'), refused(/must be a UUID/));
  await assert.rejects(charge(taskId.toUpperCase()), refused(/must be a UUID in lower case/));
  await assert.rejects(charge(taskEventId(taskId)), refused(/must not be a UUID of version 8/));
  await assert.rejects(charge(taskId, { accountId: 'acme', request: {} }), refused(/accountId must be a UUID/));
  await assert.rejects(charge(taskId, undefined, { workflowId: 'another' }), refused(/must be the task id/));
  await assert.rejects(charge(taskId), refused(/without an order/));
});

test('a task of a model that this worker has not read of yet is charged later, and of one that has left the catalogue anyway', async () => {
  const param = { ...taskParam('accepted'), model: 'new-model' };
  const account = await createAccount(database.db, { name: 'new model', credits: 1_000 });
  const taskId = await acceptTestTask(database.db, account, param);
  await assert.rejects(charge(taskId), /not in the catalogue of this worker yet/);
  const text = `update tasks set created_at = now() - $2 * interval '1 s' where id = $1`;
  const acceptedAgo = (seconds: number) => database.db.run({ name: 'test-later', text }, [taskId, seconds]);
  await acceptedAgo(30);
  await assert.rejects(charge(taskId), /not in the catalogue of this worker yet/);
  await acceptedAgo(60);
  const charged = await charge(taskId);
  assert.deepEqual([charged.model, charged.isRemote], ['new-model', false]);
});
