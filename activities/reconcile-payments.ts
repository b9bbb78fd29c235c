import { Context } from '@temporalio/activity';
import { dayMs } from '../src/platform/duration.ts';
import { type PaymentsReconciled, reconcilePayments } from '../src/payments/reconcile-payments.ts';
import type { ActivityDeps } from './deps.ts';

/** Stripe repeats events for three days; a week leaves operators the time to notice. */
const windowMs = 7 * dayMs;

export function createReconcilePayments(deps: ActivityDeps) {
  return async (): Promise<PaymentsReconciled> => {
    const { db, log, events, payments: provider, publicUrl: serviceUrl } = deps;
    if (provider === undefined) return { checked: 0, failed: 0 };
    const reconciled = await reconcilePayments({ db, log, events, provider, serviceUrl }, Date.now() - windowMs, () => {
      Context.current().heartbeat();
      Context.current().cancellationSignal.throwIfAborted();
    });
    for (let failed = 0; failed < reconciled.failed; failed += 1) {
      events.emit({ kind: 'reconcile_finding', finding: 'failed' });
    }
    return reconciled;
  };
}
