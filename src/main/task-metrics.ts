import { Counter, Histogram } from 'prom-client';
import { type ActivityDeps, findings } from '../../activities/deps.ts';
import type { ModelCatalogue } from '../domain/models.ts';
import type { TaskEvents } from '../domain/ports.ts';
import type { Metrics } from '../metrics.ts';
import type { CallbackAnswer } from '../outbound/webhook.ts';

/** Stands for a model that has left the catalogue; no name of it has parentheses. */
export const removed = '(removed)';

/** Counts what a part of the process does to tasks. */
export function countTasks(metrics: Metrics, models: () => ModelCatalogue): TaskEvents {
  const known = (model: string) => (models().has(model) ? model : removed);
  return {
    charged: ({ model, credits }) => metrics.creditsCharged.inc({ model: known(model) }, credits),
    ended: ({ param, state, failure, creditsRefunded }) => {
      const model = known(param.model);
      metrics.tasksEnded.inc({ model, state, fail_code: failure?.failCode ?? '' });
      if (creditsRefunded > 0) metrics.creditsRefunded.inc({ model }, creditsRefunded);
    },
    // Clocks of two machines may differ by a little.
    stage: (stage, durationMs) => metrics.taskStage.observe({ stage }, Math.max(0, durationMs) / 1000),
  };
}

/** Counts what `reconcile` finds beside tasks without a workflow. */
export function countFindings({ registry }: Metrics): ActivityDeps['onFinding'] {
  const found = new Counter({
    name: 'videogen_reconcile_findings_total',
    help: 'What reconcile put right, by kind; failed: what it could not, and tries again',
    labelNames: ['finding'] as const,
    registers: [registry],
  });
  for (const finding of findings) found.inc({ finding }, 0);
  return (finding) => found.inc({ finding });
}

/** Up to the limit of an attempt. */
const callbackBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Counts attempts at callbacks. */
export function countCallbacks(
  { registry }: Metrics,
  post: ActivityDeps['postCallback'],
): ActivityDeps['postCallback'] {
  const registers = [registry];
  const attempts = new Counter({
    name: 'videogen_callback_attempts_total',
    help: 'Attempts at callbacks, by what the receiver answered; unreachable: nothing',
    labelNames: ['outcome'] as const,
    registers,
  });
  const durations = new Histogram({
    name: 'videogen_callback_attempt_duration_seconds',
    help: 'Time of attempts at callbacks, with or without an answer',
    buckets: callbackBuckets,
    registers,
  });
  for (const outcome of callbackOutcomes) attempts.inc({ outcome }, 0);
  return async (callback) => {
    const answer = await post(callback);
    attempts.inc({ outcome: outcomeOf(answer) });
    durations.observe(answer.durationMs / 1000);
    return answer;
  };
}

const callbackOutcomes = ['delivered', 'gone', 'refused', 'unreachable'] as const;

function outcomeOf({ status }: CallbackAnswer): (typeof callbackOutcomes)[number] {
  if (status === undefined) return 'unreachable';
  if (status === 410) return 'gone';
  return status >= 200 && status < 300 ? 'delivered' : 'refused';
}
