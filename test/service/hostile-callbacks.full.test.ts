import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { callbackPausesMs, callbackTimeoutMs } from '../../src/tasks/callbacks/callback-schedule.ts';
import { callbackWorkflowId } from '../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { startWorker } from '../../src/run/main/start-worker.ts';
import { findDelivery, listDeliveryAttempts } from '../../src/tasks/callbacks/deliveries.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import { answering, hostileReceiver, type HostileReceiver, neverEnding } from '../support/hostile/hostile-receivers.ts';
import { connectEngine, type EngineClient } from '../support/service/test-installation.ts';
import { owedCallback, waitForAttempts } from '../support/tasks/owed-callback.ts';
import {
  createTestAccount,
  createTestEnvironment,
  startTestWorker,
  type TestEnvironment,
} from '../support/service/test-service.ts';
import { runsWholeMatrix } from '../support/tier.ts';
import { waitFor } from '../support/wait-for.ts';

/** More than an account has slots; in the long tier, more than a worker has. */
const receiversAtOnce = runsWholeMatrix ? 120 : 24;

// Real workers and real sockets.
describe('callbacks to slow and hostile receivers', { concurrency: true }, () => {
  let worker: TestEnvironment;
  let metricsPort: number;
  let temporal: EngineClient;
  let healthy: CallbackReceiver;
  const receivers: HostileReceiver[] = [];
  before(async () => {
    metricsPort = await reserveFreePort();
    worker = await startTestWorker({ METRICS_PORT: String(metricsPort) });
    temporal = connectEngine(worker);
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
    await temporal.engine.startDelivery(delivery);
    return delivery.taskId;
  };
  const firstAttempt = async (url: string) => {
    const taskId = await deliver(await newAccount(), url);
    const [attempt] = await waitForAttempts(worker.database.db, taskId);
    return { ...attempt, state: (await findDelivery(worker.database.db, taskId))?.state };
  };

  /** The pause after the first attempt, from the history of the delivery; undefined before it has begun. */
  const firstPauseMs = async (taskId: string) => {
    const { events } = await temporal.client.workflow.getHandle(callbackWorkflowId(taskId)).fetchHistory();
    const pause = events?.find((event) => event.timerStartedEventAttributes)?.timerStartedEventAttributes;
    if (!pause) return undefined;
    const { seconds, nanos } = pause.startToFireTimeout ?? {};
    return Number(seconds) * 1_000 + (nanos ?? 0) / 1_000_000;
  };

  // hostile-receivers.test.ts has every way to misbehave, own-endpoints.test.ts every spelling of an address.
  for (const [title, misbehave, status, error, state] of [
    ['never responds', (socket: Socket) => void socket.resume(), undefined, 'timeout', 'pending'],
    ['sends an endless body', neverEnding('HTTP/1.1 200 OK\r\n\r\n', 'x', 1_000), 200, undefined, 'delivered'],
    ['responds 410', answering('HTTP/1.1 410 Gone\r\n\r\n'), 410, undefined, 'rejected'],
  ] as const) {
    test(`one that ${title} gets a bounded attempt, recorded as ${status ?? error}`, async () => {
      const { port } = await receiver(misbehave);
      const attempt = await firstAttempt(`http://127.0.0.1:${port}/`);
      assert.deepEqual([attempt.status, attempt.error, attempt.state], [status, error, state]);
      assert.ok((attempt.responseHead?.length ?? 0) <= 1_024);
    });
  }

  for (const [name, portOf] of [
    ['PostgreSQL', () => Number(new URL(worker.settings.databaseUrl).port)],
    ['Temporal', () => Number(worker.settings.temporal.connection.address?.split(':').at(-1))],
    ['the API', () => worker.settings.port],
    ['the metrics', () => metricsPort],
  ] as const) {
    test(`the port of ${name} is blocked, although loopback is allowed`, async () => {
      const attempt = await firstAttempt(`http://localhost:${portOf()}/`);
      assert.deepEqual([attempt.status, attempt.error, attempt.state], [undefined, 'blocked', 'pending']);
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

  test(`${receiversAtOnce} hanging receivers of one account, each a host of its own, delay no other account`, async () => {
    const hanging = await receiver((socket) => void socket.resume(), '0.0.0.0');
    const [mallory, alice] = [await newAccount(), await newAccount()];
    const { db } = worker.database;
    const hosts = Array.from({ length: receiversAtOnce }, (_, index) => `127.0.1.${index + 1}`);
    // Owed before any hangs: what happens from then on must not take as long as an attempt.
    const owed = await Promise.all(hosts.map((host) => owedCallback(db, mallory, `http://${host}:${hanging.port}/`)));
    const hers = await owedCallback(db, alice, `${healthy.url}/alice`);
    await Promise.all(owed.map((delivery) => temporal.engine.startDelivery(delivery)));
    await waitFor('the account to use up its slots', () => (hanging.open() >= 16 ? true : undefined));
    await temporal.engine.startDelivery(hers);
    await healthy.waitForCallbacks('/alice', 1);
    const attempts = await Promise.all(owed.map(({ taskId }) => listDeliveryAttempts(db, taskId)));
    assert.ok(!attempts.flat().some(({ error }) => error === 'busy'), 'an attempt that had no slot does not count');
  });

  test('what waits for a slot is sent once there is one', async () => {
    const carol = await newAccount();
    await Promise.all(Array.from({ length: 40 }, () => deliver(carol, `${healthy.url}/carol`)));
    const come = await healthy.waitForCallbacks('/carol', 40);
    assert.equal(new Set(come.map(({ headers }) => headers['webhook-id'])).size, 40);
  });
});

test('a hanging receiver does not block shutdown, and what it interrupts is no attempt', async () => {
  const environment = await createTestEnvironment();
  const worker = await startWorker(environment.settings, createLog({ level: 'silent' }), (error) => {
    throw error;
  });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= worker.close());
  const temporal = connectEngine(environment);
  const { db } = environment.database;
  const hanging = await hostileReceiver((socket) => void socket.resume());
  try {
    const { accountId } = await createTestAccount(environment.database, 100_000);
    const owed = await Promise.all(
      Array.from({ length: 8 }, () => owedCallback(db, accountId, `http://127.0.0.1:${hanging.port}/`)),
    );
    await Promise.all(owed.map((delivery) => temporal.engine.startDelivery(delivery)));
    await waitFor('all to hang', () => (hanging.open() === 8 ? true : undefined));
    await close();
    await waitFor('the end of all connections', () => (hanging.open() === 0 ? true : undefined));
    for (const { taskId } of owed) {
      assert.equal((await findDelivery(db, taskId))?.state, 'pending');
      assert.deepEqual(await listDeliveryAttempts(db, taskId), [], 'an interrupted request is no attempt');
    }
  } finally {
    await close();
    await temporal.close();
    await environment.close();
    await hanging.close();
  }
});
