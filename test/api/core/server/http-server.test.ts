import assert from 'node:assert/strict';
import { once } from 'node:events';
import { stat } from 'node:fs';
import { Agent, get as httpGet, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { createApp } from '../../../../src/api/app.ts';
import { startHttpServer } from '../../../../src/api/core/server/http-server.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/test-database.ts';
import { heldReadiness } from '../../../support/service/held-readiness.ts';
import { assertRefused } from '../../../support/service/http-client.ts';
import { parseAnswer, type RawConnection, rawConnection, rawExchange } from '../../../support/proxies/raw-http.ts';
import {
  type HttpService,
  type HttpServiceOptions,
  plainRequest,
  startHttpService,
} from '../../../support/service/http-service.ts';
import { patient, watchNodeServer } from '../../../support/servers/node-server-limits.ts';
import { waitFor } from '../../../support/wait-for.ts';

let database: TestDatabase;
let service: HttpService;
before(async () => {
  database = await createTestDatabase();
  service = await startHttpService({ database });
});
after(async () => {
  await service.close();
  await database.close();
});

async function withService(options: HttpServiceOptions, work: (own: HttpService) => Promise<void>): Promise<void> {
  const own = await startHttpService({ database, ...options });
  try {
    await work(own);
  } finally {
    await own.close();
  }
}

/** A service whose readyz is answered when the test says so. */
async function withHeldAnswer(
  options: HttpServiceOptions,
  work: (own: HttpService, held: { asked: () => Promise<unknown>; release: () => void }) => Promise<void>,
): Promise<void> {
  const waiting: (() => void)[] = [];
  const release = () => {
    for (const answer of waiting.splice(0)) answer();
  };
  const held = heldReadiness(() => new Promise<void>((resolve) => waiting.push(resolve)));
  await withService({ ...options, ...held }, (own) =>
    work(own, { asked: () => waitFor('the question', () => waiting[0]), release }).finally(release),
  );
}

const ready = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n';
const health = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

for (const [name, bytes] of [
  ['garbage', 'garbage\r\n\r\n'],
  ['a TLS handshake', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])],
  ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a version that does not exist', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
  ['a header without a name', 'GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
  ['a space before the colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'],
  ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n'],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['a negative length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
  [
    'length and chunks, which is how requests are smuggled',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
] as const) {
  test(`400 ${name} is answered in the envelope and the connection closed; the request id leads to the log`, async () => {
    const answer = parseAnswer(await rawExchange(service.server.port, bytes));
    assertRefused(answer, 400, /malformed|Host/);
    const line = await waitFor('its line', () =>
      service.log.find(({ requestId }) => requestId === answer.headers['x-request-id']),
    );
    assert.equal(line['errorCode'], 'malformed_request');
  });
}

test('400 a broken chunk in a body is answered in the envelope', async () => {
  const { key } = await service.newAccount(1000);
  const head = `POST /api/v1/jobs/createTask HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  const text = await rawExchange(service.server.port, `${head}Transfer-Encoding: chunked\r\n\r\nnot hexadecimal\r\n`);
  assertRefused(parseAnswer(text), 400, /malformed/);
  assert.equal((await service.create(key, plainRequest)).status, 200);
});

test('431 headers over 16 KiB', async () => {
  const bytes = `GET /healthz HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`;
  assertRefused(parseAnswer(await rawExchange(service.server.port, bytes)), 431, /headers are larger/);
});

/** What these requests lack never comes, so a slow machine leads to the same refusal. */
const impatient = { headersTimeout: 500, requestTimeout: 1_000, connectionsCheckingInterval: 10 };

test('408 headers that come too slowly', async () => {
  await withService({ limits: impatient }, async (own) => {
    const text = await rawExchange(own.server.port, 'GET /healthz HTTP/1.1\r\nHo');
    assertRefused(parseAnswer(text), 408, /took too long/);
  });
});

for (const limits of [impatient, { bodyTimeout: 1_000 }])
  test(`408 a body that comes too slowly, by ${Object.keys(limits).join()}`, async () => {
    await withService({ limits }, async (own) => {
      const { key } = await service.newAccount(1000);
      const head = `POST /api/v1/jobs/createTask HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
      const text = await rawExchange(own.server.port, `${head}Content-Length: 100\r\n\r\n{`);
      assertRefused(parseAnswer(text), 408, /took too long/);
    });
  });

test('a refused body without end is cut off, after the client could read its answer', async () => {
  await withService({ limits: patient }, async (own) => {
    using node = watchNodeServer(own.server.port);
    const connection = rawConnection(own.server.port);
    const head = 'POST /api/v1/jobs/createTask HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    connection.write(`${head}5\r\nhello\r\n`);
    await connection.received(/valid API key/);
    node.limit(1);
    assertRefused(parseAnswer(await connection.closed), 401, /valid API key/);
  });
});

test('garbage behind a good request does not come before its answer, nor instead of it', async () => {
  await withHeldAnswer({}, async (own, { asked, release }) => {
    const connection = rawConnection(own.server.port);
    connection.write(ready);
    await asked();
    connection.write('garbage\r\n\r\n');
    const line = await waitFor('the garbage', () => own.log.find((one) => one['errorCode'] === 'malformed_request'));
    assert.match(String(line['reason']), /^Parse Error/);
    release();
    assert.equal(parseAnswer(await connection.closed).json.code, 200);
  });
});

test('an expectation that nobody knows is ignored', async () => {
  const bytes = 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\nConnection: close\r\n\r\n';
  assert.equal(parseAnswer(await rawExchange(service.server.port, bytes)).json.code, 200);
});

