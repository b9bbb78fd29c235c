import { bookCredits } from '../ledger/ledger-entries-and-book-credits.ts';
import type { Database } from '../../platform/database/database.ts';
import { maybeOne, noRows, type StatementRunner } from '../../platform/database/declare-statements.ts';
import type { Order, Payment, PaymentProvider, PaymentState } from './payment-provider.ts';
import { type GrantObstacle, insertTopUpRow, type SettlementTrigger, type TopUp, topUpColumns } from './top-ups.ts';

// Brings a purchase to the state that the provider reports. It is safe to repeat and to run concurrently: the row is locked, and a paid
// row never changes again.

export type TopUpGrantOutcome =
  | { readonly kind: 'granted'; readonly topUp: Order }
  | { readonly kind: 'already_granted'; readonly topUp: Order }
  /** The purchase failed, expired or is still on its way. */
  | { readonly kind: 'not_paid'; readonly topUp: Order }
  /** Paid, but not granted; an operator must decide. */
  | { readonly kind: 'not_granted'; readonly topUp: Order; readonly reason: GrantObstacle }
  /** A checkout of another software or installation. */
  | { readonly kind: 'foreign' };

export type TopUpGrantDeps = {
  readonly db: Database;
  readonly provider: PaymentProvider;
  readonly serviceUrl: string;
};

/** `payment` was read from the provider, never from an event. */
export async function grantTopUpIfPaid(
  settling: TopUpGrantDeps,
  payment: Payment,
  by: SettlementTrigger,
): Promise<TopUpGrantOutcome> {
  const { db } = settling;
  const { order, checkoutId } = payment;
  if (order === undefined) return { kind: 'foreign' };
  try {
    return await db.transaction(async (run) => {
      const settlement = await settle({ run }, settling, { ...payment, order }, by);
      if (settlement.kind === 'granted') await deleteUngrantedPayment({ run }, checkoutId);
      if (settlement.kind === 'not_granted') await recordUngranted({ run }, checkoutId, order, settlement.reason);
      return settlement;
    });
  } catch (error) {
    if (!(error instanceof BalanceOutOfRangeError)) throw error;
    const reason = 'balance_out_of_range';
    await recordUngranted(db, checkoutId, order, reason);
    return { kind: 'not_granted', topUp: order, reason };
  }
}

type Ordered = Payment & { readonly order: Order };

async function settle(
  db: StatementRunner,
  { provider, serviceUrl }: TopUpGrantDeps,
  payment: Ordered,
  by: SettlementTrigger,
): Promise<TopUpGrantOutcome> {
  const { order, state, checkoutId } = payment;
  let topUp = await lockTopUp(db, order.topUpId);
  if (topUp === undefined) {
    // The database was restored from a backup that is older than the purchase, or the checkout belongs to another installation.
    if (payment.serviceUrl !== serviceUrl) return { kind: 'foreign' };
    if (state !== 'paid') return { kind: 'not_paid', topUp: order };
    await insertTopUpRow(db, order, { name: provider.name, isTest: payment.isTest });
    topUp = await lockTopUp(db, order.topUpId);
    if (topUp === undefined) return { kind: 'not_granted', topUp: order, reason: 'account_not_found' };
  }
  if (topUp.checkoutId !== undefined && topUp.checkoutId !== checkoutId) {
    return state === 'paid' ? { kind: 'not_granted', topUp, reason: 'other_checkout' } : { kind: 'not_paid', topUp };
  }
  if (topUp.state === 'paid') return { kind: 'already_granted', topUp };
  if (state !== 'paid') {
    await changeState(db, topUp.topUpId, state, checkoutId);
    return { kind: 'not_paid', topUp };
  }
  if (payment.currency !== topUp.currency || payment.minorUnits !== topUp.minorUnits) {
    return { kind: 'not_granted', topUp, reason: 'amount_differs' };
  }
  await markPaid(db, topUp.topUpId, payment, by);
  await grant(db, topUp);
  return { kind: 'granted', topUp };
}

/** A closed account gets its credits too, because its owner has paid; the operator can return the payment. */
async function grant(db: StatementRunner, { accountId, credits, topUpId, package: name }: TopUp): Promise<void> {
  const reason = `Top-up ${name}`;
  const entry = await bookCredits(db, { accountId, kind: 'grant', amount: credits, reason, topUpId });
  if (entry === undefined) throw new BalanceOutOfRangeError();
}

/** Rolls the payment back, so that it stays ungranted. */
class BalanceOutOfRangeError extends Error {
  override readonly name = 'BalanceOutOfRangeError';
}

const lockTopUp = maybeOne<TopUp, [topUpId: string]>({
  name: 'lock-top-up',
  text: `select ${topUpColumns} from top_ups where id = $1 for update`,
});

// A view of the provider may be outdated, so a purchase that has ended is only changed by its payment.
const changeState = noRows<[topUpId: string, state: PaymentState, checkoutId: string]>({
  name: 'change-top-up-state',
  text: `
update top_ups set state = $2, checkout_id = $3
where id = $1 and (state = 'open' or state = 'processing' and $2 <> 'open')`,
});

const markPaid = noRows<[topUpId: string, payment: Payment, by: SettlementTrigger]>({
  name: 'mark-top-up-paid',
  text: `
update top_ups set state = 'paid', paid_at = now(), checkout_id = $2, payment_id = $3, receipt_url = $4, settled_by = $5
where id = $1`,
  values: (topUpId, { checkoutId, paymentId, receiptUrl }, by) => [topUpId, checkoutId, paymentId, receiptUrl, by],
});

const recordUngranted = noRows<[checkoutId: string, order: Order, reason: GrantObstacle]>({
  name: 'record-ungranted-payment',
  text: `
insert into ungranted_payments (checkout_id, top_up_id, account_id, reason) values ($1, $2, $3, $4)
on conflict (checkout_id) do update set reason = excluded.reason`,
  values: (checkoutId, { topUpId, accountId }, reason) => [checkoutId, topUpId, accountId, reason],
});

/** The payment was granted, or returned in full. */
export const deleteUngrantedPayment = noRows<[checkoutId: string]>({
  name: 'forget-ungranted-payment',
  text: 'delete from ungranted_payments where checkout_id = $1',
});
