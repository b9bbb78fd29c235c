import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelCatalogue } from '../../src/domain/models.ts';
import { countCallbacks, countFindings, countTasks } from '../../src/main/task-metrics.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { CallbackPost } from '../../src/outbound/webhook.ts';
import { taskParam } from '../support/tasks.ts';

/** The lines of a metric, without its comments. */
async function linesOf({ registry }: ReturnType<typeof createMetrics>, name: string): Promise<readonly string[]> {
  const lines = (await registry.getSingleMetricAsString(name)).split('\n');
  return lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length));
}

test('attempts at callbacks are counted by what came of them, and each outcome is there from the start', async () => {
  const metrics = createMetrics();
  const statuses = [204, 500, 410, undefined, 200];
  const post = countCallbacks(metrics, async () => ({
    startedAt: 0,
    durationMs: 40,
    status: statuses.shift(),
    error: undefined,
    retryAfterMs: undefined,
    responseHead: undefined,
  }));
  const name = 'videogen_callback_attempts_total';
  assert.equal((await linesOf(metrics, name)).length, 4);
  const callback: CallbackPost = {
    taskId: 'a',
    accountId: 'b',
    url: 'http://receiver.test/',
    dialect: 'native',
    body: async () => '',
    secrets: async () => [],
    signal: new AbortController().signal,
  };
  for (let left = statuses.length; left > 0; left -= 1) await post(callback);
  assert.deepEqual(await linesOf(metrics, name), [
    '{outcome="delivered"} 2',
    '{outcome="gone"} 1',
    '{outcome="refused"} 1',
    '{outcome="unreachable"} 1',
  ]);
  const durations = await linesOf(metrics, 'videogen_callback_attempt_duration_seconds');
  assert.ok(durations.includes('_bucket{le="0.05"} 5') && durations.includes('_bucket{le="0.025"} 0'));
});

test('an attempt that was not made, for want of a slot, is not counted', async () => {
  const metrics = createMetrics();
  const post = countCallbacks(metrics, () => Promise.reject(new Error('busy')));
  await assert.rejects(post({} as CallbackPost)); // the poster looks at nothing of it
  assert.ok((await linesOf(metrics, 'videogen_callback_attempts_total')).every((line) => line.endsWith(' 0')));
});

test('what is counted of a model that has left the catalogue has no name of its own', async () => {
  const metrics = createMetrics();
  const events = countTasks(metrics, () => modelCatalogue([]));
  events.charged({ model: 'gone', credits: 7 });
  const failure = { failCode: 'timeout', failMsg: 'A test.' } as const;
  events.ended({ param: taskParam('a film'), state: 'fail', failure, creditsRefunded: 7 });
  assert.deepEqual(await linesOf(metrics, 'videogen_credits_charged_total'), ['{model="(removed)"} 7']);
  assert.deepEqual(await linesOf(metrics, 'videogen_credits_refunded_total'), ['{model="(removed)"} 7']);
  assert.deepEqual(await linesOf(metrics, 'videogen_tasks_ended_total'), [
    '{model="(removed)",state="fail",fail_code="timeout"} 1',
  ]);
});

test('clocks that differ make no negative duration', async () => {
  const metrics = createMetrics();
  countTasks(metrics, () => modelCatalogue([])).stage('generation', -20);
  const lines = await linesOf(metrics, 'videogen_task_stage_duration_seconds');
  assert.ok(lines.includes('_sum{stage="generation"} 0') && lines.includes('_count{stage="generation"} 1'));
});

test('what reconcile finds is counted by kind', async () => {
  const metrics = createMetrics();
  const onFinding = countFindings(metrics);
  onFinding('callback_owed');
  onFinding('callback_owed');
  const lines = await linesOf(metrics, 'videogen_reconcile_findings_total');
  assert.ok(lines.includes('{finding="callback_owed"} 2') && lines.includes('{finding="failed"} 0'));
});
