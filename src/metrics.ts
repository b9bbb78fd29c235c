import { Counter, Gauge, Registry } from 'prom-client';

/** What this process counts, for Prometheus. Names are part of the contract with operators: docs/operations.md lists them. */
export type Metrics = ReturnType<typeof createMetrics>;

/** One registry for each process; its entry point makes it. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
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
  };
}

/** What the live catalogue of a part of the process calls each time that it has read its file. */
export function recordCatalogue({ catalogueLoadedAt, catalogueStale }: Metrics, of: 'api' | 'worker') {
  return (isRefused: boolean): void => {
    catalogueStale.set({ of }, isRefused ? 1 : 0);
    if (!isRefused) catalogueLoadedAt.setToCurrentTime({ of });
  };
}
