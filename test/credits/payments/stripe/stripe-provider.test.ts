import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { isStripeTestKey } from '../../../../src/credits/payments/stripe/stripe-provider.ts';
import { PaymentsUnavailableError } from '../../../../src/credits/payments/payment-provider.ts';
import { type RestartableServer, send, startRestartableServer } from '../../../fakes/restartable-server.ts';
import { providerAt, serviceUrl } from '../payment-stage.ts';

// Each answer is written here, so that it has what Stripe documents and the fake never does: objects in place of ids, and no payment.

type Asked = { readonly path: string; readonly params: Readonly<Record<string, string>>; readonly key?: string };
type Reply = { readonly status?: number; readonly body: object };

let server: RestartableServer;
let asked: Asked[] = [];
let answer: (asked: Asked) => Reply = () => ({ body: {} });
before(async () => {
  server = await startRestartableServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://stripe.example');
    const isPost = request.method === 'POST';
    const params = Object.fromEntries(isPost ? new URLSearchParams(await text(request)) : searchParams);
    const key = request.headers['idempotency-key'];
    const one = { path: `${request.method} ${pathname}`, params, ...(typeof key === 'string' && { key }) };
    asked.push(one);
    const { status = 200, body } = answer(one);
    send(response, status, body);
  });
});
beforeEach(() => {
  asked = [];
});
after(() => server.close());

const provider = () => providerAt(server);
const page = (data: readonly object[], has_more = false): Reply => ({ body: { object: 'list', data, has_more } });

async function allOf<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const order = {
  topUpId: '018f0000-0000-7000-8000-00000000000a',
  accountId: '018f0000-0000-7000-8000-00000000000b',
  package: 'starter',
  credits: 10_000,
  currency: 'EUR',
  minorUnits: 999,
};
const metadata = {
  videogen_top_up: order.topUpId,
  videogen_account: order.accountId,
  videogen_package: 'starter',
  videogen_credits: '10000',
  videogen_price: '999 EUR',
  videogen_service: serviceUrl,
};
const session = {
  id: 'cs_1',
  object: 'checkout.session',
  client_reference_id: order.topUpId,
  metadata,
  status: 'complete',
  payment_status: 'paid',
  livemode: true,
  currency: 'eur',
  amount_total: 999,
  url: 'https://checkout.stripe.example/1',
  expires_at: 7,
  payment_intent: { id: 'pi_1', status: 'succeeded', latest_charge: { receipt_url: 'https://receipt.example' } },
};
const payment = {
  checkoutId: 'cs_1',
  order,
  serviceUrl,
  state: 'paid',
  isTest: false,
  paymentId: 'pi_1',
  currency: 'EUR',
  minorUnits: 999,
  receiptUrl: 'https://receipt.example',
};

test('a checkout is created once per order, for a price of ours or of Stripe', async () => {
  answer = () => ({ body: session });
  const urls = { successUrl: 'https://console.example/paid', cancelUrl: 'https://console.example/left' };
  const checkout = await provider().createCheckout({ order, title: 'Starter', ...urls });
  assert.deepEqual(checkout, {
    checkoutId: 'cs_1',
    url: session.url,
    expiresAt: 7_000,
    currency: 'EUR',
    minorUnits: 999,
  });
  await provider().createCheckout({ order, title: 'Starter', priceId: 'price_1', ...urls });
  const nested = (name: string) =>
    Object.fromEntries(Object.entries(metadata).map(([field, value]) => [`${name}[${field}]`, value]));
  const shared = {
    mode: 'payment',
    client_reference_id: order.topUpId,
    'line_items[0][quantity]': '1',
    ...nested('metadata'),
    ...nested('payment_intent_data[metadata]'),
    success_url: urls.successUrl,
    cancel_url: urls.cancelUrl,
  };
  const price = {
    'line_items[0][price_data][currency]': 'eur',
    'line_items[0][price_data][unit_amount]': '999',
    'line_items[0][price_data][product_data][name]': 'Starter',
  };
  const path = 'POST /v1/checkout/sessions';
  assert.deepEqual(asked, [
    { path, params: { ...shared, ...price }, key: order.topUpId },
    { path, params: { ...shared, 'line_items[0][price]': 'price_1' }, key: order.topUpId },
  ]);
});

