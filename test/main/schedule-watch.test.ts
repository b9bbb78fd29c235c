import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from '@temporalio/client';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { startWorker } from '../../src/main/start-worker.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { readReconcileSchedule } from '../../src/temporal/reconcile-schedule.ts';
import { createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

let environment: TestEnvironment;
let client: Client;
const closings: (() => Promise<void>)[] = [];
const metrics = createMetrics();
before(async () => {
  environment = await createTestEnvironment({ WORKER_QUEUES: 'tasks' });
  closings.push(() => environment.close());
  const { settings } = environment;
  const connection = connectTemporal(settings.temporal);
  client = connection.client;
  closings.push(connection.close);
  const fail = (error: unknown) => {
    throw error;
  };
  const worker = await startWorker(settings, createLog({ level: 'silent' }), fail, metrics, undefined, 20);
  closings.push(() => worker.close());
  await worker.running;
});
after(async () => {
  for (const close of closings.toReversed()) await close();
});

test('a running worker creates a reconcile schedule that Temporal has lost again, and leaves a paused one paused', async () => {
  const queues = taskQueuesOf(environment.settings.taskQueue);
  const { id } = (await readReconcileSchedule(client, queues)) ?? assert.fail('the worker has created it');
  await client.schedule.getHandle(id).delete();
  await waitFor('the schedule', async () => await readReconcileSchedule(client, queues));
  const present = `videogen_reconcile_schedule_present{queue="${queues.main}"} 1`;
  await waitFor('the metric', async () => ((await metrics.registry.metrics()).includes(present) ? true : undefined));

  await client.schedule.getHandle(id).pause();
  metrics.registry.resetMetrics();
  await waitFor('another check', async () => ((await metrics.registry.metrics()).includes(present) ? true : undefined));
  assert.deepEqual(await readReconcileSchedule(client, queues), { id, isPaused: true });
});
