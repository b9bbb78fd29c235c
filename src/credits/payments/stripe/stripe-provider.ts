import pTimeout from 'p-timeout';
import type Stripe from 'stripe';
import { messageOf } from '../../../platform/setup-errors-and-error-messages.ts';
import {
  type Checkout,
  InvalidPaymentEventError,
  type NewCheckout,
  type PaymentProvider,
  PaymentsUnavailableError,
} from '../payment-provider.ts';
import { eventOf, toStripeMetadata, paymentOf, reversalOfDispute, reversalsOfRefunds } from './stripe-payment.ts';

// Stripe Checkout through Stripe's SDK, which opens the connections. It is loaded at the first use.

export type StripeSettings = {
  readonly secretKey: string;
  readonly webhookSecret: string;
  readonly apiUrl: string;
  readonly serviceUrl: string;
};

/** A request is repeated once after a lost response or a 5xx, with the same idempotency key. */
const [requestMs, retries] = [8_000, 1];
/** Includes the retry and the body, which the SDK's own limit does not. */
const callMs = 20_000;
const pageSize = 100;

/** Stripe's recommendation; an event that is replayed later is refused. */
const toleranceSeconds = 300;

const expand = ['payment_intent.latest_charge'];
const expandOfList = expand.map((path) => `data.${path}`);

export function createStripeProvider(settings: StripeSettings): PaymentProvider {
  const { secretKey, webhookSecret, serviceUrl } = settings;
  let opening: Promise<Stripe> | undefined;
  const opened = () => (opening ??= openStripe(settings));
  const call = async <T>(request: (stripe: Stripe) => Promise<T>): Promise<T> => {
    const stripe = await opened();
    try {
      return await pTimeout(request(stripe), { milliseconds: callMs });
    } catch (error) {
      throw new PaymentsUnavailableError(`Stripe: ${messageOf(error)}`, { cause: error });
    }
  };
  /** Each page is one bounded call, unlike those of the SDK's own iterator. */
  const list = <Item extends { readonly id: string }>(
    readPage: (stripe: Stripe, page: PageParams) => Promise<Stripe.ApiList<Item>>,
  ) => pagesOf((page) => call(async (stripe) => requireList(await readPage(stripe, page))));
  return {
    name: 'stripe',
    isTest: isStripeTestKey(secretKey),
    createCheckout: (checkout) =>
      call(async (stripe) => {
        const idempotencyKey = checkout.order.topUpId;
        const session = await stripe.checkout.sessions.create(sessionOf(checkout, serviceUrl), { idempotencyKey });
        return checkoutOf(requireKind('checkout.session', session));
      }),
    expireCheckout: (checkoutId) =>
      call(async (stripe) => {
        requireKind('checkout.session', await stripe.checkout.sessions.expire(checkoutId));
      }),
    readCheckout: (checkoutId) =>
      call((stripe) =>
        stripe.checkout.sessions.retrieve(checkoutId, { expand }).then(
          (session) => paymentOf(requireKind('checkout.session', session)),
          (error: unknown) => {
            if (!isMissing(error)) throw error;
            return undefined;
          },
        ),
      ),
    async *listFinishedCheckouts(sinceMs) {
      const finished = { created: { gte: secondsOf(sinceMs) }, status: 'complete', expand: expandOfList } as const;
      const sessions = list((stripe, page) => stripe.checkout.sessions.list({ ...finished, ...page }));
      for await (const session of sessions) yield paymentOf(session);
    },
    readReversals: async (payment_intent, price) => {
      const ofPayment = { payment_intent, expand: ['data.charge'] };
      const refunds = list((stripe, page) => stripe.refunds.list({ ...ofPayment, ...page }));
      const disputes = list((stripe, page) => stripe.disputes.list({ ...ofPayment, ...page }));
      const reversals = [];
      try {
        const [disputed, refunded] = [await allOf(disputes), reversalsOfRefunds(await allOf(refunds), price)];
        const isRefunded = refunded.some(({ isTaken }) => isTaken);
        reversals.push(...disputed.map((dispute) => reversalOfDispute(dispute, { price, isRefunded })), ...refunded);
      } catch (error) {
        // A payment of another Stripe account or mode, as after a change of the key.
        if (error instanceof PaymentsUnavailableError && isMissing(error.cause)) return undefined;
        throw error;
      }
      // Stripe lists the newest first. The ledger books the oldest first, and refunds before disputes.
      return reversals.toReversed();
    },
    async *listReversedPayments(sinceMs) {
      const created = { gte: secondsOf(sinceMs) };
      const refunds = list((stripe, page) => stripe.refunds.list({ created, ...page }));
      const disputes = list((stripe, page) => stripe.disputes.list({ created, ...page }));
      for (const reversals of [refunds, disputes]) {
        for await (const { payment_intent: intent } of reversals) {
          if (intent !== null) yield typeof intent === 'string' ? intent : intent.id;
        }
      }
    },
    readEvent: async (body, header) => {
      const stripe = await opened();
      try {
        return eventOf(
          stripe.webhooks.constructEvent(body, header('stripe-signature'), webhookSecret, toleranceSeconds),
        );
      } catch (error) {
        throw new InvalidPaymentEventError(messageOf(error), { cause: error });
      }
    },
  };
}

