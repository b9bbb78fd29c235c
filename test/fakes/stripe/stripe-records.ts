import { randomUUID } from 'node:crypto';

// A FAKE: the records of a Stripe account, as far as Stripe Checkout in the mode `payment` needs them, by Stripe's documentation of the
// objects Session, PaymentIntent, Charge, Refund, Dispute and Event. A test plays the customer, the bank and the Dashboard.

export type FakeSession = {
  readonly id: string;
  readonly created: number;
  readonly expires_at: number;
  readonly amount_total: number;
  readonly currency: string;
  readonly client_reference_id: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid';
  payment_intent: string | null;
};

export type FakeIntent = {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly charge: string;
  status: 'processing' | 'succeeded' | 'requires_payment_method';
};

export type FakeCharge = {
  readonly id: string;
  amount: number;
  currency: string;
  readonly payment_intent: string;
  readonly receipt_url: string;
  /** Cumulative; without refunds that failed. */
  amount_refunded: number;
};

export type FakeRefund = {
  readonly id: string;
  readonly created: number;
  readonly amount: number;
  readonly currency: string;
  readonly payment_intent: string;
  status: 'succeeded' | 'pending' | 'failed';
};

export type FakeDispute = {
  readonly id: string;
  readonly created: number;
  readonly amount: number;
  readonly currency: string;
  readonly payment_intent: string;
  /** Money that the dispute withdrew from our balance, and reinstated. */
  readonly moved: number[];
  status: 'needs_response' | 'warning_needs_response' | 'warning_closed' | 'won' | 'lost';
};

/** `object` is the record at that time; what it names may have changed before the event arrives. */
export type FakeEvent = {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly object: object;
};

export type NewSession = Pick<FakeSession, 'amount_total' | 'currency' | 'client_reference_id' | 'metadata'>;

export type StripeRecords = ReturnType<typeof createStripeRecords>;

const daySeconds = 86_400;
const now = () => Math.floor(Date.now() / 1000);
const newId = (prefix: string) => `${prefix}_${randomUUID().replaceAll('-', '')}`;

export function found<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`the fake has no ${what}`);
  return value;
}

