// The only interface between purchases and a payment provider. Another provider is one folder that implements it, and a line in
// create-payment-provider.ts.

export const paymentProviderNames = ['stripe'] as const;
export type PaymentProviderName = (typeof paymentProviderNames)[number];

/** A purchase as it was ordered. It travels with the checkout, so that a database restored from a backup can be completed from there. */
export type Order = {
  readonly topUpId: string;
  readonly accountId: string;
  readonly package: string;
  readonly credits: number;
  /** Three capital letters. */
  readonly currency: string;
  /** The price in the smallest unit of the currency. */
  readonly minorUnits: number;
};

export type NewCheckout = {
  readonly order: Order;
  readonly title: string;
  /** The provider's own price, if the catalogue names one. */
  readonly priceId?: string | undefined;
  readonly successUrl: string;
  readonly cancelUrl: string;
};

export type Checkout = {
  readonly checkoutId: string;
  /** The provider's page, where the customer pays. */
  readonly url: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** The price that the customer will pay. */
  readonly currency: string;
  readonly minorUnits: number;
};

/** `processing`: the customer has finished the checkout, and the money is still on its way. */
export type PaymentState = 'open' | 'processing' | 'paid' | 'failed' | 'expired';

/** A checkout as the provider has it now. */
export type Payment = {
  readonly checkoutId: string;
  /** Undefined for a checkout that this software did not create. */
  readonly order: Order | undefined;
  /** The installation that created it. */
  readonly serviceUrl: string | undefined;
  readonly state: PaymentState;
  readonly isTest: boolean;
  readonly paymentId: string | undefined;
  readonly currency: string;
  readonly minorUnits: number;
  readonly receiptUrl: string | undefined;
};

export const reversalKinds = ['refund', 'dispute'] as const;

/** A refund or a dispute as the provider has it now. */
export type Reversal = {
  readonly reference: string;
  readonly kind: (typeof reversalKinds)[number];
  /**
   * The part of the payment that has left us, in the smallest unit of the currency of the price. Undefined if the amount is in another
   * currency, and the provider does not say which part of the payment it is.
   */
  readonly minorUnits: number | undefined;
  /** True if the money has left us: false for a refund that failed, and for a dispute that was won. */
  readonly isTaken: boolean;
  readonly isFinal: boolean;
};

export type PaidPrice = Pick<Order, 'currency' | 'minorUnits'>;

/** An event only names what has changed. Its content is never trusted: the provider is read instead. */
export type PaymentEvent =
  | { readonly kind: 'checkout'; readonly checkoutId: string }
  | { readonly kind: 'reversal'; readonly paymentId: string }
  | { readonly kind: 'other'; readonly type: string };

export type PaymentProvider = {
  readonly name: PaymentProviderName;
  /** True if no real money moves. */
  readonly isTest: boolean;
  /** Creates one checkout for an order, however often it is repeated. */
  createCheckout(checkout: NewCheckout): Promise<Checkout>;
  expireCheckout(checkoutId: string): Promise<void>;
  /** Undefined if the provider does not have the checkout. */
  readCheckout(checkoutId: string): Promise<Payment | undefined>;
  /** Lists checkouts that were created since and are finished, newest first. */
  listFinishedCheckouts(sinceMs: number): AsyncIterable<Payment>;
  /** Lists the refunds and disputes of a payment. Undefined if the provider does not have the payment. */
  readReversals(paymentId: string, price: PaidPrice): Promise<readonly Reversal[] | undefined>;
  /** Lists payments of which refunds or disputes were created since; some more than once. */
  listReversedPayments(sinceMs: number): AsyncIterable<string>;
  /** Checks the signature of an event and its age. Throws `InvalidPaymentEventError`. */
  readEvent(body: Buffer, header: (name: string) => string): Promise<PaymentEvent>;
};

/** The provider did not respond, or refused our request. */
export class PaymentsUnavailableError extends Error {
  override readonly name = 'PaymentsUnavailableError';
}

/** An event that the provider did not sign, or signed too long ago. */
export class InvalidPaymentEventError extends Error {
  override readonly name = 'InvalidPaymentEventError';
}
