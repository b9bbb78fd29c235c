import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createRunningAttempts, TaskEndedAbortReason } from '../../../activities/running-attempts.ts';
import { attemptTouchMs } from '../../../src/tasks/task-rows.ts';

/** Attempts whose database is in memory; time passes only in `pass`. */
function started(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const touched: (readonly string[])[] = [];
  const reads: (readonly string[])[] = [];
  const ended = new Set<string>();
  const attempts = createRunningAttempts({
    touch: async (taskIds) => void touched.push(taskIds),
    listEnded: async (taskIds) => {
      reads.push(taskIds);
      return ended;
    },
    onError: () => {},
  });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      t.mock.timers.tick(500);
      await turn();
    }
  };
  return { attempts, touched, reads, ended, pass };
}

test('one statement records that all attempts of a worker are alive, and another reads which tasks have ended', async (t) => {
  const { attempts, touched, reads, pass } = started(t);
  attempts.begin('a');
  attempts.begin('b');
  await pass(attemptTouchMs);
  assert.deepEqual(touched, [['a', 'b']]);
  assert.deepEqual(
    reads,
    Array.from({ length: 5 }, () => ['a', 'b']),
  );
});

test('the end of a task stops its attempts within three seconds, and no other', async (t) => {
  const { attempts, reads, ended, pass } = started(t);
  const [frozen, cancelled, other] = [attempts.begin('a'), attempts.begin('a'), attempts.begin('b')];
  await pass(4_000);
  assert.deepEqual(reads, [['a', 'b']]);
  ended.add('a');
  await pass(3_000);
  assert.ok(cancelled.signal.reason instanceof TaskEndedAbortReason);
  assert.ok(frozen.signal.reason instanceof TaskEndedAbortReason);
  assert.equal(other.signal.aborted, false);
});

test('two attempts at one task are one row, and an attempt that has stopped is neither alive nor stopped again', async (t) => {
  const { attempts, touched, ended, pass } = started(t);
  const [first, second, other] = [attempts.begin('a'), attempts.begin('a'), attempts.begin('b')];
  await pass(attemptTouchMs);
  assert.deepEqual(touched.splice(0), [['a', 'b']]);
  other.stop();
  first.stop();
  ended.add('a').add('b');
  await pass(attemptTouchMs);
  assert.deepEqual(touched.splice(0), [['a']]);
  assert.deepEqual(
    [first, second, other].map(({ signal }) => signal.aborted),
    [false, true, false],
  );
  second.stop();
  await pass(attemptTouchMs);
  assert.deepEqual(touched, []);
});
