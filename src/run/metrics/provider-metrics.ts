import type { TaskEvent } from '../../tasks/task-metric-events.ts';
import type { EndedJob } from '../../tasks/jobs/job-ends.ts';
import { type EventMetric, createOnFieldMaker, type Sample } from './metric-declaration.ts';
import type { NameLabels } from './model-and-provider-labels.ts';

const on = createOnFieldMaker<TaskEvent>();

/** Bucket bounds in seconds: from a short clip on a fast machine to the longest usual deadlines. */
const jobBuckets = [5, 10, 20, 30, 60, 120, 180, 300, 600, 1200, 1800, 3600, 7200];

export const providerMetrics: readonly EventMetric[] = [
  {
    type: 'counter',
    name: 'videogen_provider_calls_total',
    help: "Requests for a job by the upstream's response; unknown: the response was lost",
    labels: ['provider', 'outcome'],
    process: 'worker',
    actWhen:
      '`operator` grows: key or account rejected ([runbook](runbooks.md#videogenproviderkeyrefused)). ' +
      '`unknown` is above 3 in 30 minutes: responses lost ([runbook](runbooks.md#videogenprovideranswerslost)). ' +
      '`busy`, `overloaded`, `unreachable`, `refused`: no jobs taken',
    on: on('provider_call', ({ provider, outcome }, names) => [{ provider: names.provider(provider), outcome }, 1]),
  },
  {
    type: 'counter',
    name: 'videogen_provider_lookups_total',
    help: 'Searches for the job of a request whose response was lost',
    labels: ['provider', 'outcome'],
    process: 'worker',
    actWhen: '`unknown` grows: lost jobs cannot be found',
    on: on('provider_lookup', ({ provider, outcome }, names) => [{ provider: names.provider(provider), outcome }, 1]),
  },
  {
    type: 'counter',
    name: 'videogen_provider_resubmissions_total',
    help: 'Lost jobs that were abandoned, after which the same provider may make another one',
    labels: ['provider'],
    process: 'worker',
    actWhen: 'grows: jobs are lost and created again',
    on: on('provider_resubmission', ({ provider }, names) => [{ provider: names.provider(provider) }, 1]),
  },
  {
    type: 'counter',
    name: 'videogen_provider_jobs_ended_total',
    help: 'Requests for a job and jobs that have ended, by outcome',
    labels: ['provider', 'model', 'outcome'],
    process: 'worker',
    actWhen:
      '`fail` is above 50 % of at least 5 jobs in an hour ([runbook](runbooks.md#videogenproviderjobsfail)). ' +
      '`abandoned` or `late_success` (paid after the refund) grows',
    on: onUpstreamJob((job, names) => [{ ...names.job(job), outcome: job.outcome }, 1]),
  },
  {
    type: 'histogram',
    name: 'videogen_provider_job_duration_seconds',
    help: 'From the acceptance of a job to its end upstream, of those that succeeded or failed',
    labels: ['provider', 'model'],
    process: 'worker',
    buckets: jobBuckets,
    on: onUpstreamJob((job, names) =>
      job.runMs !== undefined && (job.outcome === 'success' || job.outcome === 'fail')
        ? [names.job(job), Math.max(0, job.runMs) / 1000]
        : undefined,
    ),
  },
  {
    type: 'counter',
    name: 'videogen_provider_polls_total',
    help: 'Polls of jobs; unclear: without the state of any job',
    labels: ['provider', 'outcome'],
    process: 'worker',
    on: on('provider_poll', ({ provider, outcome }, names) => [{ provider: names.provider(provider), outcome }, 1]),
  },
  {
    type: 'counter',
    name: 'videogen_provider_downloads_total',
    help: 'Downloads of videos; interrupted: it resumes, failed: it restarts',
    labels: ['provider', 'outcome'],
    process: 'worker',
    actWhen: '`failed` is above 3 in 30 minutes ([runbook](runbooks.md#videogendownloadsfail)). `interrupted` grows',
    on: on('provider_download', ({ provider, outcome }, names) => [{ provider: names.provider(provider), outcome }, 1]),
  },
  {
    type: 'counter',
    name: 'videogen_provider_downloaded_bytes_total',
    help: 'Bytes of the videos that were downloaded completely',
    labels: ['provider'],
    process: 'worker',
    on: on('provider_download', (event, names) =>
      event.outcome === 'complete' ? [{ provider: names.provider(event.provider) }, event.bytes] : undefined,
    ),
  },
  {
    type: 'counter',
    name: 'videogen_provider_cost_micros_total',
    help: 'Cost of jobs that have ended, in millionths of the currency',
    labels: ['provider', 'currency', 'basis'],
    process: 'worker',
    on: onUpstreamJob((job, names) => {
      const { costMicros, costCurrency: currency, costBasis: basis = 'unknown' } = job;
      if (costMicros === undefined || currency === undefined) return undefined;
      return [{ provider: names.job(job).provider, currency, basis }, costMicros];
    }),
  },
];

/** Skips jobs on our own machines, which have no pool. */
function onUpstreamJob(sample: (job: EndedJob, names: NameLabels) => Sample | undefined): EventMetric['on'] {
  return on('job_ended', ({ job }, names) => (job.pool === undefined ? undefined : sample(job, names)));
}
