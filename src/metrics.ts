import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What this process counts, for Prometheus. Names are part of the contract with operators: docs/operations/reference.md lists them. */
export type Metrics = ReturnType<typeof createMetrics>;

/** From a statement on a quiet database to the longest deadlines that are usual. */
const stageBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200];

/** One registry for each process; its entry point makes it. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const metrics = {
    registry,
    /** Tasks that `reconcile` found without a workflow: `started` anew, or `refunded`. */
    tasksSettled: new Counter({
      name: 'videogen_tasks_settled_total',
      help: 'Tasks that reconcile found without a workflow, by what it did',
      labelNames: ['outcome'] as const,
      registers,
    }),
    /** Acceptances that were answered with 503: no task was found (`none`), or it was `refunded`, or was `too_late`. */
    acceptancesWithdrawn: new Counter({
      name: 'videogen_acceptances_withdrawn_total',
      help: 'Creates with an uncertain commit that were answered 503, by outcome',
      labelNames: ['outcome'] as const,
      registers,
    }),
    /** `of` is `api` or `worker`: each reads the file by itself, and only the worker needs the secrets that it refers to. */
    catalogueLoadedAt: new Gauge({
      name: 'videogen_catalogue_loaded_timestamp_seconds',
      help: 'When the catalogue in force was read, in Unix seconds',
      labelNames: ['of'] as const,
      registers,
    }),
    catalogueStale: new Gauge({
      name: 'videogen_catalogue_stale',
      help: 'Whether the file on disk is refused because of its faults, and the catalogue before it stays in force',
      labelNames: ['of'] as const,
      registers,
    }),
    schedulePresent: new Gauge({
      name: 'videogen_schedule_present',
      help: 'Whether the last check of this worker found or created the schedule for this task queue',
      labelNames: ['queue', 'schedule'] as const,
      registers,
    }),
    creditsCharged: new Counter({
      name: 'videogen_credits_charged_total',
      help: 'Credits charged for tasks that this process accepted',
      labelNames: ['model'] as const,
      registers,
    }),
    creditsRefunded: new Counter({
      name: 'videogen_credits_refunded_total',
      help: 'Credits given back for tasks that this process ended',
      labelNames: ['model'] as const,
      registers,
    }),
    tasksEnded: new Counter({
      name: 'videogen_tasks_ended_total',
      help: 'Tasks that this process ended, by their final state; fail_code is empty for success',
      labelNames: ['model', 'state', 'fail_code'] as const,
      registers,
    }),
    taskStage: new Histogram({
      name: 'videogen_task_stage_duration_seconds',
      help: 'How long the stages of tasks took that came to their end',
      labelNames: ['stage'] as const,
      buckets: stageBuckets,
      registers,
    }),
    databaseUp: new Gauge({
      name: 'videogen_database_up',
      help: 'Whether the database answers, accepts writes and has the schema of this release, as of the last check',
      labelNames: ['of'] as const,
      registers,
    }),
    temporalUp: new Gauge({
      name: 'videogen_temporal_up',
      help: 'Whether Temporal answers and has the namespace, as of the last check',
      labelNames: ['of'] as const,
      registers,
    }),
    /** Why a part of the process is not ready, for `/readyz` on METRICS_PORT. */
    readiness: new Map<PartName, () => readonly string[]>(),
    /** How the connections of a part of the process are used, as of each scrape. */
    databases: exportDatabases(registry),
  };
  // A counter that first appears with its first event hides that event from increase().
  for (const outcome of ['started', 'refunded']) metrics.tasksSettled.inc({ outcome }, 0);
  for (const outcome of ['none', 'refunded', 'too_late']) metrics.acceptancesWithdrawn.inc({ outcome }, 0);
  return metrics;
}

/** The parts of a process; `npm start` has both. */
export type PartName = 'api' | 'worker';

/** How the connections of a pool are used now; `waiting` are callers without one. */
type DatabaseUsage = { readonly limit: number; readonly idle: number; readonly busy: number; readonly waiting: number };

function exportDatabases(registry: Registry): Map<PartName, () => DatabaseUsage> {
  const databases = new Map<PartName, () => DatabaseUsage>();
  const gauge = (name: string, help: string, valuesOf: (usage: DatabaseUsage) => Record<string, number>) => {
    const made: Gauge<'of' | 'state'> = new Gauge({
      name: `videogen_database_${name}`,
      help,
      labelNames: ['of', 'state'],
      registers: [registry],
      collect: () => {
        for (const [of, usage] of databases)
          for (const [state, value] of Object.entries(valuesOf(usage())))
            made.set(state === '' ? { of } : { of, state }, value);
      },
    });
  };
  gauge('connections', 'Open connections of this process to the database', ({ idle, busy }) => ({ idle, busy }));
  gauge('connections_limit', 'Connections that this process may open to the database', ({ limit }) => ({ '': limit }));
  gauge('callers_waiting', 'Statements of this process that wait for a connection', ({ waiting }) => ({ '': waiting }));
  return databases;
}

/** What the live catalogue of a part of the process calls each time that it has read its file. */
export function recordCatalogue({ catalogueLoadedAt, catalogueStale }: Metrics, of: PartName) {
  return (isRefused: boolean): void => {
    catalogueStale.set({ of }, isRefused ? 1 : 0);
    if (!isRefused) catalogueLoadedAt.setToCurrentTime({ of });
  };
}
