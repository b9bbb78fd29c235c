import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { resultKeysOf } from '../../activities/task-file-keys-and-deletion.ts';
import { taskQueuesOf } from '../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { listTaskEntries } from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/connection/connect.ts';
import type { WorkflowEngine } from '../../src/catalogue/tasks/workflow-engine.ts';
import { createWorkflowEngine } from '../../src/temporal/engine/create-workflow-engine.ts';
import { ageTask } from '../support/database/aged-task.ts';
import { patientEngine } from '../support/workflows/patient-engine.ts';
import {
  createTestAccount,
  startTestWorker,
  type TestAccount,
  type TestEnvironment,
} from '../support/service/test-service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

describe('videoTask', () => {
  let worker: TestEnvironment;
  let account: TestAccount;
  let temporal: TemporalConnection;
  let engine: WorkflowEngine;
  before(async () => {
    worker = await startTestWorker();
    account = await createTestAccount(worker.database);
    temporal = connectTemporal(worker.settings.temporal);
    engine = patientEngine(createWorkflowEngine(temporal.client, taskQueuesOf(worker.settings.taskQueue)));
  });
  after(async () => {
    const violations = await auditLedger(worker.database.db);
    await temporal.close();
    await worker.close();
    assert.deepEqual(violations, []);
  });

  const accepted = (prompt: string) => acceptTestTask(worker.database.db, account.accountId, taskParam(prompt));
  const started = async (prompt: string) => {
    const taskId = await accepted(prompt);
    await engine.startTask({ taskId, accountId: account.accountId, model: 'videogen-2.0-fast' });
    return taskId;
  };
  const balance = async () => (await findAccount(worker.database.db, account.accountId))?.balance;
  const kinds = async (taskId: string) => (await listTaskEntries(worker.database.db, taskId)).map(({ kind }) => kind);
  const generating = (taskId: string) =>
    waitFor('generation', async () =>
      (await findTask(worker.database.db, taskId))?.state === 'generating' ? true : undefined,
    );

  test('a task that succeeds is charged once and holds one measured result', async () => {
    const taskId = await started('[[instant]] a lighthouse');
    const task = await waitForEnd(worker.database.db, taskId);
    assert.equal(task.state, 'success');
    assert.equal(task.creditsRefunded, 0);
    const { sha256, videoKey } = task.result ?? assert.fail();
    assert.match(sha256, /^[0-9a-f]{64}$/);
    assert.equal(videoKey, resultKeysOf(taskId, sha256).video);
    assert.deepEqual(await kinds(taskId), ['charge']);
  });

  test('a task whose content is rejected fails with the provider’s sentence and is refunded in full', async () => {
    const earlier = await balance();
    const taskId = await started('[[reject]]');
    const task = await waitForEnd(worker.database.db, taskId);
    assert.equal(task.failure?.failCode, 'content_rejected');
    assert.equal(task.creditsRefunded, 132);
    assert.deepEqual(await kinds(taskId), ['charge', 'refund']);
    assert.equal(await balance(), earlier);
  });

  test('a renderer that dies fails the task, refunded', async () => {
    const task = await waitForEnd(worker.database.db, await started('[[crash]]'));
    assert.deepEqual([task.failure?.failCode, task.creditsRefunded], ['internal', 132]);
  });

  test('a task of a model that this worker does not know fails, refunded, instead of waiting for one that does', async () => {
    const param = { ...taskParam('[[instant]]'), model: 'videogen-3.0' };
    const taskId = await acceptTestTask(worker.database.db, account.accountId, param);
    // A worker waits this long for a change of its catalogue that the API has read already.
    await ageTask(worker.database, taskId, 60_000);
    await engine.startTask({ taskId, accountId: account.accountId, model: param.model });
    const task = await waitForEnd(worker.database.db, taskId);
    assert.deepEqual([task.failure?.failCode, task.creditsRefunded], ['provider_unavailable', 132]);
    assert.deepEqual(await kinds(taskId), ['charge', 'refund']);
  });

  test('a cancelled workflow stops the generation and is refunded as cancelled', async () => {
    const taskId = await started('[[hang]]');
    await generating(taskId);
    const handle = temporal.client.workflow.getHandle(taskId);
    await handle.cancel();
    const task = await waitForEnd(worker.database.db, taskId);
    assert.deepEqual([task.failure?.failCode, task.creditsRefunded], ['cancelled', 132]);
    await handle.result();
    assert.equal((await engine.describeTask(taskId)).status, 'completed');
  });

  test('a second start of the same task changes nothing', async () => {
    const taskId = await started('[[instant]] twice');
    await engine.startTask({ taskId, accountId: account.accountId, model: 'videogen-2.0-fast' });
    await waitForEnd(worker.database.db, taskId);
    await engine.startTask({ taskId, accountId: account.accountId, model: 'videogen-2.0-fast' });
    assert.deepEqual(await kinds(taskId), ['charge']);
  });

  test('a finished task that an operator resets keeps its state, its charge and its result', async () => {
    const taskId = await started('[[instant]] reset');
    const ended = await waitForEnd(worker.database.db, taskId);
    const handle = temporal.client.workflow.getHandle(taskId);
    await handle.result();
    const { runId } = await handle.describe();
    const { events = [] } = await handle.fetchHistory();
    const firstStep = events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
    assert.ok(firstStep);
    await temporal.client.workflowService.resetWorkflowExecution({
      namespace: worker.settings.temporal.namespace,
      workflowExecution: { workflowId: taskId, runId },
      workflowTaskFinishEventId: firstStep,
      requestId: uuidv7(),
      reason: 'by a test',
    });
    assert.deepEqual(await handle.result(), { state: 'success', hasCallback: false });
    assert.deepEqual(await findTask(worker.database.db, taskId), ended);
    assert.deepEqual(await kinds(taskId), ['charge']);
  });

  test('a task that an operator starts with an order is charged by its first step', async () => {
    const taskId = uuidv7();
    const request = { model: 'videogen-2.0-fast', input: { prompt: '[[instant]] ordered', duration: 6 } };
    await temporal.client.workflow.start('videoTask', {
      workflowId: taskId,
      taskQueue: taskQueuesOf(worker.settings.taskQueue).tasks,
      args: [{ taskId, order: { accountId: account.accountId, request } }],
    });
    const task = await waitForEnd(worker.database.db, taskId);
    assert.deepEqual([task.state, task.creditsCharged], ['success', 6 * 33]);
  });

  test('an order that breaks a rule fails the workflow and charges nothing', async () => {
    const taskId = uuidv7();
    const earlier = await balance();
    const order = { accountId: account.accountId, request: { model: 'videogen-2.0-fast', input: { promt: 'typo' } } };
    const handle = await temporal.client.workflow.start('videoTask', {
      workflowId: taskId,
      taskQueue: taskQueuesOf(worker.settings.taskQueue).tasks,
      args: [{ taskId, order }],
    });
    await assert.rejects(handle.result());
    assert.equal(await findTask(worker.database.db, taskId), undefined);
    assert.equal(await balance(), earlier);
  });

  test('the history of a successful task without callback is at most 16 events', async () => {
    const taskId = await started('[[instant]] short history');
    await waitForEnd(worker.database.db, taskId);
    const handle = temporal.client.workflow.getHandle(taskId);
    await handle.result();
    const { events } = await handle.fetchHistory();
    assert.ok((events?.length ?? 0) <= 16, `${events?.length} events`);
  });
});
