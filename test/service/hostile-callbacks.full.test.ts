import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { callbackPausesMs, callbackTimeoutMs } from '../../src/domain/callback.ts';
import { callbackWorkflowId, taskQueuesOf } from '../../src/domain/task-queues.ts';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { createLog } from '../../src/log.ts';
import { startWorker } from '../../src/main/start-worker.ts';
import { findDelivery, listDeliveryAttempts } from '../../src/stores/deliveries.ts';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/connect.ts';
import type { Engine } from '../../src/domain/ports.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/callback-receiver.ts';
import { answering, hostileReceiver, type HostileReceiver, neverEnding } from '../support/hostile-receivers.ts';
import { owedCallback, waitForAttempts } from '../support/owed-callback.ts';
import { createTestAccount, createTestEnvironment, startTestWorker, type TestEnvironment } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

// Real workers, real sockets, and receivers that wish us ill.
describe('callbacks to slow and hostile receivers', { concurrency: true }, () => {
  let worker: TestEnvironment;
  let metricsPort: number;
  let temporal: TemporalConnection;
  let engine: Engine;
  let healthy: CallbackReceiver;
  const receivers: HostileReceiver[] = [];
  before(async () => {
    metricsPort = await freePort();
    worker = await startTestWorker({ METRICS_PORT: String(metricsPort) });
    ({ temporal, engine } = connect(worker));
    healthy = await startCallbackReceiver();
  });
  after(async () => {
    await worker.close();
    await temporal.close();
    await healthy.close();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  const receiver = async (misbehave: (socket: Socket) => void, address?: string) => {
    const started = await hostileReceiver(misbehave, address);
    receivers.push(started);
    return started;
  };
  const newAccount = async () => (await createTestAccount(worker.database, 100_000)).accountId;
  /** Owes a callback and starts its delivery. */
  const deliver = async (accountId: string, url: string) => {
    const delivery = await owedCallback(worker.database.db, accountId, url);
    await engine.startDelivery(delivery);
    return delivery.taskId;
  };
  const firstAttempt = async (url: string) => {
    const taskId = await deliver(await newAccount(), url);
    const [attempt] = await waitForAttempts(worker.database.db, taskId);
    return { ...attempt, state: (await findDelivery(worker.database.db, taskId))?.state };
  };

  /** The pause behind the first attempt, from the history of the delivery; undefined before it has begun. */
  const firstPauseMs = async (taskId: string) => {
    const { events } = await temporal.client.workflow.getHandle(callbackWorkflowId(taskId)).fetchHistory();
    const pause = events?.find((event) => event.timerStartedEventAttributes)?.timerStartedEventAttributes;
    if (!pause) return undefined;
    const { seconds, nanos } = pause.startToFireTimeout ?? {};
    return Number(seconds) * 1_000 + (nanos ?? 0) / 1_000_000;
  };

  const ok = 'HTTP/1.1 200 OK\r\n\r\n';
  for (const [title, misbehave, status, error, state] of [
    ['never answers', (socket: Socket) => void socket.resume(), undefined, 'timeout', 'pending'],
    [
      'sends its headers a byte a second',
      neverEnding('HTTP/1.1 200 OK\r\nx: ', 'x', 1_000),
      undefined,
      'timeout',
      'pending',
    ],
    ['says 200 and then sends a byte a second', neverEnding(ok, 'x', 1_000), 200, undefined, 'delivered'],
    ['answers gigabytes', neverEnding(ok, Buffer.alloc(65_536, 'x'), 0), 200, undefined, 'delivered'],
    [
      'refuses with gigabytes',
      neverEnding('HTTP/1.1 500 No\r\n\r\n', Buffer.alloc(65_536, 'x'), 0),
      500,
      undefined,
      'pending',
    ],
    [
      'closes without an answer',
      (socket: Socket) => void socket.once('data', () => socket.destroy()),
      undefined,
      'closed',
      'pending',
    ],
    ['closes within its headers', answering('HTTP/1.1 200 OK\r\nconte'), undefined, 'closed', 'pending'],
    ['does not speak HTTP', answering('220 mail.example ESMTP\r\n'), undefined, 'protocol', 'pending'],
    ['answers 410', answering('HTTP/1.1 410 Gone\r\n\r\n'), 410, undefined, 'gone'],
  ] as const) {
    test(`one that ${title} gets a bounded attempt, recorded as ${status ?? error}`, async () => {
      const { port } = await receiver(misbehave);
      const attempt = await firstAttempt(`http://127.0.0.1:${port}/`);
      assert.deepEqual([attempt.status, attempt.error, attempt.state], [status, error, state]);
      assert.ok((attempt.responseHead?.length ?? 0) <= 1_024);
    });
  }

  test('one that redirects to a private address is a failure, and nobody goes there', async () => {
    const target = await receiver(answering('HTTP/1.1 200 OK\r\n\r\nsecret'));
    for (const location of [`http://127.0.0.1:${target.port}/`, 'http://169.254.169.254/latest/meta-data']) {
      const { port } = await receiver(
        answering(`HTTP/1.1 307 Go\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
      );
      const attempt = await firstAttempt(`http://127.0.0.1:${port}/`);
      assert.deepEqual([attempt.status, attempt.state], [307, 'pending']);
    }
    assert.equal(target.seen(), 0);
  });

  test('a private address is blocked although it was let through when the task was created', async () => {
    const attempt = await firstAttempt('http://10.0.0.1/');
    assert.deepEqual([attempt.status, attempt.error, attempt.responseHead], [undefined, 'blocked', undefined]);
  });

  for (const [name, portOf] of [
    ['PostgreSQL', () => Number(new URL(worker.settings.databaseUrl).port)],
    ['Temporal', () => Number(worker.settings.temporal.connection.address?.split(':').at(-1))],
    ['the API', () => worker.settings.port],
    ['the metrics', () => metricsPort],
  ] as const) {
    test(`the port of ${name} is blocked, although loopback is allowed`, async () => {
      for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
        const attempt = await firstAttempt(`http://${host}:${portOf()}/`);
        assert.deepEqual([attempt.status, attempt.error, attempt.state], [undefined, 'blocked', 'pending']);
      }
    });
  }

  test('the next attempt begins as long after a refused connection as after a silent one', async () => {
    const { port } = await receiver((socket) => void socket.resume());
    const refusing = await hostileReceiver(() => {});
    await refusing.close();
    const gaps = [port, refusing.port].map(async (target) => {
      const taskId = await deliver(await newAccount(), `http://127.0.0.1:${target}/`);
      const [first] = await waitForAttempts(worker.database.db, taskId);
      const pauseMs = await waitFor('the pause behind it', () => firstPauseMs(taskId));
      return [first?.durationMs ?? 0, pauseMs] as const;
    });
    for (const [durationMs, pauseMs] of await Promise.all(gaps)) {
      // The pause of the schedule begins when the attempt would have timed out.
      assert.equal(durationMs + pauseMs, Math.max(durationMs, callbackTimeoutMs) + (callbackPausesMs[1] ?? 0));
    }
  });

  test('a hundred hanging receivers of one account, each a host of its own, delay no other account', async () => {
    const hanging = await receiver((socket) => void socket.resume(), '0.0.0.0');
    const [mallory, alice] = [await newAccount(), await newAccount()];
    const hosts = Array.from({ length: 120 }, (_, index) => `127.0.1.${index + 1}`);
    const tasks = await Promise.all(hosts.map((host) => deliver(mallory, `http://${host}:${hanging.port}/`)));
    await waitFor('the account to use up its slots', () => (hanging.open() >= 16 ? true : undefined));
    await deliver(alice, `${healthy.url}/alice`);
    await healthy.waitForCallbacks('/alice', 1);
    assert.deepEqual([hanging.seen(), hanging.open()], [16, 16], 'she did not wait for one of them to time out');
    const attempts = await Promise.all(tasks.map((taskId) => listDeliveryAttempts(worker.database.db, taskId)));
    assert.ok(!attempts.flat().some(({ error }) => error === 'busy'), 'an attempt that had no slot does not count');
  });

  test('nor does a dead receiver delay the healthy one of the same account', async () => {
    const hanging = await receiver((socket) => void socket.resume());
    const bob = await newAccount();
    for (let i = 0; i < 20; i += 1) await deliver(bob, `http://127.0.0.1:${hanging.port}/`);
    await waitFor('the dead receiver to hold its slots', () => (hanging.open() >= 8 ? true : undefined));
    const url = healthy.url.replace('127.0.0.1', 'localhost');
    await deliver(bob, `${url}/bob`);
    await healthy.waitForCallbacks('/bob', 1);
    assert.deepEqual([hanging.seen(), hanging.open()], [8, 8]);
  });

  test('what waits for a slot is sent once there is one', async () => {
    const carol = await newAccount();
    await Promise.all(Array.from({ length: 40 }, () => deliver(carol, `${healthy.url}/carol`)));
    const come = await healthy.waitForCallbacks('/carol', 40);
    assert.equal(new Set(come.map(({ headers }) => headers['webhook-id'])).size, 40);
  });
});

test('a hanging receiver does not block shutdown, and what it breaks off is no attempt', async () => {
  const environment = await createTestEnvironment();
  const worker = await startWorker(environment.settings, createLog({ level: 'silent' }), (error) => {
    throw error;
  });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= worker.close());
  const { temporal, engine } = connect(environment);
  const { db } = environment.database;
  const hanging = await hostileReceiver((socket) => void socket.resume());
  try {
    const { accountId } = await createTestAccount(environment.database, 100_000);
    const owed = await Promise.all(
      Array.from({ length: 8 }, () => owedCallback(db, accountId, `http://127.0.0.1:${hanging.port}/`)),
    );
    await Promise.all(owed.map((delivery) => engine.startDelivery(delivery)));
    await waitFor('all to hang', () => (hanging.open() === 8 ? true : undefined));
    await close();
    await waitFor('all connections to be gone', () => (hanging.open() === 0 ? true : undefined));
    for (const { taskId } of owed) {
      assert.equal((await findDelivery(db, taskId))?.state, 'pending');
      assert.deepEqual(await listDeliveryAttempts(db, taskId), [], 'what we broke off ourselves is no attempt');
    }
  } finally {
    await close();
    await temporal.close();
    await environment.close();
    await hanging.close();
  }
});

function connect({ settings }: TestEnvironment): { temporal: TemporalConnection; engine: Engine } {
  const temporal = connectTemporal(settings.temporal);
  return { temporal, engine: createEngine(temporal.client, taskQueuesOf(settings.taskQueue)) };
}
