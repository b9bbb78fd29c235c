import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlots } from '../../../src/platform/outbound/deadlines-and-slots.ts';

const never = new AbortController().signal;
const limits = { maxHeld: 1, maxWaiting: 2, maxWaitMs: 10_000 };

/** Holds a slot until it is released. */
function take(slots: ReturnType<typeof createSlots>, key: string, signal: AbortSignal): Promise<() => void> {
  return new Promise((resolve, reject) => {
    slots.hold(key, signal, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });
}

test('callers of one host take turns in the order in which they came', async () => {
  const slots = createSlots(limits);
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
  const slots = createSlots(limits);
  const stop = new AbortController();
  await take(slots, 'a', never);
  const waiting = Promise.allSettled([take(slots, 'a', stop.signal), take(slots, 'a', stop.signal)]);
  await assert.rejects(take(slots, 'a', never), { kind: 'busy' });
  await take(slots, 'b', never);
  stop.abort();
  await waiting;
});

test('whoever waits too long is turned away and leaves the queue', async () => {
  const slots = createSlots({ ...limits, maxWaitMs: 5 });
  const release = await take(slots, 'a', never);
  await assert.rejects(take(slots, 'a', never), { kind: 'busy' });
  release();
  (await take(slots, 'a', never))();
});

test('whoever gives up waiting does not take the slot along', async () => {
  const slots = createSlots(limits);
  const release = await take(slots, 'a', never);
  const stop = new AbortController();
  const waiting = take(slots, 'a', stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  release();
  (await take(slots, 'a', never))();
});

test('work that throws before it returns a promise frees its slot', async () => {
  const slots = createSlots(limits);
  const fail = () => {
    throw new Error('broken');
  };
  await assert.rejects(slots.hold('a', never, fail), /broken/);
  (await take(slots, 'a', never))();
});
