import { Context } from '@temporalio/activity';
import { dayMs } from '../../src/platform/timing/milliseconds-per-unit.ts';
import {
  type PaymentReconciliationCounts,
  reconcilePayments,
} from '../../src/credits/payments/payment-reconciliation.ts';
import type { PaymentDeps } from '../../src/credits/payments/apply-payments-and-reversals.ts';
import type { PaymentProviderAndServiceUrl } from '../close-account.ts';
import type { RowProcessingDeps } from './process-rows-from-cursor.ts';

export type ReconcilePaymentsDeps = RowProcessingDeps &
  Pick<PaymentDeps, 'events'> & { readonly payments: PaymentProviderAndServiceUrl | undefined };

/** Stripe repeats events for three days; a week leaves operators the time to notice. */
export const paymentsWindowMs = 7 * dayMs;

export function createReconcilePaymentsActivity({ db, log, events, payments }: ReconcilePaymentsDeps) {
  return async (): Promise<PaymentReconciliationCounts> => {
    if (payments === undefined) return { checked: 0, failed: 0 };
    const reconciled = await reconcilePayments({ db, log, events, ...payments }, Date.now() - paymentsWindowMs, () => {
      Context.current().heartbeat();
      Context.current().cancellationSignal.throwIfAborted();
    });
    for (let failed = 0; failed < reconciled.failed; failed += 1) {
      events.emit({ kind: 'reconcile_finding', finding: 'failed' });
    }
    return reconciled;
  };
}
