import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllowList } from '../../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient } from '../../../../src/platform/outbound/guarded-client.ts';
import { hostileReceiver, neverEnding } from '../../../support/hostile/hostile-receivers.ts';

test('five hundred broken exchanges leave no memory behind', { timeout: 180_000 }, async () => {
  const receiver = await hostileReceiver(neverEnding('HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(65_536, 'x'), 0));
  const client = createGuardedClient({
    allow: parseAllowList('127.0.0.1'),
    maxPerHost: 8,
    maxWaitingPerHost: 100,
    maxWaitMs: 60_000,
  });
  const post = () =>
    client.post(`http://127.0.0.1:${receiver.port}/`, {
      headers: { 'content-type': 'application/json' },
      body: '{}',
      timeoutMs: 60_000,
      maxResponseBytes: 1024,
    });
  const round = () => Promise.all(Array.from({ length: 50 }, post));
  try {
    await round();
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 9; i += 1) await round();
    assert.ok(process.memoryUsage().rss - before < 100_000_000);
  } finally {
    await client.close();
    await receiver.close();
  }
});
