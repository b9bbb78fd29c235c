import type { TaskStage } from '../tasks/ports.ts';
import type { Task } from '../tasks/task.ts';
import type { ProviderEvent } from '../providers/provider-events.ts';
import type { EndedCall } from '../providers/provider-jobs.ts';
import type { Names } from './names.ts';

// Metrics that a process derives from its own events. To add one, add an entry to `counters` (or to `histograms` or `states`), an event to
// `ServiceEvent` unless one fits, and one `events.emit` where it happens.

/** The parts of a process; `npm start` has both. */
export type PartName = 'api' | 'worker';

const findings = [
  'callback_owed',
  'workflow_left',
  'provider_job_left',
  'media_expired',
  'upload_expired',
  'ledger_violation',
  'failed',
] as const;

const settledOutcomes = ['started', 'refunded'] as const;
const uncertainOutcomes = ['none', 'refunded', 'too_late'] as const;
const paymentOutcomes = ['granted', 'granted_late', 'not_granted', 'reversed', 'unknown'] as const;
const checkOutcomes = ['allowed', 'refused', 'error'] as const;
const callbackOutcomes = ['delivered', 'rejected', 'refused', 'unreachable'] as const;

export type ServiceEvent =
  | {
      readonly kind: 'request_finished';
      /** A route pattern. It and the method are from fixed lists, which bounds the number of series. */
      readonly route: string;
      readonly method: string;
      /** `aborted` if the client disconnected before the response began. */
      readonly status: string;
      /** Undefined for a long poll. */
      readonly durationSeconds: number | undefined;
    }
  | { readonly kind: 'task_charged'; readonly model: string; readonly credits: number }
  | { readonly kind: 'task_ended'; readonly task: Pick<Task, 'param' | 'state' | 'failure' | 'creditsRefunded'> }
  | { readonly kind: 'stage_ended'; readonly stage: TaskStage; readonly durationMs: number }
  /** A create returned 503: no task was found (`none`), or it was `refunded`, or had already succeeded (`too_late`). */
  | { readonly kind: 'uncertain_create_settled'; readonly outcome: (typeof uncertainOutcomes)[number] }
  /** `reconcile` ended or started a task that its workflow did not. */
  | { readonly kind: 'task_settled'; readonly outcome: (typeof settledOutcomes)[number] }
  /** `reconcile`, housekeeping or the audit found something else; `failed`: it could not be corrected, and the next run retries. */
  | { readonly kind: 'reconcile_finding'; readonly finding: (typeof findings)[number] }
  /** `granted_late`: reconciliation found the payment, not an event; `unknown`: an event about a payment that is not ours. */
  | { readonly kind: 'payment_settled'; readonly outcome: (typeof paymentOutcomes)[number] }
  | {
      readonly kind: 'content_checked';
      /** `error`: the moderation hook gave no usable answer in time. */
      readonly outcome: (typeof checkOutcomes)[number];
      readonly durationMs: number;
    }
  | { readonly kind: 'callback_attempted'; readonly status: number | undefined; readonly durationMs: number }
  | { readonly kind: 'job_ended'; readonly job: EndedCall }
  /** The log of requests had no room for them. */
  | { readonly kind: 'logged_requests_dropped'; readonly requests: number }
  | ProviderEvent
  | { readonly kind: 'catalogue_read'; readonly part: PartName; readonly isRefused: boolean }
  | { readonly kind: 'database_checked'; readonly part: PartName; readonly isUp: boolean }
  | { readonly kind: 'temporal_checked'; readonly part: PartName; readonly isUp: boolean }
  | {
      readonly kind: 'schedule_checked';
      readonly queue: string;
      readonly schedule: string;
      readonly isPresent: boolean;
    };

type EventKind = ServiceEvent['kind'];
type EventOf<Kind extends EventKind> = Extract<ServiceEvent, { readonly kind: Kind }>;

export type Events = { readonly emit: (event: ServiceEvent) => void };

type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

export type EventMetric = {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly on: {
    readonly kind: EventKind;
    readonly sample: (event: ServiceEvent, names: Names) => Sample | undefined;
  };
  readonly buckets?: readonly number[];
  /** Series that exist from the start: a counter that appears with its first event hides that event from increase(). */
  readonly zeros?: readonly Labels[];
};

function on<Kind extends EventKind>(
  kind: Kind,
  sample: (event: EventOf<Kind>, names: Names) => Sample | undefined,
): EventMetric['on'] {
  const isOfKind = (event: ServiceEvent): event is EventOf<Kind> => event.kind === kind;
  return { kind, sample: (event, names) => (isOfKind(event) ? sample(event, names) : undefined) };
}

/** From a read on an idle database to the time after which clients time out. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** From a statement on an idle database to the longest usual deadlines. */
const stageBuckets = [...requestBuckets, 60, 120, 300, 600, 1800, 3600, 7200];
/** Up to the time limit of an attempt. */
const callbackBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
/** From a clip of a few seconds on a fast machine to the longest usual deadlines. */
const jobBuckets = [5, 10, 20, 30, 60, 120, 180, 300, 600, 1200, 1800, 3600, 7200];

