import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLog } from '../../src/platform/log/log.ts';
import { startApi } from '../../src/run/main/start-api.ts';
import { startWorker } from '../../src/run/main/start-worker.ts';
import { createMetrics } from '../../src/run/metrics/create-metrics-registry.ts';
import { type Api, createTask } from '../support/service/call-api.ts';
import { createTestAccount, createTestEnvironment } from '../support/service/test-service.ts';
import { waitForEnd } from '../support/tasks/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

// What a real API and a real worker expose after a task that succeeded and one that failed.

let text = '';
const closings: (() => Promise<void>)[] = [];
before(async () => {
  const environment = await createTestEnvironment();
  closings.push(() => environment.close());
  const { settings, database } = environment;
  const log = createLog({ level: 'silent' });
  const exposed = createMetrics();
  const worker = await startWorker(
    settings,
    log,
    (error) => {
      throw error;
    },
    exposed,
  );
  closings.push(() => worker.close());
  await worker.running;
  closings.push((await startApi(settings, log, exposed)).close);
  const api: Api = { baseUrl: settings.publicUrl, key: (await createTestAccount(database)).key };
  for (const prompt of ['a film', '[[reject]] a film']) {
    const { body } = await createTask(api, { model: 'videogen-2.0-fast', input: { prompt, duration: 5 } });
    await waitForEnd(database.db, String(body.data['taskId']));
  }
  // The request's line is written behind its answer.
  await waitFor('both tasks in the figures', async () => {
    text = await exposed.registry.metrics();
    return /^videogen_credits_refunded_total\{.*\} 165$/m.test(text) ? true : undefined;
  });
});
after(async () => {
  for (const close of closings.toReversed()) await close();
});

test('every stage of a task is measured, and its end and credits are counted once', () => {
  const count = (stage: string) =>
    Number(
      new RegExp(`^videogen_task_stage_duration_seconds_count\\{stage="${stage}"\\} (\\d+)$`, 'm').exec(text)?.[1],
    );
  const counts = Object.fromEntries(
    ['accept', 'queue_wait', 'generation', 'store', 'end'].map((one) => [one, count(one)]),
  );
  assert.deepEqual(counts, { accept: 2, queue_wait: 2, generation: 1, store: 1, end: 2 });
  const model = 'model="videogen-2.0-fast"';
  for (const line of [
    `videogen_credits_charged_total{${model}} 330`,
    `videogen_credits_refunded_total{${model}} 165`,
    `videogen_tasks_ended_total{${model},state="success",fail_code=""} 1`,
    `videogen_tasks_ended_total{${model},state="fail",fail_code="content_rejected"} 1`,
    'videogen_http_requests_total{route="/api/v1/jobs/createTask",method="POST",status="200"} 2',
    'videogen_database_up{of="api"} 1',
    'videogen_database_up{of="worker"} 1',
    'videogen_temporal_up{of="worker"} 1',
  ])
    assert.ok(text.split('\n').includes(line), line);
});
