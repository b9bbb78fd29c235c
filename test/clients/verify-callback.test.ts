import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifyCallback, VideogenError } from '../../clients/typescript/src/index.ts';
import { newCallbackSecret } from '../../src/platform/outbound/webhook-signature.ts';
import { signWebhook } from '../../src/platform/outbound/webhook-signature.ts';

const secret = newCallbackSecret();
const timestampSeconds = 1_790_000_000;
const now = () => timestampSeconds * 1000;
const body = JSON.stringify({ code: 200, msg: 'success', data: { taskId: 't1', state: 'success', note: 'ünïcode ✓' } });
const signed = (secrets: readonly string[] = [secret]) => signWebhook({ id: 'msg_1', timestampSeconds, body, secrets });

const refused = (promise: Promise<unknown>, message: RegExp) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof VideogenError, String(error));
    assert.equal(error.kind, 'bad_callback');
    assert.match(error.message, message);
    return true;
  });

describe('a callback is believed', () => {
  test('when the service signed it; text and bytes, any shape of headers', async () => {
    const headers = signed();
    const shouting = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    for (const shape of [headers, shouting, new Headers(headers)]) {
      for (const form of [body, new TextEncoder().encode(body)]) {
        const { webhookId, record } = await verifyCallback({ body: form, headers: shape, secrets: secret, now });
        assert.deepEqual([webhookId, record.taskId, record.state], ['msg_1', 't1', 'success']);
      }
    }
  });

  test('during a rotation, with the old secret, the new one, or both on either side', async () => {
    const [old, fresh] = [newCallbackSecret(), newCallbackSecret()];
    const pairs: readonly (readonly [readonly string[], readonly string[]])[] = [
      [[fresh, old], [old]],
      [[fresh, old], [fresh]],
      [[old], [fresh, old]],
      [[fresh], [fresh, old]],
    ];
    for (const [senders, secrets] of pairs) {
      await verifyCallback({ body, headers: signed(senders), secrets, now });
    }
  });

  test('up to five minutes off in either direction, or as far as the receiver allows', async () => {
    for (const offSeconds of [-300, 300]) {
      await verifyCallback({ body, headers: signed(), secrets: secret, now: () => now() + offSeconds * 1000 });
    }
    const toleranceSeconds = 1000;
    const late = () => now() + 999_000;
    await verifyCallback({ body, headers: signed(), secrets: secret, now: late, toleranceSeconds });
  });
});

describe('a callback is refused', () => {
  test('with another body, id, time or secret', async () => {
    const headers = signed();
    const call = { body, headers, secrets: secret, now };
    await refused(verifyCallback({ ...call, body: `${body} ` }), /no signature/);
    await refused(verifyCallback({ ...call, headers: { ...headers, 'webhook-id': 'msg_2' } }), /no signature/);
    const other = { ...headers, 'webhook-timestamp': String(timestampSeconds + 1) };
    await refused(verifyCallback({ ...call, headers: other }), /no signature/);
    await refused(verifyCallback({ ...call, secrets: newCallbackSecret() }), /no signature/);
    await refused(verifyCallback({ ...call, secrets: [] }), /no signature/);
  });

  test('too late, too early, or at no time at all', async () => {
    const headers = signed();
    for (const offSeconds of [-301, 301]) {
      const off = () => now() + offSeconds * 1000;
      await refused(verifyCallback({ body, headers, secrets: secret, now: off }), /too far/);
    }
    for (const timestamp of ['soon', '1e9', '-5', '1.5', '99999999999999']) {
      const odd = { ...headers, 'webhook-timestamp': timestamp };
      await refused(verifyCallback({ body, headers: odd, secrets: secret, now }), /no number/);
    }
  });

  test('without one of its headers, or with two', async () => {
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      for (const value of [undefined, '', ['a', 'b']]) {
        const headers = { ...signed(), [name]: value };
        await refused(verifyCallback({ body, headers, secrets: secret, now }), new RegExp(name));
      }
    }
  });

  test('when its signature is of another version, cut short, no base64, or behind a heap of others', async () => {
    const headers = signed();
    const [, good = ''] = headers['webhook-signature'].split(',');
    const odd = [`v2,${good}`, `v1,${good.slice(0, 8)}`, 'v1,%%%', 'v1,', good, `${'v1,AAAA '.repeat(16)}v1,${good}`];
    for (const signature of odd) {
      const call = { body, headers: { ...headers, 'webhook-signature': signature }, secrets: secret, now };
      await refused(verifyCallback(call), /no signature/);
    }
  });

  test('and a secret that is none is the receiver’s own slip, shown to nobody', async () => {
    for (const slip of ['', 'hunter2', 'whsec_', 'whsec_%%%', 'whsec_c2hvcnQ=']) {
      await assert.rejects(verifyCallback({ body, headers: signed(), secrets: [secret, slip], now }), (error) => {
        assert.ok(error instanceof TypeError);
        return slip === '' || !error.message.includes('hunter2');
      });
    }
  });
});