export const counters: readonly EventMetric[] = [
  {
    name: 'videogen_http_requests_total',
    help: 'Finished requests by route pattern; status aborted: the client disconnected before the response',
    labels: ['route', 'method', 'status'],
    on: on('request_finished', ({ route, method, status }) => [{ route, method, status }, 1]),
  },
  {
    name: 'videogen_logged_requests_dropped_total',
    help: 'Finished requests that are missing in the request log of their account',
    zeros: [{}],
    on: on('logged_requests_dropped', ({ requests }) => [{}, requests]),
  },
  {
    name: 'videogen_credits_charged_total',
    help: 'Credits charged for tasks that this process accepted',
    labels: ['model'],
    on: on('task_charged', ({ model, credits }, names) => [{ model: names.model(model) }, credits]),
  },
  {
    name: 'videogen_credits_refunded_total',
    help: 'Credits refunded for tasks that this process ended',
    labels: ['model'],
    on: on('task_ended', ({ task: { param, creditsRefunded } }, names) =>
      creditsRefunded > 0 ? [{ model: names.model(param.model) }, creditsRefunded] : undefined,
    ),
  },
  {
    name: 'videogen_tasks_ended_total',
    help: 'Tasks that this process ended, by their final state; fail_code is empty for success',
    labels: ['model', 'state', 'fail_code'],
    on: on('task_ended', ({ task: { param, state, failure } }, names) => [
      { model: names.model(param.model), state, fail_code: failure?.failCode ?? '' },
      1,
    ]),
  },
  {
    name: 'videogen_uncertain_creates_settled_total',
    help: 'Creates with an uncertain commit that returned 503, by outcome',
    labels: ['outcome'],
    zeros: uncertainOutcomes.map((outcome) => ({ outcome })),
    on: on('uncertain_create_settled', ({ outcome }) => [{ outcome }, 1]),
  },
  {
    name: 'videogen_tasks_settled_total',
    help: 'Tasks that reconcile started or refunded instead of their workflow',
    labels: ['outcome'],
    zeros: settledOutcomes.map((outcome) => ({ outcome })),
    on: on('task_settled', ({ outcome }) => [{ outcome }, 1]),
  },
  {
    name: 'videogen_reconcile_findings_total',
    help: 'What reconcile corrected, by kind; failed: what it could not correct, and retries',
    labels: ['finding'],
    zeros: findings.map((finding) => ({ finding })),
    on: on('reconcile_finding', ({ finding }) => [{ finding }, 1]),
  },
  {
    name: 'videogen_payments_total',
    help: 'Payments for credits; granted_late: found by reconciliation, because no event had arrived; not_granted: paid, but not granted',
    labels: ['outcome'],
    zeros: paymentOutcomes.map((outcome) => ({ outcome })),
    on: on('payment_settled', ({ outcome }) => [{ outcome }, 1]),
  },
  {
    name: 'videogen_moderation_checks_total',
    help: 'Checks of content before a charge; error: no usable answer in time, so onError decided',
    labels: ['outcome'],
    zeros: checkOutcomes.map((outcome) => ({ outcome })),
    on: on('content_checked', ({ outcome }) => [{ outcome }, 1]),
  },
  {
    name: 'videogen_callback_attempts_total',
    help: "Attempts at callbacks by the receiver's response; unreachable: none",
    labels: ['outcome'],
    zeros: callbackOutcomes.map((outcome) => ({ outcome })),
    on: on('callback_attempted', ({ status }) => [{ outcome: callbackOutcomeOf(status) }, 1]),
  },
  {
    name: 'videogen_provider_calls_total',
    help: "Requests for a job by the upstream's response; unknown: the response was lost",
    labels: ['provider', 'outcome'],
    on: on('provider_call', ({ provider, outcome }, names) => [{ provider: names.provider(provider), outcome }, 1]),
  },
  {
    name: 'videogen_provider_polls_total',
    help: 'Polls of jobs; hung: without a response when the next poll began',
    labels: ['provider', 'outcome'],
    on: on('provider_poll', ({ provider, outcome }, names) => [{ provider: names.provider(provider), outcome }, 1]),
  },
  {
    name: 'videogen_provider_lookups_total',
    help: 'Searches for the job of a request whose response was lost',
    labels: ['provider', 'outcome'],
    on: on('provider_lookup', ({ provider, outcome }, names) => [{ provider: names.provider(provider), outcome }, 1]),
  },
  {
    name: 'videogen_provider_resubmissions_total',
    help: 'Lost jobs that were abandoned, after which the same provider may make another one',
    labels: ['provider'],
    on: on('provider_resubmission', ({ provider }, names) => [{ provider: names.provider(provider) }, 1]),
  },
  {
    name: 'videogen_provider_downloads_total',
    help: 'Downloads of videos; interrupted: it resumes, failed: it restarts',
    labels: ['provider', 'outcome'],
    on: on('provider_download', ({ provider, outcome }, names) => [{ provider: names.provider(provider), outcome }, 1]),
  },
  {
    name: 'videogen_provider_downloaded_bytes_total',
    help: 'Bytes of the videos that were downloaded completely',
    labels: ['provider'],
    on: on('provider_download', (event, names) =>
      event.outcome === 'complete' ? [{ provider: names.provider(event.provider) }, event.bytes] : undefined,
    ),
  },
  {
    name: 'videogen_provider_jobs_ended_total',
    help: 'Requests for a job and jobs that have ended, by outcome',
    labels: ['provider', 'model', 'outcome'],
    on: onUpstreamJob((job, names) => [{ ...names.job(job), outcome: job.outcome }, 1]),
  },
  {
    name: 'videogen_provider_cost_micros_total',
    help: 'Cost of jobs that have ended, in millionths of the currency',
    labels: ['provider', 'currency', 'basis'],
    on: onUpstreamJob((job, names) => {
      const { costMicros, costCurrency: currency, costBasis: basis = 'unknown' } = job;
      if (costMicros === undefined || currency === undefined) return undefined;
      return [{ provider: names.job(job).provider, currency, basis }, costMicros];
    }),
  },
];

