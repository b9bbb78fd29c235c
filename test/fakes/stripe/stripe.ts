import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Stripe } from 'stripe';
import { type RestartableServer, send, startRestartableServer } from '../restartable-server.ts';
import {
  createStripeRecords,
  type FakeCharge,
  type FakeDispute,
  type FakeEvent,
  type FakeIntent,
  type FakeRefund,
  type FakeSession,
  found,
  type StripeRecords,
} from './stripe-records.ts';

// A FAKE: Stripe's API over the records, with its idempotency keys, pages, expansion and errors, by Stripe's API reference. It knows the
// parameters that we send, and refuses others as Stripe does; test/credits/payments/stripe-mock.full.test.ts has both judged by Stripe's own mock.

export const fakeStripeKey = 'sk_test_fake51Videogen';
export const fakeWebhookSecret = 'whsec_fakeVideogen';

export type FakeStripe = RestartableServer & {
  readonly records: StripeRecords;
  /** Every request that reached the records, with its response, in order. */
  readonly exchanges: readonly Exchange[];
  /** The prices that sessions may name, in minor units of EUR. */
  readonly prices: Map<string, number>;
  /** The next requests to this path are carried out, and their responses are lost. */
  lose(path: string, times: number): void;
  /** The next request gets this status instead. */
  refuse(status: number): void;
  /** Signs an event as Stripe does. */
  sign(event: FakeEvent, how?: { readonly secret?: string; readonly ageSeconds?: number }): SignedEvent;
};

export type SignedEvent = { readonly body: string; readonly signature: string };

export type Exchange = {
  readonly method: string;
  readonly path: string;
  readonly params: string;
  readonly reply: Reply;
};

type Reply = { readonly status: number; readonly body: object };
type Call = { readonly method: string; readonly path: string; readonly params: URLSearchParams };

/** A long run keeps no exchanges: its lists of sessions would fill the memory. */
export async function startFakeStripe({ keepsExchanges = true } = {}): Promise<FakeStripe> {
  const records = createStripeRecords();
  const prices = new Map<string, number>();
  const exchanges: Exchange[] = [];
  const lost = new Map<string, number>();
  const refusals: number[] = [];
  /** The first response of each key, with the parameters that led to it. */
  const first = new Map<string, { readonly params: string; readonly reply: Reply }>();
  const server = await startRestartableServer(async (request, response) => {
    const call = await callOf(request);
    const refused = refusals.shift();
    if (refused !== undefined) return send(response, refused, failure('api_error', 'the fake refuses'));
    if (request.headers.authorization !== `Bearer ${fakeStripeKey}`) {
      return send(response, 401, failure('invalid_request_error', 'Invalid API Key provided'));
    }
    const reply = carryOut(request.headers['idempotency-key'], call);
    if (keepsExchanges) exchanges.push({ ...call, params: call.params.toString(), reply });
    const losses = lost.get(call.path) ?? 0;
    if (losses > 0) {
      lost.set(call.path, losses - 1);
      return void response.destroy();
    }
    send(response, reply.status, reply.body);
  });

  function carryOut(key: string | string[] | undefined, call: Call): Reply {
    if (call.method !== 'POST' || typeof key !== 'string') return replyTo(call, records, prices);
    const params = `${call.path}?${call.params.toString()}`;
    const known = first.get(key);
    if (known !== undefined) {
      if (known.params === params) return known.reply;
      return { status: 400, body: failure('idempotency_error', 'Keys can only be used with the same parameters') };
    }
    const made = replyTo(call, records, prices);
    first.set(key, { params, reply: made });
    return made;
  }

  return {
    ...server,
    records,
    exchanges,
    prices,
    lose: (path, times) => void lost.set(path, times),
    refuse: (status) => void refusals.push(status),
    sign: ({ id, type, created, object }, { secret = fakeWebhookSecret, ageSeconds = 0 } = {}) => {
      const data = { object: snapshot(type, object, records) };
      const body = JSON.stringify({ id, object: 'event', type, created, livemode: false, data });
      const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
      return { body, signature: Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp }) };
    },
  };
}

async function callOf(request: IncomingMessage): Promise<Call> {
  const { pathname: path, searchParams } = new URL(request.url ?? '', 'http://fake');
  const method = request.method ?? '';
  return { method, path, params: method === 'POST' ? new URLSearchParams(await text(request)) : searchParams };
}

const created = new Set(['created[gte]', 'limit', 'starting_after', 'payment_intent', 'status']);
const ofSession =
  /^(?:mode|client_reference_id|success_url|cancel_url|line_items\[0\]\[(?:quantity|price|price_data\]\[(?:currency|unit_amount|product_data\]\[name))\]|(?:payment_intent_data\[metadata\]|metadata)\[\w+\])$/;

