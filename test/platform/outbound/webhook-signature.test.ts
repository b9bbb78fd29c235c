import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { newCallbackSecret } from '../../../src/platform/outbound/webhook-signature.ts';
import { signWebhook } from '../../../src/platform/outbound/webhook-signature.ts';

const body = JSON.stringify({ code: 200, msg: 'success', data: { prompt: 'ünïcode 🎬' } });
const nowSeconds = Math.floor(Date.now() / 1000);

test('the example of the Standard Webhooks specification gives its signature', () => {
  const headers = signWebhook({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1614265330,
    body: '{"test": 2432232314}',
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  });
  assert.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('a receiver with the Standard Webhooks library accepts what we sign', () => {
  const secret = newCallbackSecret();
  const headers = signWebhook({ id: 'evt_1', timestampSeconds: nowSeconds, body, secrets: [secret] });
  assert.deepEqual(new Webhook(secret).verify(body, { ...headers }), JSON.parse(body));
});

test('during a rotation, receivers with the old and with the new secret accept it', () => {
  const secrets = [newCallbackSecret(), newCallbackSecret()];
  const headers = signWebhook({ id: 'evt_1', timestampSeconds: nowSeconds, body, secrets });
  assert.match(headers['webhook-signature'], /^v1,\S{44} v1,\S{44}$/);
  for (const secret of secrets) assert.ok(new Webhook(secret).verify(body, { ...headers }));
});

test('a changed body, id or time, or another secret, is refused by the receiver', () => {
  const secret = newCallbackSecret();
  const headers = signWebhook({ id: 'evt_1', timestampSeconds: nowSeconds, body, secrets: [secret] });
  const webhook = new Webhook(secret);
  assert.throws(() => webhook.verify(`${body} `, { ...headers }));
  assert.throws(() => webhook.verify(body, { ...headers, 'webhook-id': 'evt_2' }));
  assert.throws(() => webhook.verify(body, { ...headers, 'webhook-timestamp': String(nowSeconds + 1) }));
  assert.throws(() => new Webhook(newCallbackSecret()).verify(body, { ...headers }));
});

test('what a receiver could read in two ways is not signed', () => {
  const secrets = [newCallbackSecret()];
  assert.throws(() => signWebhook({ id: 'evt.1', timestampSeconds: 1, body, secrets }));
  assert.throws(() => signWebhook({ id: '', timestampSeconds: 1, body, secrets }));
  assert.throws(() => signWebhook({ id: 'evt', timestampSeconds: 1.5, body, secrets }));
  assert.throws(() => signWebhook({ id: 'evt', timestampSeconds: 1, body, secrets: [] }));
});
