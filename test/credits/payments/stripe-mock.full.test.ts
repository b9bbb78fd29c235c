import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { isObject } from '../../../src/platform/text/json.ts';
import { reconcilePayments } from '../../../src/credits/payments/payment-reconciliation.ts';
import { startCheckout } from '../../../src/credits/payments/start-checkout.ts';
import { type Exchange, fakeStripeKey } from '../../fakes/stripe/stripe.ts';
import { listens } from '../../support/processes/listens.ts';
import { type ServerProcess, startServerProcess } from '../../support/servers/server-process.ts';
import { openPaymentStage, type PaymentStage, returnUrl, starter } from './payment-stage.ts';

// stripe-mock is Stripe's own: stateless, made from Stripe's OpenAPI document. It judges the parameters that we send, and whether the
// fields of our fake are Stripe's.

const program = process.env['VIDEOGEN_TEST_STRIPE_MOCK'];
const options = {
  skip: program === undefined && 'VIDEOGEN_TEST_STRIPE_MOCK names no stripe-mock, so no request was judged',
};

let stage: PaymentStage;
let mock: ServerProcess | undefined;
let port: number;
before(async () => {
  stage = await openPaymentStage();
  await everything();
  if (program === undefined) return;
  port = await reserveFreePort();
  mock = await startServerProcess({
    name: 'stripe-mock',
    start: () => spawn(program, ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' }),
    isReady: async () => (await listens(port)) === true,
  });
});
after(async () => {
  await mock?.kill();
  await stage.close();
});

/** Makes each kind of request that the service makes, and each kind of object. */
async function everything(): Promise<void> {
  const { stripe, deps } = stage;
  const { records, prices } = stripe;
  const accountId = await stage.newAccount();
  const { paymentId } = await stage.buy(accountId);
  prices.set('price_other', 1);
  const offer = { ...starter, stripePrice: 'price_other' };
  const started = await startCheckout(deps, { accountId, name: 'starter', offer, returnUrl });
  assert.equal(started.kind, 'price_differs');
  records.refund(paymentId, 333);
  records.dispute(paymentId, 333);
  await stage.deliver();
  const other = () => records.open({ amount_total: 5, currency: 'eur', client_reference_id: null, metadata: {} });
  for (let page = 0; page < 101; page += 1) records.pay(other().id);
  await reconcilePayments(deps, Date.now() - 60_000);
}

type Judged = { readonly status: number; readonly body: unknown };

async function judge({ method, path, params }: Pick<Exchange, 'method' | 'path' | 'params'>): Promise<Judged> {
  const isPost = method === 'POST';
  const headers = { authorization: `Bearer ${fakeStripeKey}`, 'content-type': 'application/x-www-form-urlencoded' };
  const url = `http://127.0.0.1:${port}${path}${isPost ? '' : `?${params}`}`;
  const response = await fetch(url, { method, headers, ...(isPost && { body: params }) });
  return { status: response.status, body: await response.json() };
}

test('each request of ours has the parameters that Stripe documents', options, async () => {
  const { exchanges } = stage.stripe;
  const kinds = new Set(exchanges.map(({ method, path }) => `${method} ${path.replace(/cs_test_\w+/, '{id}')}`));
  assert.deepEqual([...kinds].toSorted(), [
    'GET /v1/checkout/sessions',
    'GET /v1/checkout/sessions/{id}',
    'GET /v1/disputes',
    'GET /v1/refunds',
    'POST /v1/checkout/sessions',
    'POST /v1/checkout/sessions/{id}/expire',
  ]);
  assert.ok(exchanges.some(({ params }) => params.includes('starting_after')));
  for (const exchange of exchanges) {
    const { status, body } = await judge(exchange);
    assert.equal(status, exchange.reply.status, JSON.stringify({ exchange, body }));
  }
});

test('stripe-mock refuses a parameter that Stripe does not have, as the fake does', options, async () => {
  const params = 'mode=payment&success_link=https%3A%2F%2Fa.example';
  const { status } = await judge({ method: 'POST', path: '/v1/checkout/sessions', params });
  assert.equal(status, 400);
});

test('each field of an object of the fake is one of Stripe, and has its type', options, async () => {
  const fixtures = new Map<string, Record<string, unknown>>();
  const expand = `?expand[]=payment_intent.latest_charge`;
  for (const path of [
    `/v1/checkout/sessions/cs_1${expand}`,
    '/v1/refunds/re_1',
    '/v1/disputes/dp_1',
    '/v1/charges/ch_1',
  ]) {
    const [name = '', params = ''] = path.split('?');
    for (const object of objectsIn((await judge({ method: 'GET', path: name, params })).body)) {
      fixtures.set(String(object['object']), object);
    }
  }
  const seen = new Set<string>();
  for (const object of stage.stripe.exchanges.flatMap(({ reply }) => objectsIn(reply.body))) {
    const kind = String(object['object']);
    const fixture = fixtures.get(kind);
    // A dispute of stripe-mock has no balance transactions.
    if (fixture === undefined) assert.equal(kind, 'balance_transaction');
    if (fixture === undefined) continue;
    seen.add(kind);
    for (const [field, value] of Object.entries(object)) {
      assert.ok(Object.hasOwn(fixture, field), `${kind}.${field} is a field of Stripe`);
      const known: unknown = fixture[field];
      const isComparable = known !== null && value !== null && !isObject(value) && !isObject(known);
      if (isComparable) assert.equal(typeof value, typeof known, `${kind}.${field}`);
    }
  }
  assert.deepEqual([...seen].toSorted(), ['charge', 'checkout.session', 'dispute', 'payment_intent', 'refund']);
});

/** The objects of Stripe in a response, also those inside of others. */
function objectsIn(value: unknown): readonly Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (!isObject(value)) return [];
  const inner = Object.values(value).flatMap(objectsIn);
  return typeof value['object'] === 'string' && value['object'] !== 'list' ? [value, ...inner] : inner;
}
