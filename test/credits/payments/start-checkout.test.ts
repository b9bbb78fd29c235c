import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AccountClosedError } from '../../../src/accounts/accounts.ts';
import {
  type Checkout,
  type NewCheckout,
  PaymentsUnavailableError,
} from '../../../src/credits/payments/payment-provider.ts';
import { startCheckout } from '../../../src/credits/payments/start-checkout.ts';
import { listTopUps } from '../../../src/credits/payments/top-ups.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { recordLog } from '../../support/log-lines.ts';
import { shell } from '../../support/service/person.ts';
import { openPaymentStage, type PaymentStage, returnUrl, starter } from './payment-stage.ts';

let stage: PaymentStage;
before(async () => {
  stage = await openPaymentStage();
});
after(() => stage.close());

/** Starts a checkout at a provider that answers this; returns what it was asked, and the purchase. */
async function start(answer: () => Promise<Partial<Checkout>>, { accountId = '', stripePrice = 'price_1' } = {}) {
  const of = accountId === '' ? await stage.newAccount() : accountId;
  const created: NewCheckout[] = [];
  const expired: string[] = [];
  const provider = {
    ...stage.provider,
    createCheckout: async (checkout: NewCheckout) => {
      created.push(checkout);
      const { currency, minorUnits } = starter.price;
      const checkoutId = `cs_${checkout.order.topUpId}`;
      return { checkoutId, url: 'https://pay.example', expiresAt: 7, currency, minorUnits, ...(await answer()) };
    },
    expireCheckout: async (checkoutId: string) => void expired.push(checkoutId),
  };
  const offer = { ...starter, stripePrice };
  const { log, lines } = recordLog();
  const outcome = await startCheckout(
    { ...stage.deps, provider, log },
    { accountId: of, name: 'starter', offer, returnUrl },
  ).catch((error: unknown) => error);
  const [topUp] = await listTopUps(stage.database.db, { accountId: of, limit: 1 });
  const { topUpId, state, checkoutId } = topUp ?? assert.fail('there is no purchase');
  return { accountId: of, outcome, created, expired, topUpId, state, checkoutId, lines };
}

test('a checkout has the order, title, price and addresses of its package, and is stored', async () => {
  const { accountId, outcome, created, expired, topUpId, state, checkoutId } = await start(() => Promise.resolve({}));
  const order = { topUpId, accountId, package: 'starter', credits: starter.credits, ...starter.price };
  const successUrl = `http://console.test/success/${topUpId}`;
  const cancelUrl = `http://console.test/cancelled/${topUpId}`;
  assert.deepEqual(created, [{ order, title: 'Starter', priceId: 'price_1', successUrl, cancelUrl }]);
  const checkout = { checkoutId: `cs_${topUpId}`, url: 'https://pay.example', expiresAt: 7, ...starter.price };
  assert.deepEqual(outcome, { kind: 'started', topUpId, ...checkout });
  assert.deepEqual([expired, state, checkoutId], [[], 'open', `cs_${topUpId}`]);
});

for (const differing of [{ currency: 'USD' }, { minorUnits: starter.price.minorUnits + 1 }]) {
  test(`a checkout for another price, ${JSON.stringify(differing)}, is ended, and its purchase fails`, async () => {
    const { outcome, expired, topUpId, state, lines } = await start(() => Promise.resolve(differing));
    assert.deepEqual([outcome, expired, state], [{ kind: 'price_differs' }, [`cs_${topUpId}`], 'failed']);
    const { currency, minorUnits } = { ...starter.price, ...differing };
    const line = { level: 50, topUpId, package: 'starter', charged: `${minorUnits} ${currency}` };
    assert.deepEqual(lines, [{ ...line, msg: 'price of the package differs at the payment provider' }]);
  });
}

test('a checkout that the provider does not create leaves no open purchase', async () => {
  const unavailable = new PaymentsUnavailableError('Stripe: down');
  const { outcome, expired, state } = await start(() => Promise.reject(unavailable));
  assert.deepEqual([outcome, expired, state], [unavailable, [], 'failed']);
});

test('a checkout whose account is closed meanwhile is ended', async () => {
  const accountId = await stage.newAccount();
  const close = async () => {
    await closeAccountAs(stage.database.db, shell, { accountId, reason: 'test' });
    return {};
  };
  const { outcome, expired, topUpId, state } = await start(close, { accountId });
  assert.ok(outcome instanceof AccountClosedError);
  assert.deepEqual([expired, state], [[`cs_${topUpId}`], 'failed']);
});
