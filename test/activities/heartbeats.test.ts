import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { Context } from '@temporalio/activity';
import { startProgressHeartbeats } from '../../activities/heartbeats.ts';

type Beat = (details: unknown) => void;

/** Runs `work` as an attempt after one with the heartbeat `earlier`. */
async function played(
  t: { mock: typeof test.mock },
  earlier: unknown,
  work: (progress: ReturnType<typeof startProgressHeartbeats>, sent: unknown[]) => void,
  { isRemote = false, heartbeatTimeoutMs = 30_000 } = {},
): Promise<void> {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const sent: unknown[] = [];
  const environment = new MockActivityEnvironment({ heartbeatDetails: earlier, heartbeatTimeoutMs });
  const record: Beat = (details) => sent.push(details);
  environment.on('heartbeat', record);
  await environment.run(async () => {
    const progress = startProgressHeartbeats(Context.current(), isRemote);
    work(progress, sent);
    progress.stop();
    t.mock.timers.tick(60_000);
  });
  t.mock.timers.reset();
}

test('a generation that ends immediately sends no heartbeat: each is a write that is never read', async (t) => {
  await played(t, undefined, (progress, sent) => {
    progress.report(0);
    progress.report(100);
    t.mock.timers.tick(249);
    assert.deepEqual(sent, []);
  });
});

test('a longer generation reports its progress within a quarter of a second, then each step, and keeps alive', async (t) => {
  await played(t, undefined, (progress, sent) => {
    progress.report(10);
    t.mock.timers.tick(250);
    assert.deepEqual(sent, [{ progress: 10 }]);
    progress.report(20);
    progress.report(15);
    progress.report(20);
    assert.deepEqual(sent, [{ progress: 10 }, { progress: 20 }]);
    t.mock.timers.tick(10_000);
    assert.deepEqual(sent.slice(2), [{ progress: 20 }, { progress: 20 }], 'it keeps alive every five seconds');
  });
});

test('a new attempt continues from the progress of the last', async (t) => {
  await played(t, { progress: 60 }, (progress, sent) => {
    progress.report(30);
    t.mock.timers.tick(250);
    assert.deepEqual(sent, [{ progress: 60 }]);
  });
});

test('a generation that waits for its upstream sends two heartbeats in each heartbeat timeout', async (t) => {
  for (const heartbeatTimeoutMs of [60_000, 120_000]) {
    const work = (_progress: unknown, sent: unknown[]) => {
      t.mock.timers.tick(heartbeatTimeoutMs);
      assert.equal(sent.length, 3, 'the first, and these');
    };
    await played(t, undefined, work, { isRemote: true, heartbeatTimeoutMs });
  }
});