test('a checkout without an address or without a price is not taken for another one', async () => {
  const { order: ordered, ...urls } = { order, title: 'Starter', successUrl: serviceUrl, cancelUrl: serviceUrl };
  answer = () => ({ body: { ...session, url: null } });
  await assert.rejects(provider().createCheckout({ order: ordered, ...urls }), PaymentsUnavailableError);
  answer = () => ({ body: { ...session, currency: null, amount_total: null } });
  const { currency, minorUnits } = await provider().createCheckout({ order: ordered, ...urls });
  assert.deepEqual([currency, minorUnits], ['', 0]);
});

test('a checkout is read with its order, state and receipt, as a refusal or as missing', async () => {
  answer = () => ({ body: session });
  assert.deepEqual(await provider().readCheckout('cs_1'), payment);
  assert.deepEqual(asked, [
    { path: 'GET /v1/checkout/sessions/cs_1', params: { 'expand[0]': 'payment_intent.latest_charge' } },
  ]);
  answer = () => ({ status: 404, body: { error: { type: 'invalid_request_error', code: 'resource_missing' } } });
  assert.equal(await provider().readCheckout('cs_1'), undefined);
  assert.equal(await provider().readReversals('pi_1', order), undefined);
  answer = () => ({ status: 404, body: { error: { type: 'invalid_request_error' } } });
  await assert.rejects(provider().readCheckout('cs_1'), PaymentsUnavailableError);
  await assert.rejects(provider().readReversals('pi_1', order), PaymentsUnavailableError);
});

const unpaid = { payment_status: 'unpaid' };
for (const [what, changes, expected] of [
  [
    'open',
    { ...unpaid, status: 'open', payment_intent: null },
    { state: 'open', paymentId: undefined, receiptUrl: undefined },
  ],
  ['expired', { ...unpaid, status: 'expired' }, { state: 'expired' }],
  [
    'on its way',
    { ...unpaid, payment_intent: { id: 'pi_1', status: 'processing' } },
    { state: 'processing', receiptUrl: undefined },
  ],
  [
    'refused by the bank',
    { ...unpaid, payment_intent: { id: 'pi_1', status: 'requires_payment_method' } },
    { state: 'failed', receiptUrl: undefined },
  ],
  [
    'canceled',
    { ...unpaid, payment_intent: { id: 'pi_1', status: 'canceled' } },
    { state: 'failed', receiptUrl: undefined },
  ],
  ['not expanded', { payment_intent: 'pi_1' }, { receiptUrl: undefined }],
  ['without a charge', { payment_intent: { id: 'pi_1', latest_charge: null } }, { receiptUrl: undefined }],
  [
    'with a charge that is not expanded',
    { payment_intent: { id: 'pi_1', latest_charge: 'ch_1' } },
    { receiptUrl: undefined },
  ],
  [
    'without a receipt',
    { payment_intent: { id: 'pi_1', latest_charge: { receipt_url: null } } },
    { receiptUrl: undefined },
  ],
  ['in test mode', { livemode: false }, { isTest: true }],
  ['without an amount', { currency: null, amount_total: null }, { currency: '', minorUnits: 0 }],
  ['without metadata', { metadata: null }, { order: undefined, serviceUrl: undefined }],
  ['with a reference that a customer chose', { client_reference_id: order.accountId }, { order: undefined }],
  [
    'of a top-up that is no id',
    { client_reference_id: 'x', metadata: { ...metadata, videogen_top_up: 'x' } },
    { order: undefined },
  ],
  ['of an account that is no id', { metadata: { ...metadata, videogen_account: 'x' } }, { order: undefined }],
  ['of credits that are no number', { metadata: { ...metadata, videogen_credits: 'ten' } }, { order: undefined }],
  ['of a price without a currency', { metadata: { ...metadata, videogen_price: '999' } }, { order: undefined }],
] as const) {
  test(`a checkout ${what} is read as ${JSON.stringify(expected)}`, async () => {
    answer = () => ({ body: { ...session, ...changes } });
    assert.deepEqual(await provider().readCheckout('cs_1'), { ...payment, ...expected });
  });
}

