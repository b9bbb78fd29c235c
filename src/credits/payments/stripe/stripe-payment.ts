import type Stripe from 'stripe';
import { validate as isUuid } from 'uuid';
import type { Order, PaidPrice, Payment, PaymentEvent, PaymentState, Reversal } from '../payment-provider.ts';

// Stripe's objects as the terms of our contract.

/**
 * The names of our metadata. Only holders of the secret key can set it, unlike
 * `client_reference_id`, which a payment link takes from its URL.
 */
const names = {
  topUp: 'videogen_top_up',
  account: 'videogen_account',
  package: 'videogen_package',
  credits: 'videogen_credits',
  price: 'videogen_price',
  service: 'videogen_service',
} as const;

export function toStripeMetadata(order: Order, serviceUrl: string): Record<string, string> {
  return {
    [names.topUp]: order.topUpId,
    [names.account]: order.accountId,
    [names.package]: order.package,
    [names.credits]: String(order.credits),
    [names.price]: `${order.minorUnits} ${order.currency}`,
    [names.service]: serviceUrl,
  };
}

function orderOf({ client_reference_id: reference, metadata }: Stripe.Checkout.Session): Order | undefined {
  const { [names.topUp]: topUpId = '', [names.account]: accountId = '' } = metadata ?? {};
  const { [names.package]: name = '', [names.credits]: credits = '', [names.price]: price = '' } = metadata ?? {};
  const [, minorUnits = '', currency = ''] = /^(\d{1,12}) ([A-Z]{3})$/.exec(price) ?? [];
  const isOurs = isUuid(topUpId) && reference === topUpId && isUuid(accountId) && /^\d{1,15}$/.test(credits);
  if (!isOurs || minorUnits === '') return undefined;
  return { topUpId, accountId, package: name, credits: Number(credits), currency, minorUnits: Number(minorUnits) };
}

/** `session` has its payment intent and latest charge expanded. */
export function paymentOf(session: Stripe.Checkout.Session): Payment {
  const { payment_intent: intent } = session;
  const expanded = typeof intent === 'object' && intent !== null ? intent : undefined;
  const charge = expanded?.latest_charge;
  const receiptUrl = typeof charge === 'object' && charge !== null ? charge.receipt_url : undefined;
  return {
    checkoutId: session.id,
    order: orderOf(session),
    serviceUrl: session.metadata?.[names.service],
    state: stateOf(session, expanded?.status),
    isTest: !session.livemode,
    paymentId: typeof intent === 'string' ? intent : intent?.id,
    currency: (session.currency ?? '').toUpperCase(),
    minorUnits: session.amount_total ?? 0,
    receiptUrl: receiptUrl ?? undefined,
  };
}

/** A delayed payment stays `unpaid` while it is on its way and after it has failed; only its intent shows which. */
function stateOf(
  { status, payment_status: paid }: Stripe.Checkout.Session,
  intent: Stripe.PaymentIntent.Status | undefined,
): PaymentState {
  if (paid === 'paid') return 'paid';
  if (status === 'expired') return 'expired';
  if (status !== 'complete') return 'open';
  return intent === 'requires_payment_method' || intent === 'canceled' ? 'failed' : 'processing';
}

const failedRefunds: readonly (string | null)[] = ['failed', 'canceled'];

/**
 * The refunds of a payment, which have their charge expanded; Stripe lists the newest first. Parts in another currency than that of the price
 * are of the sum of all refunds so far, so that partial refunds of a whole charge are exactly the price.
 */
export function reversalsOfRefunds(refunds: readonly Stripe.Refund[], price: PaidPrice): readonly Reversal[] {
  let sum = 0;
  const reversals = refunds.toReversed().map(({ id: reference, amount, currency, charge, status }): Reversal => {
    const before = partOfPrice({ amount: sum, currency, charge }, price);
    sum += amount;
    const after = partOfPrice({ amount: sum, currency, charge }, price);
    const minorUnits = before === undefined || after === undefined ? undefined : after - before;
    const isTaken = !failedRefunds.includes(status);
    return { reference, kind: 'refund', minorUnits, isTaken, isFinal: !isTaken || status === 'succeeded' };
  });
  return reversals.toReversed();
}

