import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createSharedPoll } from '../../../src/platform/timing/shared-poll.ts';

/** A poll every second whose calls end as `database.respond` does; time passes only in `pass`. */
function started(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const polls: (readonly string[])[] = [];
  const errors: unknown[] = [];
  const database = { respond: async () => {} };
  const shared = createSharedPoll<string>({
    everyMs: 1_000,
    poll: async (watchers) => {
      polls.push([...watchers]);
      await database.respond();
    },
    onError: (error) => errors.push(error),
  });
  const pass = async (seconds: number) => {
    for (let left = seconds; left > 0; left -= 1) {
      t.mock.timers.tick(1_000);
      await turn();
    }
  };
  return { ...shared, polls, errors, database, pass };
}

test('one call serves all watchers, including one that joined since the last', async (t) => {
  const { watch, polls, pass } = started(t);
  watch('a');
  await pass(1);
  watch('b');
  await pass(1);
  assert.deepEqual(polls, [['a'], ['a', 'b']]);
});

test('nothing is polled without watchers, and polling begins again with the next', async (t) => {
  const { watch, polls, pass } = started(t);
  watch('a')();
  await pass(60);
  assert.deepEqual(polls, []);
  watch('b');
  await pass(1);
  assert.deepEqual(polls, [['b']]);
});

test('calls do not overlap, and callers share the one in flight', async (t) => {
  const { watch, run, polls, database, pass } = started(t);
  let respond = () => {};
  database.respond = () => new Promise((resolve) => (respond = resolve));
  watch('a');
  await pass(60);
  const runs = [run(), run()];
  assert.equal(polls.length, 1);
  respond();
  await Promise.all(runs);
  assert.equal(polls.length, 1);
});

test('a failure reaches every caller, is reported once, and the next poll repeats the call', async (t) => {
  const { watch, run, polls, errors, database, pass } = started(t);
  database.respond = () => Promise.reject(new Error('unavailable'));
  watch('a');
  const runs = await Promise.allSettled([run(), run()]);
  assert.deepEqual([runs.map(({ status }) => status), errors.length], [['rejected', 'rejected'], 1]);
  await pass(2);
  assert.deepEqual([polls.length, errors.length], [3, 3]);
});

test('a watcher that leaves is polled no longer, and the others are', async (t) => {
  const { watch, polls, pass } = started(t);
  const leave = watch('a');
  const leaveLast = watch('b');
  leave();
  await pass(1);
  leaveLast();
  await pass(60);
  assert.deepEqual(polls, [['b']]);
});
