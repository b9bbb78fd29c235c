import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInCatalogue } from '../../../src/catalogue/file/catalogue-file.ts';
import { createMetrics } from '../../../src/run/metrics/metrics.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

/** The lines of a metric, without its comments. */
async function linesOf({ registry }: ReturnType<typeof createMetrics>, name: string): Promise<readonly string[]> {
  const lines = (await registry.getSingleMetricAsString(name)).split('\n');
  return lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length));
}

test('attempts at callbacks are counted by outcome, and each outcome exists from the start', async () => {
  const metrics = createMetrics();
  const name = 'videogen_callback_attempts_total';
  assert.equal((await linesOf(metrics, name)).length, 4);
  const { emit } = metrics.eventsOf(builtInCatalogue);
  for (const status of [204, 500, 410, undefined, 200]) emit({ kind: 'callback_attempted', status, durationMs: 40 });
  assert.deepEqual(await linesOf(metrics, name), [
    '{outcome="delivered"} 2',
    '{outcome="rejected"} 1',
    '{outcome="refused"} 1',
    '{outcome="unreachable"} 1',
  ]);
  const durations = await linesOf(metrics, 'videogen_callback_attempt_duration_seconds');
  assert.ok(durations.includes('_bucket{le="0.05"} 5') && durations.includes('_bucket{le="0.025"} 0'));
});

test('what is counted of a model that has left the catalogue has no name of its own', async () => {
  const metrics = createMetrics();
  const { emit } = metrics.eventsOf(() => ({ ...builtInCatalogue(), models: new Map() }));
  emit({ kind: 'task_charged', model: 'rejected', credits: 7 });
  const failure = { failCode: 'timeout', failMsg: 'A test.' } as const;
  emit({ kind: 'task_ended', task: { param: taskParam('a film'), state: 'fail', failure, creditsRefunded: 7 } });
  assert.deepEqual(await linesOf(metrics, 'videogen_credits_charged_total'), ['{model="(removed)"} 7']);
  assert.deepEqual(await linesOf(metrics, 'videogen_credits_refunded_total'), ['{model="(removed)"} 7']);
  assert.deepEqual(await linesOf(metrics, 'videogen_tasks_ended_total'), [
    '{model="(removed)",state="fail",fail_code="timeout"} 1',
  ]);
});

test('clocks that differ make no negative duration', async () => {
  const metrics = createMetrics();
  metrics.eventsOf(builtInCatalogue).emit({ kind: 'stage_ended', stage: 'generation', durationMs: -20 });
  const lines = await linesOf(metrics, 'videogen_task_stage_duration_seconds');
  assert.ok(lines.includes('_sum{stage="generation"} 0') && lines.includes('_count{stage="generation"} 1'));
});

test('what reconcile finds is counted by kind', async () => {
  const metrics = createMetrics();
  const { emit } = metrics.eventsOf(builtInCatalogue);
  for (let count = 0; count < 2; count += 1) emit({ kind: 'reconcile_finding', finding: 'callback_owed' });
  const lines = await linesOf(metrics, 'videogen_reconcile_findings_total');
  assert.ok(lines.includes('{finding="callback_owed"} 2') && lines.includes('{finding="failed"} 0'));
});
