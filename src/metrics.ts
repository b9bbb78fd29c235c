import { Counter, Registry } from 'prom-client';

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
  };
}
