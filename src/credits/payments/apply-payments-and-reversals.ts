import type { MetricEventSink } from '../../platform/metrics/metric-event-sink.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Payment, PaymentEvent } from './payment-provider.ts';
import { readAndBookReversals } from './book-reversals.ts';
import { grantTopUpIfPaid, type TopUpGrantDeps } from './grant-top-up-if-paid.ts';
import type { SettlementTrigger } from './top-ups.ts';

// Settles and reverses payments, with log lines and metrics. Both events and reconciliation use these functions.

export const paymentOutcomes = [
  'granted',
  'granted_late',
  'not_granted',
  'reversed',
  'not_comparable',
  'unknown',
] as const;
/** `granted_late`: reconciliation found the payment, not an event; `unknown`: an event about a payment that is not ours. */
export type PaymentSettledMetricEvent = {
  readonly kind: 'payment_settled';
  readonly outcome: (typeof paymentOutcomes)[number];
};

export type PaymentDeps = TopUpGrantDeps & {
  readonly log: Log;
  readonly events: MetricEventSink<PaymentSettledMetricEvent>;
};

/** Reads what an event is about from the provider and applies it. */
export async function applyPaymentEvent(deps: PaymentDeps, event: PaymentEvent): Promise<void> {
  if (event.kind === 'other') {
    deps.log.debug({ type: event.type }, 'payment event ignored');
  } else if (event.kind === 'reversal') {
    await applyReversals(deps, event.paymentId);
  } else {
    const payment = await deps.provider.readCheckout(event.checkoutId);
    if (payment === undefined) noteUnknown(deps, { checkoutId: event.checkoutId });
    else await applyPaymentAndReversals(deps, payment, 'event');
  }
}

export async function applyPaymentAndReversals(
  deps: PaymentDeps,
  payment: Payment,
  by: SettlementTrigger,
): Promise<void> {
  const { log, events } = deps;
  const { checkoutId, paymentId } = payment;
  const settlement = await grantTopUpIfPaid(deps, payment, by);
  if (settlement.kind === 'foreign') return by === 'event' ? noteUnknown(deps, { checkoutId }) : undefined;
  const { topUpId, accountId, credits } = settlement.topUp;
  const fields = { topUpId, accountId, checkoutId, paymentId };
  if (settlement.kind === 'not_granted') {
    events.emit({ kind: 'payment_settled', outcome: 'not_granted' });
    log.error({ ...fields, reason: settlement.reason }, 'payment not granted');
  } else if (settlement.kind === 'granted') {
    const isLate = by === 'reconciliation';
    events.emit({ kind: 'payment_settled', outcome: isLate ? 'granted_late' : 'granted' });
    if (isLate) log.warn({ ...fields, credits }, 'payment granted by reconciliation; no event had arrived');
    else log.info({ ...fields, credits }, 'payment granted');
  }
  // A refund may have been processed before its payment was known, also by a process that died after the grant.
  const isPaid = settlement.kind === 'granted' || (settlement.kind === 'already_granted' && by === 'event');
  if (isPaid && paymentId !== undefined) await applyReversals(deps, paymentId);
}

export async function applyReversals(deps: PaymentDeps, paymentId: string): Promise<void> {
  const outcome = await readAndBookReversals(deps, paymentId);
  if (outcome.kind === 'unknown_payment') return noteUnknown(deps, { paymentId });
  const { topUpId, accountId } = outcome.topUp;
  const fields = { topUpId, accountId, paymentId };
  for (const booked of outcome.booked) {
    deps.events.emit({ kind: 'payment_settled', outcome: 'reversed' });
    deps.log.warn({ ...fields, ...booked }, 'payment reversal booked');
  }
  for (const reference of outcome.notComparable) {
    deps.events.emit({ kind: 'payment_settled', outcome: 'not_comparable' });
    deps.log.error({ ...fields, reference }, 'payment reversal not booked: its currency is not comparable');
  }
}

/** The same account at the provider may have other customers than ours. */
function noteUnknown({ log, events }: PaymentDeps, fields: Readonly<Record<string, string>>): void {
  events.emit({ kind: 'payment_settled', outcome: 'unknown' });
  log.info(fields, 'unknown payment ignored');
}
