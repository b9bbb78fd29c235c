import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { test } from 'node:test';
import { parseAllowList } from '../../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient, type GuardedClientOptions } from '../../../../src/platform/outbound/guarded-client.ts';
import { OutboundError, type OutboundErrorKind } from '../../../../src/platform/outbound/outbound-error.ts';
import { testCertificate, testKey } from '../../../support/hostile/hostile-certificate.ts';
import {
  answering,
  hostileReceiver,
  neverEnding,
  type HostileReceiver,
} from '../../../support/hostile/hostile-receivers.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** For what must not end for want of time, however busy the machine is; and for what must. */
const timeoutMs = 60_000;
const briefMs = 300;
const postOptions = { headers: { 'content-type': 'application/json' }, body: '{}', timeoutMs, maxResponseBytes: 1024 };
const getOptions = { maxBytes: 100_000, timeoutMs, maxRedirects: 3 };
const ok = 'HTTP/1.1 200 OK\r\n\r\n';

function newClient(options: Partial<GuardedClientOptions> = {}) {
  return createGuardedClient({ allow: parseAllowList('127.0.0.1, receiver.example'), ...options });
}

async function withReceiver(misbehave: (socket: Socket) => void, use: (receiver: HostileReceiver) => Promise<void>) {
  const receiver = await hostileReceiver(misbehave);
  try {
    await use(receiver);
  } finally {
    await receiver.close();
  }
}

const toLoopback = () => Promise.resolve(['127.0.0.1']);

function kindOf(error: unknown): string {
  return error instanceof OutboundError ? error.kind : String(error);
}

const until = (condition: () => boolean) => waitFor('the event', () => (condition() ? true : undefined));

/** A TLS server behind plain sockets, so that `hostileReceiver` can be one. */
function secured(then: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    const secure = new TLSSocket(socket, { isServer: true, key: testKey, cert: testCertificate });
    secure.on('error', () => {});
    then(secure);
  };
}

