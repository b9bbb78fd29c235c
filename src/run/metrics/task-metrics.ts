import { comparedAspects } from '../../media/video/compare-with-order.ts';
import {
  reconciledOutcomes,
  reconcileFindings,
  type TaskEvent,
  uncertainCreateOutcomes,
} from '../../tasks/task-metric-events.ts';
import { type EventMetric, createOnFieldMaker, requestBuckets } from './metric-declaration.ts';

const on = createOnFieldMaker<TaskEvent>();

/** Bucket bounds in seconds: from a statement on an idle database to the longest usual deadlines. */
const stageBuckets = [...requestBuckets, 60, 120, 300, 600, 1800, 3600, 7200];

/** Tasks and their credits, and what `reconcile` settles. */
export const taskMetrics: readonly EventMetric[] = [
  {
    type: 'histogram',
    name: 'videogen_task_stage_duration_seconds',
    help: 'Duration of finished stages of tasks',
    labels: ['stage'],
    process: 'both',
    buckets: stageBuckets,
    // The clocks of two machines may differ a little.
    on: on('stage_ended', ({ stage, durationMs }) => [{ stage }, Math.max(0, durationMs) / 1000]),
  },
  {
    type: 'counter',
    name: 'videogen_tasks_ended_total',
    help: 'Tasks that this process ended, by their final state; fail_code is empty for success',
    labels: ['model', 'state', 'fail_code'],
    process: 'both',
    actWhen:
      "failures that are not the client's are above 20 % of at least 5 tasks in 30 minutes ([runbook](runbooks.md#videogentasksfail))",
    on: on('task_ended', ({ task: { param, state, failure } }, names) => [
      { model: names.model(param.model), state, fail_code: failure?.failCode ?? '' },
      1,
    ]),
  },
  {
    type: 'counter',
    name: 'videogen_credits_charged_total',
    help: 'Credits charged for tasks that this process accepted',
    labels: ['model'],
    process: 'both',
    on: on('task_charged', ({ model, credits }, names) => [{ model: names.model(model) }, credits]),
  },
  {
    type: 'counter',
    name: 'videogen_credits_refunded_total',
    help: 'Credits refunded for tasks that this process ended; without refunds by the command line, the ledger has all',
    labels: ['model'],
    process: 'both',
    on: on('task_ended', ({ task: { param, creditsRefunded } }, names) =>
      creditsRefunded > 0 ? [{ model: names.model(param.model) }, creditsRefunded] : undefined,
    ),
  },
  {
    type: 'counter',
    name: 'videogen_order_differences_total',
    help: `Differences between videos and their orders (${comparedAspects.join(', ')}), by outcome`,
    labels: ['model', 'aspect', 'outcome'],
    process: 'worker',
    actWhen:
      '`failed`, `refunded` or `accepted` grows: the model makes less than it is sold for; ' +
      '`exceeded` grows: the upstream may charge for more than customers pay ([models](../shortfalls.md))',
    on: on('order_difference', ({ model, aspect, outcome }, names) => [
      { model: names.model(model), aspect, outcome },
      1,
    ]),
  },
  {
    type: 'counter',
    name: 'videogen_uncertain_creates_resolved_total',
    help: 'Creates with an uncertain commit that returned 503, by outcome',
    labels: ['outcome'],
    process: 'API',
    actWhen:
      'above 3 in 15 minutes: the database fails during creates ([runbook](runbooks.md#videogencreatesuncertain)). ' +
      '`too_late` grows: a client was charged after "this request charges nothing" ([runbook](runbooks.md#videogenuncertaincreatecharged))',
    zeros: uncertainCreateOutcomes.map((outcome) => ({ outcome })),
    on: on('uncertain_create_resolved', ({ outcome }) => [{ outcome }, 1]),
  },
  {
    type: 'counter',
    name: 'videogen_tasks_reconciled_total',
    help: 'Tasks that reconcile started or refunded instead of their workflow',
    labels: ['outcome'],
    process: 'worker',
    actWhen: '`refunded` grows: workflows disappear or break ([runbook](runbooks.md#videogentasksvanish))',
    zeros: reconciledOutcomes.map((outcome) => ({ outcome })),
    on: on('task_reconciled', ({ outcome }) => [{ outcome }, 1]),
  },
  {
    type: 'counter',
    name: 'videogen_reconcile_findings_total',
    help: 'What reconcile, housekeeping and the audit corrected or removed, by kind; failed: what they could not, and retry',
    labels: ['finding'],
    process: 'worker',
    actWhen: '`failed` grows for 30 minutes ([runbook](runbooks.md#videogenreconcilefails))',
    zeros: reconcileFindings.map((finding) => ({ finding })),
    on: on('reconcile_finding', ({ finding }) => [{ finding }, 1]),
  },
];
