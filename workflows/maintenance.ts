import { ActivityCancellationType, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { MainActivities } from '../activities/index.ts';
import type { AuditKind, HousekeepingStep } from '../src/temporal/maintenance.ts';

// The workflows of the schedules. A run that fails is repeated by the next one, so most are retried little.

const cancellationType = ActivityCancellationType.TRY_CANCEL;
const common = { heartbeatTimeout: '20s', cancellationType } as const;

/** Tasks that wait for money or for their start: retried within the run. */
const { settleTasks, startOwedCallbacks } = proxyActivities<MainActivities>({
  ...common,
  startToCloseTimeout: '5m',
  scheduleToCloseTimeout: '6m',
  retry: { initialInterval: '1s', maximumInterval: '10s', maximumAttempts: 5 },
});

/** These may be done a minute later, so that they never delay the next settling of tasks. */
const { settleProviderJobs, startClosings } = proxyActivities<MainActivities>({
  ...common,
  startToCloseTimeout: '90s',
  scheduleToCloseTimeout: '2m',
  retry: { maximumAttempts: 1 },
});

/** Every minute: what a crash, an operator or the passing of time left undone. No step waits for another. */
export async function reconcile(): Promise<{ started: number; refunded: number; callbacks: number }> {
  const steps = [settleTasks(), startOwedCallbacks(), settleProviderJobs(), startClosings()] as const;
  await Promise.allSettled(steps);
  const [tasks, callbacks] = await Promise.all(steps);
  return { started: tasks.started, refunded: tasks.refunded, callbacks: callbacks.started };
}

const { housekeep } = proxyActivities<MainActivities>({
  ...common,
  startToCloseTimeout: '5m',
  scheduleToCloseTimeout: '6m',
  retry: { maximumAttempts: 1 },
});

/**
 * Every ten minutes: deletes expired data. The steps are independent: if one fails, the others still run, and then the run fails.
 * The schedule passes the steps as an argument, so that adding one does not change runs in progress.
 */
export async function housekeeping(steps: readonly HousekeepingStep[]): Promise<void> {
  const failed: HousekeepingStep[] = [];
  for (const step of steps) await housekeep(step).catch(() => failed.push(step));
  if (failed.length > 0) throw ApplicationFailure.nonRetryable(`steps failed: ${failed.join(', ')}`);
}

/** An outage of the payment provider is retried a few times only. */
const payments = proxyActivities<MainActivities>({
  heartbeatTimeout: '1m',
  cancellationType,
  startToCloseTimeout: '25m',
  scheduleToCloseTimeout: '50m',
  retry: { initialInterval: '10s', maximumInterval: '5m', maximumAttempts: 5 },
});

/** Every hour: grants what was paid without an event, and books refunds and disputes. */
export async function reconcilePayments(): Promise<{ checked: number; failed: number }> {
  return await payments.reconcilePayments();
}

/** The audit starts again from its beginning after a failure, such as an outage of the database. */
const { auditBooks } = proxyActivities<MainActivities>({
  heartbeatTimeout: '1m',
  startToCloseTimeout: '12h',
  retry: { initialInterval: '10s', maximumInterval: '5m' },
});

/** Checks the ledger: every hour what is recent, every night everything. */
export async function audit(kind: AuditKind): Promise<{ violations: number }> {
  return await auditBooks(kind);
}
