import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createAttempts, TaskEnded } from '../../activities/attempts.ts';
import { attemptTouchMs } from '../../src/stores/tasks.ts';

/** Attempts in front of a database that tells what the story says; time stands still but for `pass`. */
function stage(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const touched: (readonly string[])[] = [];
  const looks: (readonly string[])[] = [];
  const errors: unknown[] = [];
  const database = { ended: new Set<string>(), answer: async () => {} };
  const attempts = createAttempts({
    touch: async (taskIds) => {
      touched.push(taskIds);
      await database.answer();
    },
    listEnded: async (taskIds) => {
      looks.push(taskIds);
      await database.answer();
      return database.ended;
    },
    onError: (error) => errors.push(error),
  });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      t.mock.timers.tick(500);
      await turn();
    }
  };
  return { attempts, touched, looks, errors, database, pass };
}

test('all attempts of a worker say that they are alive in one statement, and look for ended tasks in another', async (t) => {
  const { attempts, touched, looks, pass } = stage(t);
  attempts.begin('a');
  attempts.begin('b');
  await pass(attemptTouchMs);
  assert.deepEqual(touched, [['a', 'b']]);
  assert.deepEqual(
    looks,
    Array.from({ length: 5 }, () => ['a', 'b']),
  );
  await pass(attemptTouchMs);
  assert.equal(touched.length, 2);
});

test('an attempt that begins between two rounds is in the next', async (t) => {
  const { attempts, touched, pass } = stage(t);
  attempts.begin('a');
  await pass(10_000);
  attempts.begin('b');
  await pass(5_000);
  assert.deepEqual(touched, [['a', 'b']]);
});

test('a task that was ended elsewhere stops its attempts within three seconds, and no other', async (t) => {
  const { attempts, database, pass } = stage(t);
  const [frozen, cancelled, other] = [attempts.begin('a'), attempts.begin('a'), attempts.begin('b')];
  await pass(4_000);
  database.ended.add('a');
  await pass(3_000);
  assert.ok(cancelled.signal.reason instanceof TaskEnded);
  assert.ok(frozen.signal.reason instanceof TaskEnded);
  assert.equal(other.signal.aborted, false);
});

test('a task with two attempts is asked about once', async (t) => {
  const { attempts, looks, pass } = stage(t);
  attempts.begin('a');
  attempts.begin('a').stop();
  attempts.begin('a');
  await pass(3_000);
  assert.deepEqual(looks, [['a']]);
});

test('without attempts the database is left alone, and the next attempt begins anew', async (t) => {
  const { attempts, touched, looks, pass } = stage(t);
  attempts.begin('a').stop();
  await pass(60_000);
  assert.deepEqual([touched, looks], [[], []]);
  attempts.begin('b');
  await pass(attemptTouchMs);
  assert.deepEqual(touched, [['b']]);
});

test('a database that fails is asked again, and stops no attempt', async (t) => {
  const { attempts, touched, errors, database, pass } = stage(t);
  const { signal } = attempts.begin('a');
  database.answer = async () => Promise.reject(new Error('unavailable'));
  await pass(30_000);
  assert.equal(touched.length, 2);
  assert.equal(errors.length, 12);
  assert.equal(signal.aborted, false);
  database.answer = async () => {};
  database.ended.add('a');
  await pass(3_000);
  assert.ok(signal.reason instanceof TaskEnded);
});

test('a database that hangs is asked no second time meanwhile', async (t) => {
  const { attempts, touched, looks, database, pass } = stage(t);
  attempts.begin('a');
  let goOn = () => {};
  database.answer = async () => await new Promise<void>((resolve) => (goOn = resolve));
  await pass(60_000);
  assert.deepEqual([touched.length, looks.length], [1, 1]);
  goOn();
});
