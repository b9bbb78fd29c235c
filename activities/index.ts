import { createAuditBooks } from './audit-books.ts';
import { createChargeCredits } from './charge-credits.ts';
import type { ActivityDeps } from './deps.ts';
import { createCompleteTask, createRefundCredits } from './end-task.ts';
import { createGenerateVideo } from './generate-video.ts';
import { createClosingActivities } from './close-account.ts';
import { createHousekeep } from './housekeeping.ts';
import { createReconcilePayments } from './reconcile-payments.ts';
import { createReconcileActivities } from './reconcile.ts';
import { createSendCallback } from './send-callback.ts';
import { createStoreResult } from './store-result.ts';
import { createTestProvider } from './test-provider.ts';

export function createMainActivities(deps: ActivityDeps) {
  return {
    chargeCredits: createChargeCredits(deps),
    storeResult: createStoreResult(deps),
    completeTask: createCompleteTask(deps),
    refundCredits: createRefundCredits(deps),
    auditBooks: createAuditBooks(deps),
    housekeep: createHousekeep(deps),
    reconcilePayments: createReconcilePayments(deps),
    testProvider: createTestProvider(deps),
    ...createReconcileActivities(deps),
    ...createClosingActivities(deps),
  };
}

export function createGenerationActivities(deps: ActivityDeps) {
  return { generateVideo: createGenerateVideo(deps) };
}

export function createCallbackActivities(deps: ActivityDeps) {
  return { sendCallback: createSendCallback(deps) };
}

export type MainActivities = ReturnType<typeof createMainActivities>;
export type GenerationActivities = ReturnType<typeof createGenerationActivities>;
export type CallbackActivities = ReturnType<typeof createCallbackActivities>;
