import type { createAuditBooks } from './maintenance/audit-books.ts';
import type { createEmptyAccountPage, createFinishClosing } from './close-account.ts';
import type { createConfirmCharge } from './confirm-charge.ts';
import type { createCompleteTask, createRefundCredits } from './end-task.ts';
import type { createGenerateVideo } from './generate-video.ts';
import type { createHousekeep } from './maintenance/housekeeping.ts';
import type { createReconcilePayments } from './maintenance/reconcile-payments.ts';
import type { createReconcileTasks } from './maintenance/reconcile-tasks.ts';
import type { createSendCallback } from './send-callback.ts';
import type { createSettleProviderJobs } from './maintenance/settle-provider-jobs.ts';
import type { createStartClosings, createStartOwedCallbacks } from './maintenance/start-owed-workflows.ts';
import type { createStoreResult } from './store-result.ts';
import type { createTestProvider } from './test-provider.ts';

// The activities of each task queue, under the names that recorded histories contain. `src/run/main/wire-activities.ts` creates them, and
// does not compile if one is missing.

export type MainActivities = {
  /** Confirms the charge that createTask made. Only the order of an operator is charged here. */
  readonly chargeCredits: ReturnType<typeof createConfirmCharge>;
  readonly storeResult: ReturnType<typeof createStoreResult>;
  readonly completeTask: ReturnType<typeof createCompleteTask>;
  readonly refundCredits: ReturnType<typeof createRefundCredits>;
  readonly auditBooks: ReturnType<typeof createAuditBooks>;
  readonly housekeep: ReturnType<typeof createHousekeep>;
  readonly reconcilePayments: ReturnType<typeof createReconcilePayments>;
  readonly testProvider: ReturnType<typeof createTestProvider>;
  readonly reconcileTasks: ReturnType<typeof createReconcileTasks>;
  readonly settleProviderJobs: ReturnType<typeof createSettleProviderJobs>;
  readonly startOwedCallbacks: ReturnType<typeof createStartOwedCallbacks>;
  readonly startClosings: ReturnType<typeof createStartClosings>;
  readonly emptyAccountPage: ReturnType<typeof createEmptyAccountPage>;
  readonly finishClosing: ReturnType<typeof createFinishClosing>;
};

export type GenerationActivities = { readonly generateVideo: ReturnType<typeof createGenerateVideo> };

export type CallbackActivities = { readonly sendCallback: ReturnType<typeof createSendCallback> };