function replyTo(call: Call, records: StripeRecords, prices: ReadonlyMap<string, number>): Reply {
  const { method, path, params } = call;
  const isExpansion = (name: string) => /^expand\[\d+\]$/.test(name);
  const names = [...params.keys()].filter((name) => !isExpansion(name));
  const isKnown = (name: string) => (method === 'POST' ? ofSession.test(name) : created.has(name));
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) {
    return { status: 400, body: failure('invalid_request_error', `Received unknown parameter: ${unknown}`) };
  }
  const expands = [...params].some(([name, value]) => isExpansion(name) && value.endsWith('latest_charge'));
  const [, one, action] = /^\/v1\/checkout\/sessions\/(\w+)(?:\/(\w+))?$/.exec(path) ?? [];
  if (one !== undefined) return oneSession(one, action, { records, expands });
  if (`${method} ${path}` === 'POST /v1/checkout/sessions') return createSession(params, records, prices);
  const expandsCharge = [...params].some(([name, value]) => isExpansion(name) && value === 'data.charge');
  const withCharge = (object: object, row: { readonly payment_intent: string }): object => {
    const id = records.intents.get(row.payment_intent)?.charge;
    const charge = id === undefined || !expandsCharge ? undefined : records.charges.get(id);
    return { ...object, charge: charge === undefined ? (id ?? 'ch_foreign') : presentCharge(charge) };
  };
  const rowsOf = {
    '/v1/checkout/sessions': () =>
      [...records.sessions.values()].map((row) => [row, presentSession(row, records, expands)] as const),
    '/v1/refunds': () =>
      [...records.refunds.values()].map((row) => [row, withCharge(presentRefund(row), row)] as const),
    '/v1/disputes': () =>
      [...records.disputes.values()].map((row) => [row, withCharge(presentDispute(row), row)] as const),
  }[path];
  if (rowsOf === undefined) return { status: 404, body: failure('invalid_request_error', 'Unrecognized request URL') };
  const intent = params.get('payment_intent');
  if (intent !== null && !records.intents.has(intent)) {
    const body = failure('invalid_request_error', `No such payment_intent: '${intent}'`, 'resource_missing');
    return { status: 404, body };
  }
  return listOf(path, rowsOf(), params);
}

type View = { readonly records: StripeRecords; readonly expands: boolean };

function oneSession(id: string, action: string | undefined, { records, expands }: View): Reply {
  const session = records.sessions.get(id);
  if (session === undefined) {
    const body = failure('invalid_request_error', `No such checkout.session: ${id}`, 'resource_missing');
    return { status: 404, body };
  }
  if (action === 'expire') {
    if (session.status !== 'open') {
      return { status: 400, body: failure('invalid_request_error', 'Only open sessions can be expired') };
    }
    records.expire(id);
  }
  return { status: 200, body: presentSession(session, records, expands) };
}

function createSession(params: URLSearchParams, records: StripeRecords, prices: ReadonlyMap<string, number>): Reply {
  const price = params.get('line_items[0][price]');
  const amount = price === null ? Number(params.get('line_items[0][price_data][unit_amount]')) : prices.get(price);
  if (params.get('mode') !== 'payment' || amount === undefined || !Number.isInteger(amount) || amount < 1) {
    return { status: 400, body: failure('invalid_request_error', 'No such price, or an invalid amount') };
  }
  const metadata = Object.fromEntries(
    [...params].flatMap(([name, value]) => {
      const [, field] = /^metadata\[(\w+)\]$/.exec(name) ?? [];
      return field === undefined ? [] : [[field, value]];
    }),
  );
  const session = records.open({
    amount_total: amount,
    currency: params.get('line_items[0][price_data][currency]') ?? 'eur',
    client_reference_id: params.get('client_reference_id'),
    metadata,
  });
  return { status: 200, body: presentSession(session, records, false) };
}

type Row = {
  readonly id: string;
  readonly created: number;
  readonly payment_intent: string | null;
  readonly status: string;
};

/** The newest first; records of the same second in the reverse order of their creation. */
function listOf(url: string, rows: readonly (readonly [Row, object])[], params: URLSearchParams): Reply {
  const [since, intent, status] = [params.get('created[gte]'), params.get('payment_intent'), params.get('status')];
  const limit = Number(params.get('limit') ?? 10);
  const all = rows
    .toReversed()
    .filter(([row]) => since === null || row.created >= Number(since))
    .filter(([row]) => intent === null || row.payment_intent === intent)
    .filter(([row]) => status === null || row.status === status);
  const after = params.get('starting_after');
  const start = after === null ? 0 : all.findIndex(([row]) => row.id === after) + 1;
  const page = all.slice(start, start + limit);
  const has_more = start + limit < all.length;
  return { status: 200, body: { object: 'list', url, has_more, data: page.map(([, object]) => object) } };
}

function failure(type: string, message: string, code?: string): object {
  return { error: { type, message, ...(code !== undefined && { code }) } };
}

function presentSession(session: FakeSession, { intents, charges }: StripeRecords, expands: boolean): object {
  const intent = session.payment_intent === null ? undefined : intents.get(session.payment_intent);
  const expanded = expands && intent !== undefined ? presentIntent(intent, charges) : session.payment_intent;
  const url = session.status === 'open' ? `https://checkout.stripe.com/c/pay/${session.id}` : null;
  return { ...session, object: 'checkout.session', mode: 'payment', livemode: false, url, payment_intent: expanded };
}

function presentIntent({ charge: chargeId, ...intent }: FakeIntent, charges: ReadonlyMap<string, FakeCharge>): object {
  const charge = found(charges.get(chargeId), 'charge');
  return { ...intent, object: 'payment_intent', livemode: false, latest_charge: presentCharge(charge) };
}

const presentCharge = (charge: FakeCharge): object => ({
  ...charge,
  object: 'charge',
  livemode: false,
  refunded: charge.amount_refunded === charge.amount,
});
const presentRefund = (refund: FakeRefund): object => ({ ...refund, object: 'refund' });
const presentDispute = ({ moved, ...dispute }: FakeDispute): object => ({
  ...dispute,
  object: 'dispute',
  livemode: false,
  balance_transactions: moved.map((amount) => ({ object: 'balance_transaction', amount, currency: dispute.currency })),
});

/** The object of an event is a snapshot without expansion. */
function snapshot(type: string, object: object, records: StripeRecords): object {
  // The type of an event decides the type of its object.
  if (type.startsWith('checkout.')) return presentSession(object as FakeSession, records, false);
  if (type.startsWith('charge.dispute.')) return presentDispute(object as FakeDispute);
  return type.startsWith('refund.') ? presentRefund(object as FakeRefund) : presentCharge(object as FakeCharge);
}
