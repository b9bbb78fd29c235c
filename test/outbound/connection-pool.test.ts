import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { parseAllowList } from '../../src/outbound/allow-list.ts';
import { createGuardedClient, type GuardedClientOptions } from '../../src/outbound/client.ts';
import { leadsToOneOf, type PoolLimits } from '../../src/outbound/connection-pool.ts';
import { testCertificate, testKey } from '../support/hostile-certificate.ts';
import { hostileReceiver, type HostileReceiver } from '../support/hostile-receivers.ts';

const options = { headers: {}, body: '{}', timeoutMs: 60_000, maxResponseBytes: 1_024 };

function newClient(more: Partial<GuardedClientOptions> = {}) {
  const allow = parseAllowList('127.0.0.1, 127.0.0.2');
  // Longer than a test may take, so that nothing is closed merely for having idled.
  const poolLimits = { maxIdleMs: 120_000 };
  return createGuardedClient({ allow, poolLimits, lookup: () => Promise.resolve(['127.0.0.1']), ...more });
}

type Receiver = { readonly port: number; readonly connections: Set<Socket>; seen: number };

/** An ordinary web server, and the connections that it has seen and still holds. */
async function withReceiver(answer: RequestListener, use: (receiver: Receiver) => Promise<void>, tls = false) {
  const server = tls ? createTlsServer({ key: testKey, cert: testCertificate }, answer) : createServer(answer);
  const receiver = await listening(server);
  try {
    await use(receiver);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function listening(server: Server): Promise<Receiver> {
  const connections = new Set<Socket>();
  const receiver = { port: 0, connections, seen: 0 };
  // It never hangs up by itself.
  server.keepAliveTimeout = 0;
  server.on('connection', (socket: Socket) => {
    receiver.seen += 1;
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
  });
  server.listen(0);
  await once(server, 'listening');
  // A server that listens on TCP has no other kind of address.
  receiver.port = (server.address() as AddressInfo).port;
  return receiver;
}

const noContent: RequestListener = (_request, response) => void response.writeHead(204).end();

type Post = () => Promise<{ readonly status: number }>;

/** A receiver that does as it likes with each connection, and a way to post to it for one and the same. */
async function withHostile(
  misbehave: (socket: Socket) => void,
  use: (receiver: HostileReceiver, post: Post) => Promise<void>,
) {
  const receiver = await hostileReceiver(misbehave);
  const client = newClient();
  try {
    await use(receiver, () => client.post(`http://a.example:${receiver.port}/`, { ...options, poolKey: 'alice' }));
  } finally {
    await Promise.all([client.close(), receiver.close()]);
  }
}

const untilLimitMs = 180_000;

/** Waits for what other events of the loop will bring about. */
async function until(condition: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + untilLimitMs;
  while (!condition()) {
    assert.ok(performance.now() < giveUpAt, 'it did not come about');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('posts for the same one to the same place go over one connection, one after the other', async () => {
  await withReceiver(noContent, async (receiver) => {
    const client = newClient();
    const post = () => client.post(`http://a.example:${receiver.port}/`, { ...options, poolKey: 'alice' });
    for (let i = 0; i < 5; i += 1) assert.equal((await post()).status, 204);
    assert.equal(receiver.seen, 1);
    await Promise.all([post(), post(), post()]);
    assert.equal(receiver.seen, 3);
    await client.close();
    await until(() => receiver.connections.size === 0);
  });
});

test('nobody’s post goes over a connection of somebody else, of another host, port or scheme, or where none is kept', async () => {
  await withReceiver(noContent, async (receiver) => {
    await withReceiver(noContent, async (other) => {
      const client = newClient();
      const url = (port: number, host = 'a.example') => `http://${host}:${port}/`;
      await client.post(url(receiver.port), { ...options, poolKey: 'alice' });
      await client.post(url(receiver.port), { ...options, poolKey: 'bob' });
      await client.post(url(receiver.port, 'b.example'), { ...options, poolKey: 'alice' });
      await client.post(url(other.port), { ...options, poolKey: 'alice' });
      await client.post(url(receiver.port), options);
      const tls = client.post(`https://a.example:${receiver.port}/`, { ...options, poolKey: 'alice' });
      await assert.rejects(tls, { kind: 'tls' });
      assert.deepEqual([receiver.seen, other.seen], [5, 1]);
      await client.close();
    });
  });
});

test('a name that turns private is refused although a connection to its public address is kept', async () => {
  await withReceiver(noContent, async (receiver) => {
    let address = '127.0.0.2';
    const client = newClient({ lookup: () => Promise.resolve([address]), allow: parseAllowList('127.0.0.2') });
    const post = () => client.post(`http://turning.example:${receiver.port}/`, { ...options, poolKey: 'alice' });
    await post();
    address = '127.0.0.1';
    await assert.rejects(post(), { kind: 'blocked' });
    assert.equal(receiver.seen, 1);
    await client.close();
  });
});

test('a name that moves is followed: a kept connection is used only while its address is among the answers', async () => {
  await withReceiver(noContent, async (receiver) => {
    let addresses = ['127.0.0.1'];
    const client = newClient({ lookup: () => Promise.resolve(addresses) });
    const post = () => client.post(`http://moving.example:${receiver.port}/`, { ...options, poolKey: 'alice' });
    await post();
    addresses = ['127.0.0.2'];
    await post();
    assert.equal(receiver.seen, 2);
    addresses = ['127.0.0.3', '127.0.0.1'];
    await assert.rejects(post(), { kind: 'blocked' });
    addresses = ['127.0.0.2', '127.0.0.1'];
    await post();
    assert.equal(receiver.seen, 2);
    await client.close();
  });
});

test('over TLS a connection is kept for the name that its certificate was checked against', async () => {
  await withReceiver(
    noContent,
    async (receiver) => {
      const client = newClient({ ca: testCertificate });
      const post = (host: string) => client.post(`https://${host}:${receiver.port}/`, { ...options, poolKey: 'alice' });
      await post('receiver.example');
      await post('receiver.example');
      assert.equal(receiver.seen, 1);
      await assert.rejects(post('other.example'), { kind: 'tls' });
      await client.close();
    },
    true,
  );
});

test('a post over a kept connection whose other end hangs up fails, and is not sent again', async () => {
  let requests = 0;
  await withHostile(
    (socket) => {
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
        else socket.destroy();
      });
    },
    async (receiver, post) => {
      await post();
      await assert.rejects(post(), { kind: 'closed' });
      assert.deepEqual([requests, receiver.seen()], [2, 1]);
    },
  );
});

test('whoever hangs up after a while has had the post, and does not get it again', async () => {
  let requests = 0;
  await withHostile(
    (socket) => {
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
        else setTimeout(() => socket.destroy(), 1_100);
      });
    },
    async (_receiver, post) => {
      await post();
      await assert.rejects(post(), { kind: 'closed' });
      assert.equal(requests, 2);
    },
  );
});