test('200 an old client that speaks HTTP/1.0 is served', async () => {
  assert.equal(parseAnswer(await rawExchange(service.server.port, 'GET /healthz HTTP/1.0\r\n\r\n')).json.code, 200);
});

test('an idle connection is closed after its time', async () => {
  await withService({ limits: { keepAliveTimeout: 20 } }, async (own) => {
    assert.equal(parseAnswer(await rawExchange(own.server.port, health)).json.code, 200);
  });
});

test('a client that goes away during its request does no harm and is logged as gone', async () => {
  await withHeldAnswer({}, async (own, { asked }) => {
    const connection = rawConnection(own.server.port);
    connection.write(ready);
    await asked();
    connection.socket.resetAndDestroy();
    await waitFor('the line of an aborted request', () =>
      own.log.find((line) => line['path'] === '/readyz' && line['aborted'] === true),
    );
    assert.equal((await own.send('GET', '/healthz')).status, 200);
  });
});

test('close lets a running request end, tells it to close, and closes idle connections at once', async () => {
  await withHeldAnswer({}, async (own, { asked, release }) => {
    const [silent, alsoSilent, idle, busy] = [
      rawConnection(own.server.port),
      rawConnection(own.server.port),
      rawConnection(own.server.port),
      rawConnection(own.server.port),
    ];
    idle.write(health);
    await idle.received(/200 OK.*}$/s);
    busy.write(ready);
    await asked();
    const closed = own.server.close(60_000);
    assert.equal(parseAnswer(await idle.closed).json.code, 200);
    for (const { closed: text } of [silent, alsoSilent])
      assert.equal(await text, '', 'a connection without a request is closed after a moment');
    await assert.rejects(own.send('GET', '/healthz'), /ECONNREFUSED/);
    release();
    const answer = parseAnswer(await busy.closed);
    assert.deepEqual([answer.json.code, answer.headers.connection], [200, 'close']);
    await closed;
  });
});

test('a request on a connection that was opened just before close is answered', async (t) => {
  await withHeldAnswer({}, async (own, { asked, release }) => {
    const [busy, opened] = [rawConnection(own.server.port), rawConnection(own.server.port)];
    busy.write(ready);
    await asked();
    // The moment after which a connection without a request is closed does not pass.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    // A proxy connects and then sends. In the kernel's queue or not, the connection is there when the listener closes.
    if (opened.socket.connecting) await once(opened.socket, 'connect');
    const closed = own.server.close(60_000);
    opened.write(health);
    const answer = parseAnswer(await opened.closed);
    assert.deepEqual([answer.json.code, answer.headers.connection], [200, 'close']);
    release();
    await closed;
  });
});

test('requests on connections that arrive as the server closes are answered, one turn of the event loop after another', async (t) => {
  await withService({}, async (own) => {
    // Neither the wait for connections nor the moment after which one without a request is closed passes.
    t.mock.method(performance, 'now', () => 0);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const connections: RawConnection[] = [];
    const open = () => {
      const connection = rawConnection(own.server.port);
      connection.write(health);
      connections.push(connection);
    };
    // Signals are delivered at the same point of a turn as the results of the file system.
    await new Promise<void>((closed) => {
      stat('.', () => {
        open();
        setImmediate(() => {
          open();
          setImmediate(open);
        });
        process.nextTick(() => void own.server.close(60_000).then(closed));
      });
    });
    const answers = await Promise.all(connections.map(({ closed }) => closed));
    assert.deepEqual(
      answers.map((answer) => parseAnswer(answer).json.code),
      [200, 200, 200],
    );
  });
});

test('after the end was announced, new requests are answered, and each response closes its connection', async () => {
  await withService({}, async (own) => {
    own.server.announceClose();
    const connection = rawConnection(own.server.port);
    connection.write(health);
    const answer = parseAnswer(await connection.closed);
    assert.deepEqual([answer.json.code, answer.headers.connection], [200, 'close']);
  });
});

test('a response that began before the end was announced leaves its connection open for one more request', async () => {
  // A balancer that has read this response may already send the next request on the same connection.
  let release = (): void => undefined;
  const callback = () => async (req: IncomingMessage, res: ServerResponse) => {
    if (req.url === '/begun') {
      res.writeHead(200, { 'content-length': 4 }).write('ab');
      await new Promise<void>((resolve) => (release = resolve));
      res.end('cd');
    } else res.end('next');
  };
  const { log } = service.deps;
  const server = await startHttpServer({ app: { callback }, host: '127.0.0.1', port: 0, log });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const get = (path: string) =>
    once(httpGet({ port: server.port, path, agent }), 'response') as Promise<[IncomingMessage]>;
  try {
    const [begun] = await get('/begun');
    server.announceClose();
    release();
    assert.equal(await textOf(begun), 'abcd');
    const [next] = await get('/next');
    assert.deepEqual([await textOf(next), next.headers.connection], ['next', 'close']);
    const [held] = await get('/begun');
    const closed = server.close(60_000);
    release();
    assert.equal(await textOf(held), 'abcd');
    await closed;
  } finally {
    agent.destroy();
    await server.close(0);
  }
});

test('close does not wait longer than its bound', async () => {
  await withHeldAnswer({}, async (own, { asked }) => {
    const busy = rawConnection(own.server.port);
    busy.write(ready);
    await asked();
    // What it would wait for never comes.
    await Promise.all([own.server.close(50), own.server.close(50)]);
    assert.equal(await busy.closed, '');
  });
});

test('an address that is taken is refused', async () => {
  const { port } = service.server;
  const { log } = service.deps;
  await assert.rejects(startHttpServer({ app: createApp(service.deps), host: '127.0.0.1', port, log }), /EADDRINUSE/);
});