type PartOfCharge = {
  readonly amount: number;
  readonly currency: string;
  readonly charge: string | Stripe.Charge | null;
};

/**
 * The part of the price that an amount of its charge is. With Adaptive Pricing, customers pay in a currency of their own, so the charge and
 * the amount are compared in that currency. Undefined if they have none in common.
 */
function partOfPrice({ amount, currency, charge }: PartOfCharge, price: PaidPrice): number | undefined {
  if (currency.toUpperCase() === price.currency) return amount;
  const isComparable =
    typeof charge === 'object' && charge !== null && charge.currency === currency && charge.amount > 0;
  if (!isComparable) return undefined;
  return Number((BigInt(price.minorUnits) * BigInt(amount)) / BigInt(charge.amount));
}

const closedDisputes: readonly string[] = ['won', 'lost', 'warning_closed', 'prevented'];

/** Money may return after a dispute was closed. This is longer than any network takes. */
const returnSeconds = 180 * 86_400;

type Disputed = {
  readonly price: PaidPrice;
  readonly isRefunded: boolean;
};

/**
 * The balance transactions show whether money was withdrawn, which inquiries do not do, and returned, as after a dispute that was won.
 * They are in the currency of the operator's bank account, at the rate of their day, so only their ratio is used. Stripe withdraws the
 * whole payment also if a part was refunded before, and returns that part if the dispute is lost ("partially won").
 */
export function reversalOfDispute(dispute: Stripe.Dispute, { price, isRefunded }: Disputed): Reversal {
  const { id: reference, status } = dispute;
  const movedBy = (sign: 1 | -1) =>
    dispute.balance_transactions.reduce((sum, { amount }) => sum + Math.max(0, sign * amount), 0);
  const [withdrawn, returned] = [movedBy(-1), movedBy(1)];
  const isReturned = status === 'won' ? returned > 0 : returned >= withdrawn;
  const isTaken = withdrawn > 0 && !isReturned;
  const amount = partOfPrice(dispute, price);
  const left = isTaken && amount !== undefined ? Math.round(amount * (1 - returned / withdrawn)) : amount;
  const isRecent = dispute.created > Date.now() / 1000 - returnSeconds;
  const mayReturn = isTaken && (status === 'won' || (isRefunded && returned === 0 && isRecent));
  const isFinal = closedDisputes.includes(status) && !mayReturn;
  return { reference, kind: 'dispute', minorUnits: left, isTaken, isFinal };
}

export function eventOf(event: Stripe.Event): PaymentEvent {
  if (
    event.type === 'checkout.session.completed' ||
    event.type === 'checkout.session.async_payment_succeeded' ||
    event.type === 'checkout.session.async_payment_failed' ||
    event.type === 'checkout.session.expired'
  ) {
    return { kind: 'checkout', checkoutId: event.data.object.id };
  }
  if (
    event.type === 'charge.refunded' ||
    event.type === 'charge.refund.updated' ||
    event.type === 'refund.failed' ||
    event.type === 'refund.updated' ||
    event.type === 'charge.dispute.created' ||
    event.type === 'charge.dispute.updated' ||
    event.type === 'charge.dispute.closed' ||
    event.type === 'charge.dispute.funds_withdrawn' ||
    event.type === 'charge.dispute.funds_reinstated'
  ) {
    return reversalEvent(event.type, event.data.object.payment_intent);
  }
  return { kind: 'other', type: event.type };
}

function reversalEvent(type: string, intent: string | { readonly id: string } | null): PaymentEvent {
  const paymentId = typeof intent === 'string' ? intent : intent?.id;
  return paymentId === undefined ? { kind: 'other', type } : { kind: 'reversal', paymentId };
}
