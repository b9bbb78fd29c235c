import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createSlotsPerKey, runWithDeadline } from '../../../src/platform/outbound/deadlines-and-slots.ts';

const never = new AbortController().signal;
const limits = { maxHeld: 1, maxWaiting: 2, maxWaitMs: 10_000 };

/** Holds a slot until it is released. */
function take(slots: ReturnType<typeof createSlotsPerKey>, key: string, signal: AbortSignal): Promise<() => void> {
  return new Promise((resolve, reject) => {
    slots.hold(key, signal, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });
}

test('callers of one host take turns in the order in which they came', async () => {
  const slots = createSlotsPerKey(limits);
  const order: number[] = [];
  const release = await take(slots, 'a', never);
  const later = [1, 2].map(async (caller) => {
    const done = await take(slots, 'a', never);
    order.push(caller);
    done();
  });
  assert.deepEqual(order, []);
  release();
  await Promise.all(later);
  assert.deepEqual(order, [1, 2]);
});

test('the queue of a host is bounded, and its fullness does not touch another host', async () => {
  const slots = createSlotsPerKey(limits);
  const stop = new AbortController();
  await take(slots, 'a', never);
  const waiting = Promise.allSettled([take(slots, 'a', stop.signal), take(slots, 'a', stop.signal)]);
  await assert.rejects(take(slots, 'a', never), { kind: 'busy' });
  await take(slots, 'b', never);
  stop.abort();
  await waiting;
});

test('whoever waits too long is turned away and leaves the queue', async () => {
  const slots = createSlotsPerKey({ ...limits, maxWaitMs: 5 });
  const release = await take(slots, 'a', never);
  await assert.rejects(take(slots, 'a', never), { kind: 'busy' });
  release();
  (await take(slots, 'a', never))();
});

test('whoever gives up waiting does not take the slot along', async () => {
  const slots = createSlotsPerKey(limits);
  const release = await take(slots, 'a', never);
  const stop = new AbortController();
  const waiting = take(slots, 'a', stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  release();
  (await take(slots, 'a', never))();
});

test('work that throws before it returns a promise frees its slot', async () => {
  const slots = createSlotsPerKey(limits);
  const fail = () => {
    throw new Error('broken');
  };
  await assert.rejects(slots.hold('a', never, fail), /broken/);
  (await take(slots, 'a', never))();
});

test('as many callers of one host run as it has slots, and each that ends makes room for one', async () => {
  const slots = createSlotsPerKey({ maxHeld: 2 });
  const [first] = [await take(slots, 'a', never), await take(slots, 'a', never)];
  await assert.rejects(take(slots, 'a', never), { kind: 'busy', wasSent: false });
  first();
  await nextTurn();
  await take(slots, 'a', never);
  await assert.rejects(take(slots, 'a', never), { kind: 'busy' });
});

test('the refusal is that of the limits', async () => {
  const slots = createSlotsPerKey({
    maxHeld: 1,
    maxWaiting: 1,
    maxWaitMs: 1,
    refusal: (detail) => new RangeError(detail),
  });
  await take(slots, 'a', never);
  const late = take(slots, 'a', never);
  await assert.rejects(take(slots, 'a', never), { name: 'RangeError', message: 'no free slot for a' });
  await assert.rejects(late, { name: 'RangeError', message: 'no slot within 1 ms' });
});

/** Work that lasts until its signal is aborted. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

test('work ends at its time, which begins anew at each restart', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let restart = () => {};
  let isOver = false;
  const work = (signal: AbortSignal, again: () => void) => {
    restart = again;
    return untilAborted(signal).finally(() => (isOver = true));
  };
  const rejected = assert.rejects(runWithDeadline(1_000, [], work), {
    kind: 'timeout',
    detail: 'not finished within 1000 ms',
    wasSent: false,
  });
  for (let count = 0; count < 2; count += 1) {
    t.mock.timers.tick(999);
    restart();
  }
  t.mock.timers.tick(999);
  await nextTurn();
  assert.equal(isOver, false);
  t.mock.timers.tick(1);
  await rejected;
});

test('work ends with any of its signals, does not begin under one that was aborted, and leaves no listener behind', async () => {
  const controllers = [new AbortController(), new AbortController()];
  const signals = controllers.map(({ signal }) => signal);
  const listeners = () => signals.map((signal) => getEventListeners(signal, 'abort').length);
  const done = await runWithDeadline(60_000, signals, () => Promise.resolve(listeners()));
  assert.deepEqual(
    [done, listeners()],
    [
      [1, 1],
      [0, 0],
    ],
  );
  const running = assert.rejects(runWithDeadline(60_000, signals, untilAborted), { kind: 'aborted', wasSent: false });
  controllers[1]?.abort();
  await running;
  assert.deepEqual(listeners(), [0, 0]);
  await assert.rejects(
    runWithDeadline(60_000, signals, () => assert.fail('it began')),
    { kind: 'aborted' },
  );
});