test('a fault after the status has come is never followed by a second post', async () => {
  let requests = 0;
  await withHostile(
    (socket) => {
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
        else socket.end('HTTP/1.1 500 No\r\ncontent-length: 100\r\n\r\nshort');
      });
    },
    async (receiver, post) => {
      await post();
      assert.equal((await post()).status, 500);
      assert.deepEqual([requests, receiver.seen()], [2, 1]);
    },
  );
});

test('an answer that nobody asked for closes the connection and is never taken for the next one', async () => {
  const sockets: Socket[] = [];
  await withHostile(
    (socket) => {
      sockets.push(socket);
      socket.on('data', () => socket.write('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n'));
    },
    async (receiver, post) => {
      await post();
      sockets[0]?.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      await until(() => sockets[0]?.destroyed === true);
      assert.equal((await post()).status, 500);
      assert.equal(receiver.seen(), 2);
    },
  );
});

for (const [title, answer] of [
  ['that asks to be closed', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'],
  ['with two answers to one request', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'.repeat(2)],
  [
    'whose answer is longer than what is read of it',
    `HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n${'x'.repeat(5_000)}`,
  ],
  ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
] as const) {
  test(`a connection ${title} is not kept`, async () => {
    await withHostile(
      (socket) => void socket.on('data', () => socket.write(answer)),
      async (receiver, post) => {
        assert.equal((await post()).status, 200);
        await until(() => receiver.open() === 0);
        assert.equal((await post()).status, 200);
        assert.equal(receiver.seen(), 2);
      },
    );
  });
}

test('a silent receiver on a kept connection ends with the time of its own post', async () => {
  let isSilent = false;
  await withReceiver(
    (_request, response) => void (isSilent || response.writeHead(204).end()),
    async (receiver) => {
      const client = newClient();
      const post = (timeoutMs: number) =>
        client.post(`http://a.example:${receiver.port}/`, { ...options, timeoutMs, poolKey: 'alice' });
      await post(60_000);
      isSilent = true;
      await assert.rejects(post(100), { kind: 'timeout' });
      await until(() => receiver.connections.size === 0);
      assert.equal(receiver.seen, 1);
      await client.close();
    },
  );
});

test('connections are kept for a moment, and up to a number', async () => {
  await withReceiver(noContent, async (receiver) => {
    const url = `http://a.example:${receiver.port}/`;
    const posting = async (poolLimits: Partial<PoolLimits>, use: (post: Post) => Promise<void>) => {
      receiver.seen = 0;
      const client = newClient({ poolLimits });
      await use(() => client.post(url, { ...options, poolKey: 'alice' }));
      await client.close();
      await until(() => receiver.connections.size === 0);
    };
    await posting({ maxIdle: 2, maxIdleMs: 120_000 }, async (post) => {
      await Promise.all([post(), post(), post()]);
      await until(() => receiver.connections.size === 2);
      await Promise.all([post(), post()]);
      assert.equal(receiver.seen, 3);
      await Promise.all([post(), post(), post()]);
      assert.equal(receiver.seen, 4, 'what is in use again does not count as idle');
    });
    await posting({ maxIdleMs: 50 }, async (post) => {
      await post();
      await until(() => receiver.connections.size === 0);
    });
  });
});

test('a socket is where it should be only at one of the checked addresses, in any spelling', () => {
  assert.ok(leadsToOneOf(['8.8.8.8', '2606:4700:0::1111'], { remoteAddress: '2606:4700::1111' }));
  assert.ok(leadsToOneOf(['8.8.8.8'], { remoteAddress: '::ffff:8.8.8.8' }));
  assert.ok(!leadsToOneOf(['8.8.8.8'], { remoteAddress: '10.0.0.1' }));
  assert.ok(!leadsToOneOf(['8.8.8.8'], { remoteAddress: undefined }));
});