const misbehaviours: readonly [string, (socket: Socket) => void, 'http' | 'https', OutboundErrorKind][] = [
  ['never answers', (socket) => void socket.resume(), 'http', 'timeout'],
  ['sends its headers a byte at a time', neverEnding('HTTP/1.1 200 OK\r\nx: ', 'x', 20), 'http', 'timeout'],
  ['sends endless headers', neverEnding('HTTP/1.1 200 OK\r\n', `x: ${'y'.repeat(1000)}\r\n`, 0), 'http', 'protocol'],
  ['sends endless early hints', neverEnding('', 'HTTP/1.1 103 Early Hints\r\n\r\n', 1), 'http', 'timeout'],
  ['closes without an answer', (socket) => void socket.once('data', () => socket.destroy()), 'http', 'closed'],
  ['resets the connection', (socket) => void socket.once('data', () => socket.resetAndDestroy()), 'http', 'closed'],
  ['closes within its headers', answering('HTTP/1.1 200 OK\r\nconte'), 'http', 'closed'],
  ['does not speak HTTP', answering('220 mail.example ESMTP\r\n'), 'http', 'protocol'],
  [
    'gives two lengths',
    answering('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
    'http',
    'protocol',
  ],
  [
    'switches to another protocol',
    answering('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    'http',
    'protocol',
  ],
  ['speaks plain HTTP where TLS is meant', answering(ok), 'https', 'tls'],
  ['breaks off TLS', (socket) => void socket.once('data', () => socket.destroy()), 'https', 'tls'],
  ['never goes on with TLS', (socket) => void socket.resume(), 'https', 'timeout'],
  ['shows a certificate nobody trusts', secured(answering(ok)), 'https', 'tls'],
];

for (const [title, misbehave, scheme, kind] of misbehaviours) {
  test(`a callback to a receiver that ${title} ends as ${kind}, with its connection gone`, async () => {
    await withReceiver(misbehave, async (receiver) => {
      const limit = { timeoutMs: kind === 'timeout' ? briefMs : timeoutMs };
      const work = newClient().post(`${scheme}://127.0.0.1:${receiver.port}/`, { ...postOptions, ...limit });
      await assert.rejects(work, { kind });
      await until(() => receiver.open() === 0);
    });
  });
}

test('a status counts although its body comes a byte at a time for ever', async () => {
  await withReceiver(neverEnding(ok, 'x', 1), async (receiver) => {
    const url = `http://127.0.0.1:${receiver.port}/`;
    const answer = await newClient().post(url, { ...postOptions, maxResponseBytes: 64 });
    assert.deepEqual([answer.status, answer.body.toString()], [200, 'x'.repeat(64)]);
    await until(() => receiver.open() === 0);
  });
});

test('a status counts although its body breaks off', async () => {
  await withReceiver(answering('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'), async (receiver) => {
    const answer = await newClient().post(`http://127.0.0.1:${receiver.port}/`, postOptions);
    assert.deepEqual([answer.status, answer.body.toString()], [200, 'short']);
  });
});

test('of an endless answer to a callback 1 KiB is kept, and the connection is dropped', async () => {
  await withReceiver(neverEnding(ok, Buffer.alloc(65_536, 'x'), 0), async (receiver) => {
    const answer = await newClient().post(`http://127.0.0.1:${receiver.port}/`, postOptions);
    assert.equal(answer.body.length, 1024);
    await until(() => receiver.open() === 0);
  });
});

test('a receiver that closes behind a body which waits to be read ends no process', async () => {
  const body = 'x'.repeat(2_000_000);
  await withReceiver(answering(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`), async (receiver) => {
    const url = `http://127.0.0.1:${receiver.port}/`;
    const options = { ...getOptions, maxBytes: 2_000_000 };
    const answers = await Promise.all(Array.from({ length: 10 }, () => newClient().get(url, options)));
    assert.deepEqual(
      answers.map((answer) => answer.body.length),
      Array.from({ length: 10 }, () => body.length),
    );
    const kept = await newClient().post(url, postOptions);
    assert.equal(kept.body.length, 1024);
  });
});

test('an endless download stops at its limit', async () => {
  await withReceiver(neverEnding(ok, Buffer.alloc(65_536, 'x'), 0), async (receiver) => {
    const options = getOptions;
    await assert.rejects(newClient().get(`http://127.0.0.1:${receiver.port}/`, options), { kind: 'too_large' });
    await until(() => receiver.open() === 0);
  });
});

test('a download whose length says too much is not begun', async () => {
  await withReceiver(answering('HTTP/1.1 200 OK\r\ncontent-length: 100001\r\n\r\n'), async (receiver) => {
    await assert.rejects(newClient().get(`http://127.0.0.1:${receiver.port}/`, getOptions), { kind: 'too_large' });
  });
});

test('a download that comes a byte at a time ends with the time it was given', async () => {
  await withReceiver(neverEnding(ok, 'x', 20), async (receiver) => {
    const options = { ...getOptions, timeoutMs: briefMs };
    await assert.rejects(newClient().get(`http://127.0.0.1:${receiver.port}/`, options), { kind: 'timeout' });
  });
});

test('a download that breaks off is a failure', async () => {
  await withReceiver(answering('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'), async (receiver) => {
    await assert.rejects(newClient().get(`http://127.0.0.1:${receiver.port}/`, getOptions), {
      kind: /closed|protocol/,
    });
  });
});

test('a redirect without end is given up after three', async () => {
  const again = 'HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n';
  await withReceiver(answering(again), async (receiver) => {
    await assert.rejects(newClient().get(`http://127.0.0.1:${receiver.port}/`, getOptions), { kind: 'redirect' });
    assert.equal(receiver.seen(), 4);
  });
});

test('a name server that never answers costs the look-up its own bound', async () => {
  const client = newClient({ lookup: () => new Promise(() => {}), lookupTimeoutMs: 50 });
  await assert.rejects(client.post('http://silent.example/', postOptions), { kind: 'dns' });
});

test('a name with a dead address is reached at its next one', async () => {
  await withReceiver(answering('HTTP/1.1 204 No Content\r\n\r\n'), async (receiver) => {
    const client = newClient({ lookup: () => Promise.resolve(['127.0.0.3', '127.0.0.1']) });
    const answer = await client.post(`http://receiver.example:${receiver.port}/`, postOptions);
    assert.equal(answer.status, 204);
  });
});

for (const scheme of ['http', 'https']) {
  test(`an address that the system has no route to ends the ${scheme} request, and no process`, async () => {
    // As an IPv6 address on a machine without IPv6: the system refuses within the call, before any event of the loop.
    const client = newClient({ lookup: () => Promise.resolve(['255.255.255.255']) });
    const url = `${scheme}://receiver.example/`;
    await assert.rejects(client.post(url, postOptions), { kind: 'connect' });
    await client.close();
  });
}

test('nothing was sent to a literal address that the system has no route to', async () => {
  // Without a look-up the system refuses before the request has its socket.
  const client = newClient({ allow: parseAllowList('255.255.255.255') });
  await assert.rejects(client.post('http://255.255.255.255/', postOptions), { kind: 'connect', wasSent: false });
  await client.close();
});

test('a receiver that switches protocols gets one request, and holds up no shutdown', async () => {
  const switching = answering('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
  await withReceiver(switching, async (receiver) => {
    const client = newClient();
    const posted = client.post(`http://127.0.0.1:${receiver.port}/`, postOptions);
    await assert.rejects(posted, { kind: 'protocol' });
    await client.close();
    assert.equal(receiver.seen(), 1);
  });
});

test('TLS is checked against the name, not against the address connected to', async () => {
  await withReceiver(secured(answering('HTTP/1.1 204 No Content\r\n\r\n')), async (receiver) => {
    const allow = parseAllowList('127.0.0.1');
    const client = newClient({ allow, ca: testCertificate, lookup: toLoopback });
    const send = (host: string) => client.post(`https://${host}:${receiver.port}/`, postOptions);
    assert.equal((await send('receiver.example')).status, 204);
    assert.equal((await send('receiver.example.')).status, 204);
    assert.equal((await send('127.0.0.1')).status, 204);
    await assert.rejects(send('other.example'), { kind: 'tls' });
  });
});

test('a silent host holds no more than its slots, and does not delay another host', async () => {
  await withReceiver(
    (socket) => void socket.resume(),
    async (silent) => {
      await withReceiver(answering('HTTP/1.1 204 No Content\r\n\r\n'), async (healthy) => {
        const client = newClient({ lookup: toLoopback, maxPerHost: 2, maxWaitingPerHost: 3, maxWaitMs: 60_000 });
        const url = `http://silent.example:${silent.port}/`;
        const held = Array.from({ length: 5 }, () => client.post(url, postOptions));
        const settled = Promise.allSettled(held);
        await assert.rejects(client.post(url, postOptions), { kind: 'busy' });
        assert.equal((await client.post(`http://healthy.example:${healthy.port}/`, postOptions)).status, 204);
        await until(() => silent.seen() === 2);
        await client.close();
        const kinds = (await settled).map((result) => result.status === 'rejected' && kindOf(result.reason));
        assert.deepEqual(
          kinds,
          Array.from({ length: 5 }, () => 'aborted'),
        );
        assert.equal(silent.seen(), 2);
        await until(() => silent.open() === 0);
      });
    },
  );
});

test('a closed client refuses to begin', async () => {
  const client = newClient();
  await client.close();
  await assert.rejects(client.post('http://127.0.0.1:9/', postOptions), { kind: 'aborted' });
});

test('a caller may break off, and is told so', async () => {
  await withReceiver(
    (socket) => void socket.resume(),
    async (receiver) => {
      const stop = new AbortController();
      const url = `http://127.0.0.1:${receiver.port}/`;
      const work = newClient().post(url, { ...postOptions, signal: stop.signal });
      const rejected = assert.rejects(work, { kind: 'aborted' });
      await until(() => receiver.open() === 1);
      stop.abort();
      await rejected;
      await until(() => receiver.open() === 0);
    },
  );
});
