import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchangeOf, hiddenValue, maxRecordedBodyChars } from '../../../src/tasks/callbacks/recorded-exchange.ts';

const sent = { headers: {}, body: '{}' };
const headersOf = (headers: Record<string, string | readonly string[] | undefined>) =>
  exchangeOf(sent, { headers, isPublic: true }).response?.headers;

test('of a request only the headers that no secret has made are shown', () => {
  const open = { 'Content-Type': 'application/json', 'webhook-id': 'msg_1', 'webhook-timestamp': '7' };
  const headers = { ...open, 'X-Webhook-Timestamp': '8', 'webhook-signature': 'v1,abc', authorization: 'Bearer x' };
  assert.deepEqual(exchangeOf({ headers, body: '{}' }), {
    requestHeaders: [
      ['content-type', 'application/json'],
      ['webhook-id', 'msg_1'],
      ['webhook-timestamp', '7'],
      ['x-webhook-timestamp', '8'],
      ['webhook-signature', hiddenValue],
      ['authorization', hiddenValue],
    ],
    requestBody: '{}',
    isBodyCut: false,
  });
});

test('a body is recorded up to its limit, in characters that the database stores', () => {
  const whole = exchangeOf({ headers: {}, body: 'x'.repeat(maxRecordedBodyChars) });
  assert.deepEqual([whole.requestBody.length, whole.isBodyCut], [maxRecordedBodyChars, false]);
  const cut = exchangeOf({ headers: {}, body: 'x'.repeat(maxRecordedBodyChars + 1) });
  assert.deepEqual([cut.requestBody.length, cut.isBodyCut], [maxRecordedBodyChars, true]);
  assert.equal(exchangeOf({ headers: {}, body: 'a\0b\ud800' }).requestBody, 'a\ufffdb\ufffd');
});

test("of a response the receiver's secrets are hidden, and only the first headers are recorded", () => {
  const shown = headersOf({ server: 'x', via: ['a', 'b'], none: undefined, 'set-cookie': ['id=1'], odd: 'a\0' });
  assert.deepEqual(shown, [
    ['server', 'x'],
    ['via', 'a, b'],
    ['set-cookie', hiddenValue],
    ['odd', 'a\ufffd'],
  ]);
  const secrets = { authorization: 'a', 'proxy-authenticate': 'b', 'www-authenticate': 'c' };
  assert.deepEqual(
    headersOf(secrets),
    Object.keys(secrets).map((name) => [name, hiddenValue]),
  );
  const full = 'v'.repeat(1_024 - 'a'.length);
  assert.deepEqual(headersOf({ a: full, b: 'x' }), [['a', full]]);
  assert.deepEqual(headersOf({ a: `${full}v`, b: 'x' }), []);
});

test('an exchange records whether any client can reach its receiver', () => {
  for (const isPublic of [true, false])
    assert.deepEqual(exchangeOf(sent, { headers: {}, isPublic }).response, { headers: [], isPublic });
});
