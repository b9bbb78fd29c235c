import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stripe } from 'stripe';
import type { PaymentEvent } from '../../../../src/credits/payments/payment-provider.ts';
import { fakeWebhookSecret as secret } from '../../../fakes/stripe/stripe.ts';
import { providerAt } from '../payment-stage.ts';

/** Nothing is requested from it. */
const provider = providerAt({ address: '127.0.0.1:9' });

async function read(type: string, object: object): Promise<PaymentEvent> {
  const payload = JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object } });
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
  const header = (name: string) => (name === 'stripe-signature' ? signature : '');
  return await provider.readEvent(Buffer.from(payload), header);
}

for (const type of ['completed', 'async_payment_succeeded', 'async_payment_failed', 'expired']) {
  test(`the event checkout.session.${type} names its checkout`, async () => {
    assert.deepEqual(await read(`checkout.session.${type}`, { id: 'cs_1' }), { kind: 'checkout', checkoutId: 'cs_1' });
  });
}

for (const type of [
  'charge.refunded',
  'charge.refund.updated',
  'refund.failed',
  'refund.updated',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
]) {
  test(`the event ${type} names its payment, if there is one`, async () => {
    const reversal = { kind: 'reversal', paymentId: 'pi_1' };
    assert.deepEqual(await read(type, { id: 'x', payment_intent: 'pi_1' }), reversal);
    assert.deepEqual(await read(type, { id: 'x', payment_intent: { id: 'pi_1' } }), reversal);
    assert.deepEqual(await read(type, { id: 'x', payment_intent: null }), { kind: 'other', type });
  });
}

test('any other event names nothing', async () => {
  const type = 'payment_intent.succeeded';
  assert.deepEqual(await read(type, { id: 'pi_1', payment_intent: 'pi_1' }), { kind: 'other', type });
});