test('finished checkouts are listed since a second, page by page', async () => {
  const other = { ...session, id: 'cs_2', metadata: {} };
  answer = ({ params }) => (params['starting_after'] === undefined ? page([other], true) : page([session, other]));
  const foreign = { ...payment, checkoutId: 'cs_2', order: undefined, serviceUrl: undefined };
  assert.deepEqual(await allOf(provider().listFinishedCheckouts(1_999)), [foreign, payment, foreign]);
  const params = {
    'created[gte]': '1',
    status: 'complete',
    'expand[0]': 'data.payment_intent.latest_charge',
    limit: '100',
  };
  const path = 'GET /v1/checkout/sessions';
  assert.deepEqual(asked, [
    { path, params },
    { path, params: { ...params, starting_after: 'cs_2' } },
  ]);
});

test('payments with refunds or disputes are listed since a second, page by page, without those of no payment', async () => {
  answer = ({ path, params }) => {
    if (path === 'GET /v1/disputes')
      return page([
        { id: 'dp_3', payment_intent: 'pi_3' },
        { id: 'dp_2', payment_intent: null },
        { id: 'dp_1', payment_intent: { id: 'pi_4' } },
      ]);
    return params['starting_after'] === undefined
      ? page(
          [
            { id: 're_4', payment_intent: 'pi_3' },
            { id: 're_3', payment_intent: null },
          ],
          true,
        )
      : page([
          { id: 're_2', payment_intent: { id: 'pi_2' } },
          { id: 're_1', payment_intent: 'pi_1' },
        ]);
  };
  const listed = await allOf(provider().listReversedPayments(1_999));
  assert.deepEqual(listed, ['pi_3', 'pi_2', 'pi_1', 'pi_3', 'pi_4']);
  const params = { 'created[gte]': '1', limit: '100' };
  assert.deepEqual(asked, [
    { path: 'GET /v1/refunds', params },
    { path: 'GET /v1/refunds', params: { ...params, starting_after: 're_3' } },
    { path: 'GET /v1/disputes', params },
  ]);
});

