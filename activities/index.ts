import type { createAuditBooksActivity } from './maintenance/audit-books.ts';
import type { createEmptyAccountPageActivity, createFinishClosingActivity } from './close-account.ts';
import type { createConfirmOrChargeActivity } from './confirm-or-charge.ts';
import type { createCheckAndEndTaskActivity, createFailAndRefundActivity } from './end-task.ts';
import type { createGenerateVideoActivity } from './generate-video.ts';
import type { createHousekeepingStepActivity } from './maintenance/housekeeping.ts';
import type { createReconcilePaymentsActivity } from './maintenance/reconcile-payments.ts';
import type { createReconcileTasksActivity } from './maintenance/reconcile-tasks.ts';
import type { createSendCallbackActivity } from './send-callback-or-event.ts';
import type { createSettleJobsActivity } from './maintenance/settle-provider-jobs.ts';
import type {
  createStartClosingsActivity,
  createStartCallbacksActivity,
} from './maintenance/start-owed-callbacks-and-closings.ts';
import type { createStoreResultActivity } from './convert-and-store-video.ts';
import type { createProviderTestActivity } from './run-provider-test.ts';

// The activities of each task queue, under the names that recorded histories contain. `src/run/main/wire-activities.ts` creates them, and
// does not compile if one is missing.

export type MainActivities = {
  /** Confirms the charge that createTask made. Only the order of an operator is charged here. */
  readonly chargeCredits: ReturnType<typeof createConfirmOrChargeActivity>;
  readonly storeResult: ReturnType<typeof createStoreResultActivity>;
  readonly completeTask: ReturnType<typeof createCheckAndEndTaskActivity>;
  readonly refundCredits: ReturnType<typeof createFailAndRefundActivity>;
  readonly auditBooks: ReturnType<typeof createAuditBooksActivity>;
  readonly housekeep: ReturnType<typeof createHousekeepingStepActivity>;
  readonly reconcilePayments: ReturnType<typeof createReconcilePaymentsActivity>;
  readonly testProvider: ReturnType<typeof createProviderTestActivity>;
  readonly reconcileTasks: ReturnType<typeof createReconcileTasksActivity>;
  readonly settleProviderJobs: ReturnType<typeof createSettleJobsActivity>;
  readonly startOwedCallbacks: ReturnType<typeof createStartCallbacksActivity>;
  readonly startClosings: ReturnType<typeof createStartClosingsActivity>;
  readonly emptyAccountPage: ReturnType<typeof createEmptyAccountPageActivity>;
  readonly finishClosing: ReturnType<typeof createFinishClosingActivity>;
};

export type GenerationActivities = { readonly generateVideo: ReturnType<typeof createGenerateVideoActivity> };

export type CallbackActivities = { readonly sendCallback: ReturnType<typeof createSendCallbackActivity> };
