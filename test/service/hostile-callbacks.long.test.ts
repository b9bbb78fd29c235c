import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { hostileReceiver, neverEnding } from '../support/hostile-receivers.ts';
import { owedCallback, waitForAttempts } from '../support/owed-callback.ts';
import { createTestAccount, startTestWorker } from '../support/service.ts';

test('gigabytes from many receivers leave no memory behind', async () => {
  const worker = await startTestWorker();
  const temporal = connectTemporal(worker.settings.temporal);
  const engine = createEngine(temporal.client, taskQueuesOf(worker.settings.taskQueue));
  const { db } = worker.database;
  const flood = await hostileReceiver(neverEnding('HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(65_536, 'x'), 0));
  try {
    const { accountId } = await createTestAccount(worker.database, 100_000);
    const round = async () => {
      const owed = await Promise.all(
        Array.from({ length: 25 }, () => owedCallback(db, accountId, `http://127.0.0.1:${flood.port}/`)),
      );
      await Promise.all(owed.map((delivery) => engine.startDelivery(delivery)));
      await Promise.all(owed.map(({ taskId }) => waitForAttempts(db, taskId)));
    };
    await round();
    const rssBefore = process.memoryUsage().rss;
    for (let i = 0; i < 4; i += 1) await round();
    const grown = process.memoryUsage().rss - rssBefore;
    assert.ok(grown < 60_000_000, `${grown} bytes`);
  } finally {
    await temporal.close();
    await worker.close();
    await flood.close();
  }
});
