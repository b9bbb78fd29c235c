import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { deleteTaskContentInDatabase } from '../../../src/tasks/end/content-deletion-rows.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { requestRedelivery, recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { settledOrBlocked } from '../../support/database/held-statement.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, type TestOperator } from '../../support/service/operator-key.ts';

// A deletion and what happens to the callback of the same task at that moment.

let service: HttpService;
let operator: TestOperator;
let key: string;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
  ({ key } = await service.newAccount(100_000, scopes));
});
after(() => service.close());

const post = (path: string, body: unknown) =>
  service.send('POST', path, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const people = ['the account', 'an operator'] as const;
type Asking = Readonly<Record<(typeof people)[number], (taskId: string) => Promise<Answer>>>;
const deleting: Asking = {
  'the account': (taskId) => post('/api/v1/jobs/deleteTask', { taskId }),
  'an operator': (taskId) =>
    operator.ask('POST', '/api/admin/v1/tasks/delete', { body: { taskId, reason: 'asked for' } }),
};
const redelivering: Asking = {
  'the account': (taskId) => post('/api/v1/callbacks/redeliver', { taskId }),
  'an operator': (taskId) => operator.ask('POST', '/api/admin/v1/callbacks/redeliver', { body: { taskId } }),
};

/** A task that has ended and owes a callback. */
async function ended(): Promise<string> {
  const answer = await service.create(key, { ...plainRequest, callBackUrl: 'http://receiver.test/' });
  const taskId = String(answer.json.data['taskId']);
  await failAndRefund(service.database.db, taskId, { failCode: 'cancelled', failMsg: 'A test.' });
  return taskId;
}

/** Does this in a transaction on a connection of its own; answers its commit. */
async function held(work: (run: Database['run']) => Promise<unknown>): Promise<() => Promise<void>> {
  let commit = () => {};
  const going = new Promise<void>((resolve) => (commit = resolve));
  let done: Promise<void> = Promise.resolve();
  await new Promise<void>((arrive, fail) => {
    done = service.database.db.transaction(async (run) => {
      await work(run);
      arrive();
      await going;
    });
    done.catch(fail);
  });
  return () => {
    commit();
    return done;
  };
}

for (const who of people) {
  test(`200 to ${who} also while an attempt at the callback is being recorded, and nothing is left of it`, async () => {
    const { db } = service.database;
    const taskId = await ended();
    const { redeliveries } = (await requestRedelivery(db, taskId)) ?? assert.fail();
    const commit = await held((run) =>
      recordDeliveryAttempt(
        { ...db, run },
        {
          delivery: { deliveryId: taskId, redeliveries },
          attempt: {
            startedAt: 1,
            durationMs: 1,
            status: 500,
            error: undefined,
            responseHead: Buffer.from('a secret'),
          },
          newState: { state: 'pending', dueAt: 1 },
        },
      ),
    );
    const asked = deleting[who](taskId);
    await settledOrBlocked(db, asked);
    await commit();
    const answer = await asked;
    assert.equal(answer.status, 200, answer.bytes.toString());
    assert.deepEqual((await deleting[who](taskId)).json.data, answer.json.data);
    const left = `select from callback_deliveries where task_id = $1 union all select from callback_attempts where delivery_id = $1`;
    assert.deepEqual(await db.run({ name: 'test-deliveries', text: left }, [taskId]), []);
  });

  test(`410 to ${who} who has a callback sent again while the task is being deleted`, async () => {
    const { db } = service.database;
    const taskId = await ended();
    const task = (await findTask(db, taskId)) ?? assert.fail();
    const commit = await held((run) => deleteTaskContentInDatabase({ run }, task, []));
    const asked = redelivering[who](taskId);
    await settledOrBlocked(db, asked);
    await commit();
    assertRefused(await asked, 410, /content of this task was deleted/);
    assert.ok(service.redelivered.every((redelivery) => redelivery.deliveryId !== taskId));
  });
}