export const histograms: readonly EventMetric[] = [
  {
    name: 'videogen_http_request_duration_seconds',
    help: 'Duration of requests, except long polls',
    labels: ['route', 'method'],
    buckets: requestBuckets,
    on: on('request_finished', ({ route, method, durationSeconds }) =>
      durationSeconds === undefined ? undefined : [{ route, method }, durationSeconds],
    ),
  },
  {
    name: 'videogen_task_stage_duration_seconds',
    help: 'Duration of finished stages of tasks',
    labels: ['stage'],
    buckets: stageBuckets,
    // The clocks of two machines may differ a little.
    on: on('stage_ended', ({ stage, durationMs }) => [{ stage }, Math.max(0, durationMs) / 1000]),
  },
  {
    name: 'videogen_moderation_check_duration_seconds',
    help: 'Duration of checks of content before a charge, with or without a usable answer',
    buckets: requestBuckets,
    on: on('content_checked', ({ durationMs }) => [{}, durationMs / 1000]),
  },
  {
    name: 'videogen_callback_attempt_duration_seconds',
    help: 'Duration of attempts at callbacks, with or without a response',
    buckets: callbackBuckets,
    on: on('callback_attempted', ({ durationMs }) => [{}, durationMs / 1000]),
  },
  {
    name: 'videogen_provider_job_duration_seconds',
    help: 'From the acceptance of a job to its end upstream, of those that succeeded or failed',
    labels: ['provider', 'model'],
    buckets: jobBuckets,
    on: onUpstreamJob((job, names) =>
      job.runMs !== undefined && (job.outcome === 'success' || job.outcome === 'fail')
        ? [names.job(job), Math.max(0, job.runMs) / 1000]
        : undefined,
    ),
  },
];

/** Gauges with the value of their last event. */
export const states: readonly EventMetric[] = [
  {
    name: 'videogen_catalogue_loaded_timestamp_seconds',
    help: 'When the catalogue in force was read, in Unix seconds',
    labels: ['of'],
    on: on('catalogue_read', ({ part, isRefused }) => (isRefused ? undefined : [{ of: part }, Date.now() / 1000])),
  },
  {
    name: 'videogen_catalogue_stale',
    help: 'Whether the file on disk is invalid and the previous catalogue stays in force',
    labels: ['of'],
    on: on('catalogue_read', ({ part, isRefused }) => [{ of: part }, isRefused ? 1 : 0]),
  },
  {
    name: 'videogen_database_up',
    help: 'Whether the database responds, accepts writes and has the schema of this release, as of the last check',
    labels: ['of'],
    on: on('database_checked', ({ part, isUp }) => [{ of: part }, isUp ? 1 : 0]),
  },
  {
    name: 'videogen_temporal_up',
    help: 'Whether Temporal responds and has the namespace, as of the last check',
    labels: ['of'],
    on: on('temporal_checked', ({ part, isUp }) => [{ of: part }, isUp ? 1 : 0]),
  },
  {
    name: 'videogen_schedule_present',
    help: 'Whether the last check of this worker found or created the schedule for this task queue',
    labels: ['queue', 'schedule'],
    on: on('schedule_checked', ({ queue, schedule, isPresent }) => [{ queue, schedule }, isPresent ? 1 : 0]),
  },
];

/** Skips jobs on our own machines, which have no pool. */
function onUpstreamJob(sample: (job: EndedCall, names: Names) => Sample | undefined): EventMetric['on'] {
  return on('job_ended', ({ job }, names) => (job.pool === undefined ? undefined : sample(job, names)));
}

function callbackOutcomeOf(status: number | undefined): (typeof callbackOutcomes)[number] {
  if (status === undefined) return 'unreachable';
  if (status === 410) return 'rejected';
  return status >= 200 && status < 300 ? 'delivered' : 'refused';
}