export function isStripeTestKey(secretKey: string): boolean {
  return /^[a-z]+_test_/.test(secretKey);
}

async function openStripe({ secretKey, apiUrl }: StripeSettings): Promise<Stripe> {
  const { default: Client } = await import('stripe');
  const { protocol, hostname: host, port } = new URL(apiUrl);
  const isPlain = protocol === 'http:';
  return new Client(secretKey, {
    protocol: isPlain ? 'http' : 'https',
    host,
    port: port === '' ? (isPlain ? 80 : 443) : Number(port),
    timeout: requestMs,
    maxNetworkRetries: retries,
    telemetry: false,
    httpClient: readingObjects(Client.createNodeHttpClient()),
  });
}

/** Rejects a body that is JSON but not an object. The SDK throws on one where nothing catches it, which would end the process. */
function readingObjects(client: Stripe.HttpClient): Stripe.HttpClient {
  const makeRequest = client.makeRequest.bind(client);
  client.makeRequest = async (...request) => {
    const response = await makeRequest(...request);
    const toJSON = response.toJSON.bind(response);
    response.toJSON = async () => {
      const body: unknown = await toJSON();
      if (typeof body !== 'object' || body === null) throw new Error('the response is not a JSON object');
      return body;
    };
    return response;
  };
  return client;
}

function sessionOf(checkout: NewCheckout, serviceUrl: string): Stripe.Checkout.SessionCreateParams {
  const { order, title, priceId, successUrl, cancelUrl } = checkout;
  const metadata = toStripeMetadata(order, serviceUrl);
  const item =
    priceId === undefined
      ? {
          price_data: {
            currency: order.currency.toLowerCase(),
            unit_amount: order.minorUnits,
            product_data: { name: title },
          },
        }
      : { price: priceId };
  return {
    mode: 'payment',
    client_reference_id: order.topUpId,
    line_items: [{ quantity: 1, ...item }],
    metadata,
    // Shown with the payment in Stripe's Dashboard.
    payment_intent_data: { metadata },
    success_url: successUrl,
    cancel_url: cancelUrl,
  };
}

function checkoutOf({ id, url, expires_at, currency, amount_total }: Stripe.Checkout.Session): Checkout {
  if (url === null) throw new Error(`checkout ${id} has no address`);
  return {
    checkoutId: id,
    url,
    expiresAt: expires_at * 1000,
    currency: (currency ?? '').toUpperCase(),
    minorUnits: amount_total ?? 0,
  };
}

type Page<Item> = { readonly data: readonly Item[]; readonly has_more: boolean };
type PageParams = { readonly limit: number; readonly starting_after?: string };

/** A proxy or an outage may answer 200 with JSON of another kind, which the SDK returns as it is. Throws an `Error`. */
function requireKind<T extends { readonly object: string }>(kind: T['object'], response: T): T {
  const { object }: { readonly object?: unknown } = response;
  if (object !== kind) throw new Error(`its response is not a ${kind}`);
  return response;
}

function requireList<Item>(response: Stripe.ApiList<Item>): Page<Item> {
  const list = requireKind('list', response);
  if (!Array.isArray(list.data)) throw new Error('its response is a list without data');
  return list;
}

async function* pagesOf<Item extends { readonly id: string }>(
  read: (page: PageParams) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let last: string | undefined;
  do {
    const page: Page<Item> = await read({ limit: pageSize, ...(last !== undefined && { starting_after: last }) });
    yield* page.data;
    last = page.has_more ? page.data.at(-1)?.id : undefined;
  } while (last !== undefined);
}

async function allOf<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'resource_missing';
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}