export function createStripeRecords() {
  const sessions = new Map<string, FakeSession>();
  const intents = new Map<string, FakeIntent>();
  const charges = new Map<string, FakeCharge>();
  const refunds = new Map<string, FakeRefund>();
  const disputes = new Map<string, FakeDispute>();
  const events: FakeEvent[] = [];
  const record = (type: string, object: object) => {
    events.push({ id: newId('evt'), type, created: now(), object: structuredClone(object) });
  };
  const chargeOf = (intentId: string) =>
    found(charges.get(found(intents.get(intentId), 'payment').charge), 'charge of the payment');

  /** The customer completes the checkout; a delayed payment is still on its way. Returns the payment. */
  const pay = (sessionId: string, { isDelayed = false } = {}): string => {
    const session = found(sessions.get(sessionId), 'session');
    if (session.status !== 'open') throw new Error(`the customer cannot pay a session that is ${session.status}`);
    const { amount_total: amount, currency } = session;
    const [id, charge] = [newId('pi'), newId('ch')];
    intents.set(id, { id, amount, currency, charge, status: isDelayed ? 'processing' : 'succeeded' });
    const receipt_url = `https://pay.stripe.com/receipts/${charge}`;
    charges.set(charge, { id: charge, amount, currency, payment_intent: id, receipt_url, amount_refunded: 0 });
    session.status = 'complete';
    session.payment_status = isDelayed ? 'unpaid' : 'paid';
    session.payment_intent = id;
    record('checkout.session.completed', session);
    return id;
  };
  return {
    sessions,
    intents,
    charges,
    refunds,
    disputes,
    events,
    open: ({ amount_total, currency, client_reference_id, metadata }: NewSession): FakeSession => {
      const created = now();
      const id = newId('cs_test');
      const session: FakeSession = {
        id,
        created,
        expires_at: created + daySeconds,
        amount_total,
        currency,
        client_reference_id,
        metadata,
        status: 'open',
        payment_status: 'unpaid',
        payment_intent: null,
      };
      sessions.set(id, session);
      return session;
    },
    pay,
    /** A delayed payment arrives or fails. */
    endDelayed: (sessionId: string, outcome: 'succeeded' | 'failed') => {
      const session = found(sessions.get(sessionId), 'session');
      const intent = found(intents.get(session.payment_intent ?? ''), 'payment of the session');
      intent.status = outcome === 'succeeded' ? 'succeeded' : 'requires_payment_method';
      if (outcome === 'succeeded') session.payment_status = 'paid';
      record(`checkout.session.async_payment_${outcome}`, session);
    },
    expire: (sessionId: string): FakeSession => {
      const session = found(sessions.get(sessionId), 'session');
      if (session.status !== 'open') throw new Error(`a session that is ${session.status} cannot expire`);
      session.status = 'expired';
      record('checkout.session.expired', session);
      return session;
    },
    refund: (
      intentId: string,
      amount: number,
      status: 'succeeded' | 'pending' = 'succeeded',
      currency = chargeOf(intentId).currency,
    ): FakeRefund => {
      const charge = chargeOf(intentId);
      if (charge.amount_refunded + amount > charge.amount) throw new Error('the refund is larger than what is left');
      const refund: FakeRefund = {
        id: newId('re'),
        created: now(),
        amount,
        currency,
        payment_intent: intentId,
        status,
      };
      refunds.set(refund.id, refund);
      charge.amount_refunded += amount;
      record('charge.refunded', charge);
      return refund;
    },
    /** With Adaptive Pricing, the customer paid in a currency of their own. */
    payIn: (intentId: string, amount: number, currency: string) =>
      Object.assign(chargeOf(intentId), { amount, currency }),
    /** A refund that was pending arrives. */
    completeRefund: (refundId: string) => {
      const refund = found(refunds.get(refundId), 'refund');
      refund.status = 'succeeded';
      record('refund.updated', refund);
    },
    /** The customer's bank sends the money back to us. */
    failRefund: (refundId: string) => {
      const refund = found(refunds.get(refundId), 'refund');
      refund.status = 'failed';
      chargeOf(refund.payment_intent).amount_refunded -= refund.amount;
      record('refund.failed', refund);
    },
    /** An inquiry withdraws no money. */
    dispute: (intentId: string, amount: number, { isInquiry = false } = {}): FakeDispute => {
      const dispute: FakeDispute = {
        id: newId('dp'),
        created: now(),
        amount,
        currency: chargeOf(intentId).currency,
        payment_intent: intentId,
        moved: isInquiry ? [] : [-amount],
        status: isInquiry ? 'warning_needs_response' : 'needs_response',
      };
      disputes.set(dispute.id, dispute);
      record('charge.dispute.created', dispute);
      return dispute;
    },
    /**
     * The money of a dispute that was won returns immediately, or later by `reinstate`. Of one that was lost, what was refunded before
     * returns: https://support.stripe.com/questions/dispute-for-full-charge-amount-after-a-partial-refund-was-issued
     */
    closeDispute: (disputeId: string, status: 'won' | 'lost', { isReinstatedLater = false } = {}) => {
      const dispute = found(disputes.get(disputeId), 'dispute');
      const { amount, amount_refunded: refunded } = chargeOf(dispute.payment_intent);
      const isInquiry = dispute.status === 'warning_needs_response';
      dispute.status = isInquiry ? 'warning_closed' : status;
      const returned = status === 'won' ? dispute.amount : Math.max(0, dispute.amount + refunded - amount);
      if (!isInquiry && !isReinstatedLater && returned > 0) dispute.moved.push(returned);
      record('charge.dispute.closed', dispute);
    },
    /** The money of a dispute that was won returns. */
    reinstate: (disputeId: string) => {
      const dispute = found(disputes.get(disputeId), 'dispute');
      dispute.moved.push(dispute.amount);
      record('charge.dispute.funds_reinstated', dispute);
    },
    /** The money that has left us again, of all refunds and disputes of a payment. */
    takenOf: (intentId: string): number => {
      const ofIntent = ({ payment_intent: of }: FakeRefund | FakeDispute) => of === intentId;
      const moved = [...disputes.values()].filter(ofIntent).flatMap((one) => one.moved);
      return chargeOf(intentId).amount_refunded - moved.reduce((sum, amount) => sum + amount, 0);
    },
  };
}
