import { Counter, Histogram } from 'prom-client';
import type { ActivityDeps } from '../../activities/deps.ts';
import type { Catalogue } from '../domain/catalogue/models.ts';
import type { Metrics } from '../metrics.ts';
import type { EndedCall } from '../stores/provider-jobs.ts';

/** From a clip of a few seconds on a fast machine to the longest deadlines that are usual. */
const durationBuckets = [5, 10, 20, 30, 60, 120, 180, 300, 600, 1200, 1800, 3600, 7200];

/**
 * Counts what a worker does at upstreams. Labels are names of the catalogue and words of ours only, so their number is bounded, and
 * nothing that an upstream or a client has said can be among them.
 */
export function countProviders(
  { registry }: Metrics,
  catalogue: () => Catalogue,
): Pick<ActivityDeps, 'onProviderEvent' | 'onCallEnded'> {
  const counters = createCounters(registry);
  return {
    onProviderEvent: (name, event) => {
      const provider = catalogue().providers.has(name) ? name : removed;
      switch (event.kind) {
        case 'call':
          return counters.calls.inc({ provider, outcome: event.outcome });
        case 'poll':
          return counters.polls.inc({ provider, outcome: event.outcome });
        case 'look_up':
          return counters.lookUps.inc({ provider, outcome: event.outcome });
        case 'resubmission':
          return counters.resubmissions.inc({ provider });
        case 'download':
          counters.downloads.inc({ provider, outcome: event.outcome });
          if (event.outcome === 'complete') counters.downloadedBytes.inc({ provider }, event.bytes);
      }
    },
    onCallEnded: (ended) => {
      // A job on our own machine is in no pool.
      if (ended.pool === undefined) return;
      const { outcome, runMs, costMicros, costCurrency: currency, costBasis } = ended;
      const labels = labelsOf(catalogue(), ended);
      counters.jobs.inc({ ...labels, outcome });
      if (runMs !== undefined && (outcome === 'success' || outcome === 'fail'))
        counters.duration.observe(labels, Math.max(0, runMs) / 1000);
      if (costMicros === undefined || currency === undefined) return;
      counters.cost.inc({ provider: labels.provider, currency, basis: costBasis ?? 'unknown' }, costMicros);
    },
  };
}

/** Stands for what has left the catalogue; no name of it has parentheses. */
const removed = '(removed)';

function labelsOf({ models }: Catalogue, { provider, pool }: Pick<EndedCall, 'provider' | 'pool'>) {
  for (const { tiers } of models.values()) {
    const entry = tiers.flat().find((one) => one.pool === pool);
    if (entry !== undefined) return { provider, model: entry.upstreamModel };
  }
  return { provider: removed, model: removed };
}

function createCounters(registry: Metrics['registry']) {
  const registers = [registry];
  const byOutcome = ['provider', 'outcome'] as const;
  return {
    calls: new Counter({
      name: 'videogen_provider_calls_total',
      help: 'Calls for a job, by what the upstream answered; unknown: its answer was lost',
      labelNames: byOutcome,
      registers,
    }),
    polls: new Counter({
      name: 'videogen_provider_polls_total',
      help: 'Requests for the status of jobs',
      labelNames: byOutcome,
      registers,
    }),
    lookUps: new Counter({
      name: 'videogen_provider_look_ups_total',
      help: 'Questions for the job of a call whose answer was lost',
      labelNames: byOutcome,
      registers,
    }),
    resubmissions: new Counter({
      name: 'videogen_provider_resubmissions_total',
      help: 'Lost jobs that were given up, after which the same provider may make another one',
      labelNames: ['provider'] as const,
      registers,
    }),
    downloads: new Counter({
      name: 'videogen_provider_downloads_total',
      help: 'Downloads of videos; interrupted: it goes on, failed: it begins anew',
      labelNames: byOutcome,
      registers,
    }),
    downloadedBytes: new Counter({
      name: 'videogen_provider_downloaded_bytes_total',
      help: 'Bytes of the videos that were downloaded completely',
      labelNames: ['provider'] as const,
      registers,
    }),
    jobs: new Counter({
      name: 'videogen_provider_jobs_ended_total',
      help: 'Calls and jobs that have ended, by how',
      labelNames: ['provider', 'model', 'outcome'] as const,
      registers,
    }),
    duration: new Histogram({
      name: 'videogen_provider_job_duration_seconds',
      help: 'From the acceptance of a job to its end upstream, of those that succeeded or failed',
      labelNames: ['provider', 'model'] as const,
      buckets: durationBuckets,
      registers,
    }),
    cost: new Counter({
      name: 'videogen_provider_cost_micros_total',
      help: 'What jobs that have ended cost, in millionths of the currency',
      labelNames: ['provider', 'currency', 'basis'] as const,
      registers,
    }),
  };
}
