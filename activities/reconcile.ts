import { listOpenClosures } from '../src/accounts/account-closure.ts';
import { listOverdueDeliveries, type OverdueDelivery } from '../src/callbacks/deliveries.ts';
import type { ActivityDeps } from './deps.ts';
import { forEachRow } from './for-each-row.ts';
import { settleProviderJobs } from './settle-provider-jobs.ts';
import { reconcileTasks } from './reconcile-tasks.ts';

/** A callback overdue by no more than this is left to the workflow that owes it. */
const callbackGraceMs = 60_000;

/** The steps of `reconcile`; each is idempotent and driven from the database. */
export function createReconcileActivities(deps: ActivityDeps) {
  return {
    reconcileTasks: () => reconcileTasks(deps),
    settleProviderJobs: () => settleProviderJobs(deps),
    startOwedCallbacks: () => startOwedCallbacks(deps),
    startClosings: () => startClosings(deps),
  };
}

/**
 * Starts callbacks and events that no workflow delivers, after a crash or a termination, and those whose redelivery was not signalled.
 * This is also the ordinary start of events that are about no task, so that a create does not wait for Temporal.
 */
async function startOwedCallbacks(deps: ActivityDeps): Promise<{ started: number }> {
  let started = 0;
  await forEachRow<OverdueDelivery>(deps, {
    name: 'start-owed-callbacks',
    page: (page) => listOverdueDeliveries(deps.db, { minAgeMs: callbackGraceMs, ...page }),
    work: async ({ deliveryId, accountId, taskId }) => {
      await deps.engine.wakeDelivery({ deliveryId, accountId });
      started += 1;
      if (taskId !== undefined) deps.events.emit({ kind: 'reconcile_finding', finding: 'callback_owed' });
    },
  });
  return { started };
}

/** Starts the workflows of accounts that are being closed, unless they run. */
async function startClosings(deps: ActivityDeps): Promise<void> {
  await forEachRow<{ readonly accountId: string }>(deps, {
    name: 'start-closings',
    page: ({ after, limit }) => listOpenClosures(deps.db, { after: after?.accountId, limit }),
    work: ({ accountId }) => deps.engine.startClosing(accountId),
  });
}