describe('the reversals of a payment', () => {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const taken = { amount: -999 };
  const refund = (id: string, amount: number, changes: object = {}) => ({
    id,
    amount,
    currency: 'eur',
    charge: null,
    status: 'succeeded',
    ...changes,
  });
  const dispute = (id: string, changes: object = {}) => ({
    id,
    amount: 999,
    currency: 'eur',
    charge: null,
    created: nowSeconds,
    status: 'needs_response',
    balance_transactions: [taken],
    ...changes,
  });
  const refunded = { kind: 'refund', isTaken: true, isFinal: true };
  const disputed = { kind: 'dispute', minorUnits: 999, isTaken: true, isFinal: false };
  async function read(refunds: readonly object[], disputes: readonly object[]) {
    answer = ({ path }) => page(path === 'GET /v1/refunds' ? refunds : disputes);
    return await provider().readReversals('pi_1', order);
  }

  test('are read oldest first, refunds before disputes', async () => {
    const refunds = [refund('re_2', 20), refund('re_1', 10)];
    assert.deepEqual(await read(refunds, [dispute('dp_2'), dispute('dp_1')]), [
      { reference: 're_1', minorUnits: 10, ...refunded },
      { reference: 're_2', minorUnits: 20, ...refunded },
      { reference: 'dp_1', ...disputed },
      { reference: 'dp_2', ...disputed },
    ]);
    const params = { payment_intent: 'pi_1', 'expand[0]': 'data.charge', limit: '100' };
    assert.deepEqual(
      asked.toSorted((one, other) => one.path.localeCompare(other.path)),
      [
        { path: 'GET /v1/disputes', params },
        { path: 'GET /v1/refunds', params },
      ],
    );
  });

  test('of refunds are taken unless they failed, and change while they are pending', async () => {
    for (const [status, isTaken, isFinal] of [
      ['succeeded', true, true],
      ['pending', true, false],
      ['requires_action', true, false],
      [null, true, false],
      ['failed', false, true],
      ['canceled', false, true],
    ] as const)
      assert.deepEqual(await read([refund('re_1', 10, { status })], []), [
        { reference: 're_1', kind: 'refund', minorUnits: 10, isTaken, isFinal },
      ]);
  });

  test('in the currency of the customer are parts of the price that add up to it', async () => {
    const [currency, charge] = ['usd', { currency: 'usd', amount: 1_100 }];
    const thirds = [367, 367, 366].map((amount, index) => refund(`re_${index}`, amount, { currency, charge }));
    const parts = (await read(thirds, []))?.map(({ minorUnits }) => minorUnits);
    assert.deepEqual(parts, [332, 333, 334]);
    const sum = parts?.reduce<number>((total, part) => total + (part ?? 0), 0);
    assert.equal(sum, order.minorUnits);
    for (const unknown of [null, 'ch_1', { currency: 'gbp', amount: 1_100 }, { currency, amount: 0 }]) {
      const [reversal] = (await read([refund('re_1', 10, { currency, charge: unknown })], [])) ?? [];
      assert.deepEqual(reversal, { reference: 're_1', minorUnits: undefined, ...refunded });
    }
  });

  const oldSeconds = nowSeconds - 181 * 86_400;
  const recentSeconds = nowSeconds - 179 * 86_400;
  const failedRefund = refund('re_2', 10, { status: 'failed' });
  for (const [what, changes, expected, refunds = []] of [
    ['an inquiry', { balance_transactions: [] }, { isTaken: false }],
    ['a closed inquiry', { status: 'warning_closed', balance_transactions: [] }, { isTaken: false, isFinal: true }],
    ['one that was prevented', { status: 'prevented', balance_transactions: [] }, { isTaken: false, isFinal: true }],
    [
      'one that was won',
      { status: 'won', balance_transactions: [taken, { amount: 999 }] },
      { isTaken: false, isFinal: true },
    ],
    [
      'one that was won at another rate',
      { status: 'won', balance_transactions: [taken, { amount: 900 }] },
      { isTaken: false, isFinal: true },
    ],
    ['one that was won, before its money is back', { status: 'won' }, { isFinal: false }],
    ['one that was lost', { status: 'lost' }, { isFinal: true }],
    [
      'one that was lost in part',
      { status: 'lost', balance_transactions: [taken, { amount: 333 }] },
      { minorUnits: 666, isFinal: true },
    ],
    [
      'one whose money is back although it was lost',
      { status: 'lost', balance_transactions: [taken, { amount: 999 }] },
      { isTaken: false, isFinal: true },
    ],
    ['one that was lost after a refund', { status: 'lost' }, { isFinal: false }, [failedRefund, refund('re_1', 10)]],
    ['one that was lost after a failed refund', { status: 'lost' }, { isFinal: true }, [failedRefund]],
    [
      'one that was lost after a refund 179 days ago',
      { status: 'lost', created: recentSeconds },
      { isFinal: false },
      [refund('re_1', 10)],
    ],
    [
      'one that was lost after a refund 181 days ago',
      { status: 'lost', created: oldSeconds },
      { isFinal: true },
      [refund('re_1', 10)],
    ],
    [
      'one that was lost after a refund, and returned',
      { status: 'lost', balance_transactions: [taken, { amount: 333 }] },
      { minorUnits: 666, isFinal: true },
      [refund('re_1', 10)],
    ],
    ['one of an unknown currency', { currency: 'usd' }, { minorUnits: undefined }],
  ] as const satisfies readonly (readonly [string, object, object, (readonly object[])?])[]) {
    test(`of disputes: ${what} is ${JSON.stringify(expected)}`, async () => {
      const reversals = await read(refunds, [dispute('dp_1', changes)]);
      assert.deepEqual(reversals?.at(-1), { reference: 'dp_1', ...disputed, ...expected });
    });
  }
});

test('a checkout is ended at Stripe', async () => {
  answer = () => ({ body: session });
  await provider().expireCheckout('cs_1');
  assert.deepEqual(
    asked.map(({ path }) => path),
    ['POST /v1/checkout/sessions/cs_1/expire'],
  );
  answer = () => page([]);
  await assert.rejects(provider().expireCheckout('cs_1'), PaymentsUnavailableError);
});

test('a secret key is one of test mode by its second part', () => {
  for (const key of ['sk_test_1', 'rk_test_1']) assert.equal(isStripeTestKey(key), true, key);
  for (const key of ['sk_live_1', 'rk_live_test_1', '_test_1', 'sk_test'])
    assert.equal(isStripeTestKey(key), false, key);
});
