import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findAccount } from '../../../../src/accounts/accounts.ts';
import type { Database } from '../../../../src/platform/database/database.ts';
import { auditLedger } from '../../../../src/credits/ledger/ledger-audit.ts';
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
import { openFiles } from '../../../support/processes/open-files.ts';
import { waitFor } from '../../../support/wait-for.ts';

let database: TestDatabase;
let service: HttpService;
before(async () => {
  database = await createTestDatabase();
  service = await startHttpService({ database });
});
after(async () => {
  await service.close();
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

async function withService(options: HttpServiceOptions, work: (own: HttpService) => Promise<void>): Promise<void> {
  const own = await startHttpService({ database, ...options });
  try {
    await work(own);
  } finally {
    await own.close();
  }
}

async function assertServes(own: HttpService): Promise<void> {
  assert.equal((await own.send('GET', '/healthz')).status, 200);
}

async function assertNothingCharged(accountId: string, credits: number): Promise<void> {
  const account = await findAccount(database.db, accountId);
  assert.deepEqual([account?.balance, account?.unfinishedTasks], [credits, 0]);
}

const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';
const health = `${get}\r\n`;
const post = 'POST /api/v1/jobs/createTask HTTP/1.1\r\nHost: x\r\n';
const chunked = `${post}Transfer-Encoding: chunked\r\n`;
const emptyChunks = '\r\n0\r\n\r\n';
/** Follows each odd request; a server that parses it as a request has been tricked. */
const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

function assertNotSmuggled(): void {
  assert.ok(!service.log.some(({ path }) => path === '/smuggled'));
}

function createHead(key: string, ...headers: string[]): string {
  return `${[`${post}Authorization: Bearer ${key}`, 'Content-Type: application/json', ...headers].join('\r\n')}\r\n\r\n`;
}

for (const [name, bytes] of [
  ['the same length twice', `${post}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`],
  ['a list of lengths', `${post}Content-Length: 5, 5\r\n\r\nhello`],
  ['a length with a sign', `${post}Content-Length: +5\r\n\r\nhello`],
  ['a hexadecimal length', `${post}Content-Length: 0x5\r\n\r\nhello`],
  ['an empty length', `${post}Content-Length: \r\n\r\nhello`],
  ['a length beyond counting', `${post}Content-Length: 99999999999999999999999\r\n\r\nhello`],
  ['a length, then chunks', `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n${emptyChunks}`],
  ['chunks, then a length', `${chunked}Content-Length: 5\r\n${emptyChunks}`],
  ['a coding that resembles chunked', `${post}Transfer-Encoding: xchunked\r\n${emptyChunks}`],
  ['a coding over chunked', `${post}Transfer-Encoding: chunked, identity\r\n${emptyChunks}`],
  ['a coding under chunked', `${post}Transfer-Encoding: gzip, chunked\r\n${emptyChunks}`],
  ['two codings, chunked first', `${chunked}Transfer-Encoding: identity\r\n${emptyChunks}`],
  ['two codings, chunked last', `${post}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n${emptyChunks}`],
  ['a coding behind a vertical tab', `${post}Transfer-Encoding: \x0bchunked\r\n${emptyChunks}`],
  ['chunks in HTTP/1.0', `${chunked.replace('1.1', '1.0')}Connection: keep-alive\r\n${emptyChunks}`],
  ['a chunk of negative size', `${chunked}\r\n-5\r\nhello\r\n0\r\n\r\n`],
  ['a chunk size with a prefix', `${chunked}\r\n0x5\r\nhello\r\n0\r\n\r\n`],
  ['a chunk size beyond counting', `${chunked}\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n`],
  ['a chunk size with a space', `${chunked}\r\n5 \r\nhello\r\n0\r\n\r\n`],
  ['chunks between bare line feeds', `${chunked}\r\n5\nhello\n0\n\n`],
  ['a bare line feed in a chunk extension', `${chunked}\r\n5;a\nb\r\nhello\r\n0\r\n\r\n`],
  ['a length in a trailer', `${chunked}\r\n0\r\nContent-Length: 5\r\n\r\n`],
  ['a folded header', `${get}A: b\r\n c\r\n\r\n`],
  ['a folded coding', `${post}Transfer-Encoding:\r\n chunked\r\n${emptyChunks}`],
  ['bare line feeds', 'GET /healthz HTTP/1.1\nHost: x\n\n'],
  ['a bare carriage return', `${get}A: b\rB: c\r\n\r\n`],
  ['a bare line feed in a header', `${get}A: b\nTransfer-Encoding: chunked\r\n${emptyChunks}`],
] as const) {
  test(`400 ${name}: one answer, then the connection is closed, and nothing behind it is a request`, async () => {
    const text = await rawExchange(service.server.port, Buffer.from(bytes + smuggled, 'latin1'));
    assertRefused(parseAnswer(text), 400, /malformed/);
    assertNotSmuggled();
  });
}

test('400 an odd request behind a good one: the good one is answered, and nothing more', async () => {
  const odd = `${post}Transfer-Encoding: gzip, chunked\r\n${emptyChunks}${smuggled}`;
  assert.equal(parseAnswer(await rawExchange(service.server.port, health + odd)).status, 200);
  assertNotSmuggled();
});

test('413 the size of chunk extensions is limited', async () => {
  const bytes = `${chunked}\r\n5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`;
  assertRefused(parseAnswer(await rawExchange(service.server.port, bytes)), 413, /larger than/);
});

for (const name of ['Host', 'Authorization', 'Content-Type']) {
  test(`400 two of ${name}, of which a proxy may have judged the other`, async () => {
    const request = `GET /healthz HTTP/1.1\r\n${name}: a\r\n${name}: b\r\nHost: x\r\nConnection: close\r\n\r\n`;
    assertRefused(parseAnswer(await rawExchange(service.server.port, request)), 400, /given twice/);
  });
}

test('400 a header after the thousandth counts like the first', async () => {
  const request = `${post}${'a:b\r\n'.repeat(2_100)}Transfer-Encoding: gzip, chunked\r\n${emptyChunks}${smuggled}`;
  assertRefused(parseAnswer(await rawExchange(service.server.port, request)), 400, /malformed/);
});

test('414 an address over 8 KiB, and 431 one over the bound of all headers', async () => {
  const request = (length: number) => `GET /${'a'.repeat(length)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  assertRefused(parseAnswer(await rawExchange(service.server.port, request(4_095))), 404, /unknown endpoint/);
  assertRefused(parseAnswer(await rawExchange(service.server.port, request(8_192))), 414, /longer than 8192/);
  assertRefused(parseAnswer(await rawExchange(service.server.port, request(20_000))), 431, /headers are larger/);
});

/** Ends a test whose server lacks the limit and would therefore never close the connection. */
const bounded = { timeout: 180_000 };

/** Sends one byte after the other, for as long as the server listens. */
async function dribble(connection: RawConnection, bytes: string): Promise<string> {
  let next = 0;
  const timer = setInterval(() => connection.write(bytes.charAt(next++ % bytes.length)), 5);
  return connection.closed.finally(() => clearInterval(timer));
}

test('408 slow or missing headers hold a connection for the headers timeout only', bounded, async () => {
  await withService({ limits: patient }, async (own) => {
    using node = watchNodeServer(own.server.port);
    const slow = rawConnection(own.server.port);
    slow.write(`${get}A: `);
    const [dribbled, silent] = [dribble(slow, 'a'), rawConnection(own.server.port).closed];
    await assertServes(own);
    node.server().headersTimeout = 500;
    for (const text of [await dribbled, await silent]) assertRefused(parseAnswer(text), 408, /took too long/);
    node.server().headersTimeout = patient.headersTimeout;
    await assertServes(own);
  });
});

test('408 a slow body is cut off at the request timeout, and nothing is charged', bounded, async () => {
  await withService({ limits: patient }, async (own) => {
    using node = watchNodeServer(own.server.port);
    const { accountId, key } = await own.newAccount(1_000);
    const slow = rawConnection(own.server.port);
    slow.write(createHead(key, 'Content-Length: 100000'));
    const dribbled = dribble(slow, JSON.stringify(plainRequest));
    assert.equal((await own.create((await own.newAccount(1_000)).key, plainRequest)).status, 200);
    node.limit(500);
    assertRefused(parseAnswer(await dribbled), 408, /took too long/);
    await assertNothingCharged(accountId, 1_000);
  });
});

test('of 1,000 pipelined requests one is served, and the connection closes after its response', async () => {
  let asked = 0;
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const held = heldReadiness(() => {
    asked += 1;
    return gate;
  });
  await withService(held, async (own) => {
    const connection = rawConnection(own.server.port);
    connection.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
    await waitFor('the first', () => (asked > 0 ? true : undefined));
    await assertServes(own);
    release();
    const answer = parseAnswer(await connection.closed);
    assert.deepEqual([answer.status, answer.headers.connection, asked], [200, 'close', 1]);
  });
});

test('a full server closes new connections and serves those that it has, until one of them closes', async () => {
  await withService({ limits: { maxConnections: 2 } }, async (own) => {
    const [first, second] = [rawConnection(own.server.port), rawConnection(own.server.port)];
    for (const connection of [first, second]) {
      connection.write(health);
      await connection.received(/200 OK.*}$/s);
    }
    for (let count = 0; count < 2; count += 1) assert.equal(await rawConnection(own.server.port).closed, '');
    second.write(health);
    await second.received(/200 OK.*}HTTP.*}$/s);
    first.socket.destroy();
    await waitFor('a connection', async () => {
      const next = rawConnection(own.server.port);
      next.write(health.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      return (await next.closed) === '' ? undefined : true;
    });
    second.socket.destroy();
    const lines = own.log.filter(({ msg }) => msg === 'too many connections');
    assert.equal(lines.length, 1, 'the log does not grow with the flood');
  });
});

test('a response that the client does not read is cut off at the idle timeout, and no file stays open', async () => {
  await withService({ limits: { timeout: 60_000 } }, async (own) => {
    using node = watchNodeServer(own.server.port);
    await assertServes(own);
    assert.equal(node.server().timeout, 60_000);
    const accepted = once(node.server(), 'connection');
    const folder = await mkdtemp(join(tmpdir(), 'videogen-unread-'));
    // More than the buffers of both ends hold.
    await writeFile(join(folder, 'video'), Buffer.alloc(64 * 1024 * 1024));
    await own.deps.resultStore.put('results/unread/video.mp4', join(folder, 'video'));
    await rm(folder, { recursive: true });
    const { pathname, search } = new URL(own.deps.resultStore.link('results/unread/video.mp4'));
    const connection = rawConnection(own.server.port);
    connection.socket.pause();
    connection.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(20));
    const [served] = (await accepted) as [Socket]; // what 'connection' carries
    await waitFor('the response', () => (served.bytesWritten > 0 ? true : undefined));
    // A shorter limit might pass before the request has been read, on a slow machine.
    served.setTimeout(100);
    await waitFor('the line', () => own.log.find(({ path, aborted }) => path === pathname && aborted === true));
    await waitFor('the closing of the file', () => (openFiles(/results\/unread/).length === 0 ? true : undefined));
    connection.socket.destroy();
    await assertServes(own);
  });
});

function abortLogged({ log }: HttpService, accountId: string): Promise<unknown> {
  return waitFor('the line', () => log.find((line) => line['accountId'] === accountId && line['aborted'] === true));
}

test('a client that resets its connection during the body creates nothing', async () => {
  const { accountId, key } = await service.newAccount(1_000);
  const connection = rawConnection(service.server.port);
  connection.write(`${createHead(key, 'Content-Length: 1000')}{"model":`);
  await waitFor('the key to be used', async () => {
    const text = 'select last_used_at from api_keys where account_id = $1';
    const [row] = await database.db.run<{ last_used_at: number | null }>({ name: 'test-use', text }, [accountId]);
    return row?.last_used_at ?? undefined;
  });
  connection.socket.resetAndDestroy();
  await abortLogged(service, accountId);
  await assertNothingCharged(accountId, 1_000);
  await assertServes(service);
});

for (const moment of ['before', 'after'] as const) {
  test(`a client that disconnects ${moment} the commit finds its task by its Idempotency-Key, charged once and started`, async () => {
    let reached = () => {};
    let goOn = () => {};
    const atGate = new Promise<void>((resolve) => (reached = resolve));
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const { db } = database;
    const pause = () => {
      reached();
      return gate;
    };
    const run: Database['run'] = async (statement, values) => {
      const isAcceptance = statement.name === 'accept-tasks';
      if (isAcceptance && moment === 'before') await pause();
      const rows = await db.run(statement, values);
      if (isAcceptance && moment === 'after') await pause();
      // The generic type of the rows is lost between the two.
      return rows as never;
    };
    await withService({ db: { ...db, run } }, async (own) => {
      const { accountId, key } = await own.newAccount(1_000);
      const body = JSON.stringify(plainRequest);
      const connection = rawConnection(own.server.port);
      connection.write(createHead(key, 'Idempotency-Key: k', `Content-Length: ${body.length}`) + body);
      await atGate;
      connection.socket.resetAndDestroy();
      await abortLogged(own, accountId);
      goOn();
      const [started] = await waitFor('the start', () => (own.started.length > 0 ? own.started : undefined));
      const again = await own.create(key, plainRequest, { 'idempotency-key': 'k' });
      assert.deepEqual([again.json.data['taskId'], again.headers['idempotency-replayed']], [started?.taskId, 'true']);
      assert.equal((await findAccount(db, accountId))?.balance, 1_000 - 165);
    });
  });
}
