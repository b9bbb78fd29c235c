import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { parseAllowList } from '../../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient, type GuardedClientOptions } from '../../../../src/platform/outbound/guarded-client.ts';
import { OutboundError, type OutboundErrorKind } from '../../../../src/platform/outbound/outbound-error.ts';
import { isOneOfAddresses } from '../../../../src/platform/outbound/send-request.ts';
import { answering, hostileReceiver } from '../../../support/hostile/hostile-receivers.ts';
import { untilTurn } from '../../../support/until-turn.ts';
import { waitFor } from '../../../support/wait-for.ts';

// Whether a failed create may be sent to somebody else hangs on this: "not sent" has to be certain.

const timeoutMs = 60_000;
const options = { headers: {}, body: '{}', timeoutMs, maxBytes: 1_000 };

function newClient(t: TestContext, more: Partial<GuardedClientOptions> = {}) {
  const lookup = () => Promise.resolve(['127.0.0.1']);
  const client = createGuardedClient({ allow: parseAllowList('127.0.0.1'), lookup, ...more });
  t.after(() => client.close());
  return client;
}

async function receiving(t: TestContext, misbehave: (socket: Socket) => void) {
  const receiver = await hostileReceiver(misbehave);
  t.after(() => receiver.close());
  return receiver;
}

const silent = (socket: Socket) => void socket.resume();

/** A receiver that never answers, and whether it has received anything. */
async function silentReceiver(t: TestContext) {
  let hasRead = false;
  const receiver = await receiving(t, (socket) => void socket.on('data', () => (hasRead = true)));
  return { port: receiver.port, hasRead: () => hasRead };
}

test('nothing was sent to an address that is refused, unknown or dead', async (t) => {
  const dead = await hostileReceiver(silent);
  await dead.close();
  const client = newClient(t);
  const nameless = newClient(t, { lookup: () => Promise.reject(new Error('no such name')) });
  const refused = client.request('POST', 'http://10.0.0.1/', options);
  await assert.rejects(refused, { kind: 'blocked', wasSent: false });
  await assert.rejects(nameless.request('POST', 'http://a.example/', options), { kind: 'dns', wasSent: false });
  const unanswered = client.request('POST', `http://127.0.0.1:${dead.port}/`, options);
  await assert.rejects(unanswered, { kind: 'connect', wasSent: false });
});

test('nothing was sent before the handshake of TLS has ended', async (t) => {
  const plain = await receiving(t, answering('HTTP/1.1 200 OK\r\n\r\n'));
  const hanging = await silentReceiver(t);
  const client = newClient(t);
  const failed = client.request('POST', `https://127.0.0.1:${plain.port}/`, options);
  await assert.rejects(failed, { kind: 'tls', wasSent: false });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const late = client.request('POST', `https://127.0.0.1:${hanging.port}/`, options);
  const rejected = assert.rejects(late, { kind: 'timeout', wasSent: false });
  await untilTurn('the beginning of the handshake', hanging.hasRead);
  t.mock.timers.tick(timeoutMs);
  await rejected;
});

test('nothing was sent by whoever still looks up a name or waits for a slot', async (t) => {
  const looking = newClient(t, { lookup: () => new Promise(() => {}) });
  // Shorter than the limit of the look-up itself.
  const unnamed = looking.request('POST', 'http://a.example/', { ...options, timeoutMs: 100 });
  await assert.rejects(unnamed, { kind: 'timeout', wasSent: false });

  const receiver = await receiving(t, silent);
  const stop = new AbortController();
  const client = newClient(t, { maxPerHost: 1, maxWaitingPerHost: 1, maxWaitMs: 60_000 });
  const url = `http://127.0.0.1:${receiver.port}/`;
  const sent = client.request('POST', url, { ...options, signal: stop.signal });
  const waiting = client.request('POST', url, { ...options, signal: stop.signal });
  const settled = Promise.all([
    assert.rejects(sent, { kind: 'aborted', wasSent: true }),
    assert.rejects(waiting, { kind: 'aborted', wasSent: false }),
  ]);
  await assert.rejects(client.request('POST', url, options), { kind: 'busy', wasSent: false });
  await waitFor('the connection', () => (receiver.seen() === 1 ? true : undefined));
  stop.abort();
  await settled;
  assert.equal(receiver.seen(), 1);
});

test('nothing was sent under a signal that was aborted before', async (t) => {
  const request = newClient(t).request('POST', 'http://127.0.0.1:9/', { ...options, signal: AbortSignal.abort() });
  await assert.rejects(request, { kind: 'aborted', wasSent: false });
});

for (const [title, misbehave, kind] of [
  ['hangs up', (socket: Socket) => void socket.once('data', () => socket.destroy()), 'closed'],
  ['breaks off within its answer', answering('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort'), 'closed'],
  ['does not speak HTTP', answering('220 mail.example\r\n'), 'protocol'],
  ['says too much', answering(`HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n${'x'.repeat(1_001)}`), 'too_large'],
] as const) {
  test(`an upstream that ${title} may have read the request`, async (t) => {
    const receiver = await receiving(t, misbehave);
    const request = newClient(t).request('POST', `http://127.0.0.1:${receiver.port}/`, options);
    await assert.rejects(request, { kind, wasSent: true });
  });
}

test('an upstream that is silent may have read the request', async (t) => {
  const receiver = await silentReceiver(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const request = newClient(t).request('POST', `http://127.0.0.1:${receiver.port}/`, options);
  const rejected = assert.rejects(request, { kind: 'timeout', wasSent: true });
  await untilTurn('the request', receiver.hasRead);
  t.mock.timers.tick(timeoutMs);
  await rejected;
});

test('a post that breaks is not sent again, before its status or after it', async (t) => {
  let requests = 0;
  const receiver = await receiving(t, (socket) => {
    socket.on('data', () => {
      requests += 1;
      if (requests === 1) setTimeout(() => socket.destroy(), 1_100);
      else socket.end('HTTP/1.1 500 No\r\ncontent-length: 100\r\n\r\nshort');
    });
  });
  const post = () => {
    const url = `http://127.0.0.1:${receiver.port}/`;
    return newClient(t).post(url, { headers: {}, body: '{}', timeoutMs: 60_000, maxResponseBytes: 1_000 });
  };
  await assert.rejects(post(), { kind: 'closed' });
  assert.equal((await post()).status, 500);
  assert.deepEqual([requests, receiver.seen()], [2, 2]);
});

test('a socket is where it should be only at one of the checked addresses, in any spelling', () => {
  assert.ok(isOneOfAddresses(['8.8.8.8', '2606:4700:0::1111'], '2606:4700::1111'));
  assert.ok(isOneOfAddresses(['8.8.8.8'], '::ffff:8.8.8.8'));
  assert.ok(!isOneOfAddresses(['8.8.8.8'], '10.0.0.1'));
});

test('an error is certain that nothing was sent only if it comes before the request, unless it says so itself', () => {
  const before: readonly OutboundErrorKind[] = ['blocked', 'dns', 'connect', 'tls', 'busy', 'timeout', 'aborted'];
  const after: readonly OutboundErrorKind[] = ['closed', 'protocol', 'redirect', 'too_large', 'encoding'];
  const wasSent = (kind: OutboundErrorKind) => new OutboundError(kind, 'a test').wasSent;
  assert.deepEqual([before.map(wasSent), after.map(wasSent)], [before.map(() => false), after.map(() => true)]);
  assert.equal(new OutboundError('timeout', 'a test', undefined, true).wasSent, true);
  assert.equal(new OutboundError('too_large', 'a test', undefined, false).wasSent, false);
});
