import { listOpenClosures } from '../../src/tasks/end/close-account-rows.ts';
import { listOverdueDeliveries, type OverdueDelivery } from '../../src/tasks/callbacks/deliveries.ts';
import type { WorkflowEngine } from '../../src/catalogue/tasks/workflow-engine.ts';
import { processRowsFromStoredCursor, type RowProcessingDeps } from './process-rows-from-cursor.ts';

// Steps of `reconcile` that start workflows which should run. They are idempotent and driven from the database.

/** The workflow of a delivery itself sends a callback that is late by up to this time. */
export const callbackGraceMs = 60_000;

export type StartOwedCallbacksDeps = RowProcessingDeps & { readonly engine: Pick<WorkflowEngine, 'wakeDelivery'> };

/**
 * Starts callbacks and events that no workflow delivers, after a crash or a termination, and those whose redelivery was not signalled.
 * This is also the ordinary start of events that are about no task, so that a create does not wait for Temporal.
 */
export function createStartCallbacksActivity(deps: StartOwedCallbacksDeps) {
  return async (): Promise<{ started: number }> => {
    let started = 0;
    await processRowsFromStoredCursor<OverdueDelivery>(deps, {
      name: 'start-owed-callbacks',
      page: (page) => listOverdueDeliveries(deps.db, { minAgeMs: callbackGraceMs, ...page }),
      work: async ({ deliveryId, accountId, taskId }) => {
        await deps.engine.wakeDelivery({ deliveryId, accountId });
        started += 1;
        if (taskId !== undefined) deps.events.emit({ kind: 'reconcile_finding', finding: 'callback_owed' });
      },
    });
    return { started };
  };
}

export type StartClosingsDeps = RowProcessingDeps & { readonly engine: Pick<WorkflowEngine, 'startClosing'> };

/** Starts the workflows of accounts that are being closed, unless they run. */
export function createStartClosingsActivity(deps: StartClosingsDeps) {
  return async (): Promise<void> => {
    await processRowsFromStoredCursor<{ readonly accountId: string }>(deps, {
      name: 'start-closings',
      page: ({ after, limit }) => listOpenClosures(deps.db, { after: after?.accountId, limit }),
      work: ({ accountId }) => deps.engine.startClosing(accountId),
    });
  };
}
