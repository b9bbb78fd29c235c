import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHostSlots } from '../../src/outbound/host-slots.ts';

const never = new AbortController().signal;
const limits = { maxPerHost: 1, maxWaitingPerHost: 2, maxWaitMs: 10_000 };

test('callers of one host take turns in the order in which they came', async () => {
  const slots = createHostSlots(limits);
  const order: number[] = [];
  const giveBack = await slots.take('a', never);
  const later = [1, 2].map(async (caller) => {
    const done = await slots.take('a', never);
    order.push(caller);
    done();
  });
  assert.deepEqual(order, []);
  giveBack();
  await Promise.all(later);
  assert.deepEqual(order, [1, 2]);
});

test('the queue of a host is bounded, and its fullness does not touch another host', async () => {
  const slots = createHostSlots(limits);
  const stop = new AbortController();
  await slots.take('a', never);
  const waiting = Promise.allSettled([slots.take('a', stop.signal), slots.take('a', stop.signal)]);
  await assert.rejects(slots.take('a', never), { kind: 'busy' });
  await slots.take('b', never);
  stop.abort();
  await waiting;
});

test('whoever waits too long is turned away and leaves the queue', async () => {
  const slots = createHostSlots({ ...limits, maxWaitMs: 5 });
  const giveBack = await slots.take('a', never);
  await assert.rejects(slots.take('a', never), { kind: 'busy' });
  giveBack();
  (await slots.take('a', never))();
});

test('whoever gives up waiting does not take the slot along', async () => {
  const slots = createHostSlots(limits);
  const giveBack = await slots.take('a', never);
  const stop = new AbortController();
  const waiting = slots.take('a', stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  giveBack();
  (await slots.take('a', never))();
});
