import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { withDecodingSlot } from '../../src/media/decoding-slots.ts';

const { signal } = new AbortController();

/** Takes a slot until `end` is called. */
function hold() {
  let end = () => {};
  const ended = withDecodingSlot(signal, () => new Promise<void>((resolve) => (end = resolve)));
  return { ended, end: () => end() };
}

test('two work at the same time and the next begins when one has ended, well or badly', async () => {
  const held = hold();
  const stop = new AbortController();
  const failing = withDecodingSlot(signal, () =>
    once(stop.signal, 'abort').then(() => Promise.reject(new Error('damaged'))),
  );
  const begun: number[] = [];
  const waiting = [1, 2].map((n) => withDecodingSlot(signal, async () => begun.push(n)));
  await turn();
  assert.deepEqual(begun, []);
  stop.abort();
  await assert.rejects(failing, /damaged/);
  await Promise.all(waiting);
  assert.deepEqual(begun, [1, 2]);
  held.end();
  await held.ended;
});

test('an abort ends the wait while both slots are taken, and the work of that one never begins', async () => {
  const held = [hold(), hold()];
  const stop = new AbortController();
  const never = () => Promise.reject(new Error('it has begun'));
  const waiting = withDecodingSlot(stop.signal, never);
  await turn();
  const reason = new Error('enough');
  stop.abort(reason);
  await assert.rejects(waiting, (error) => error === reason);
  await assert.rejects(withDecodingSlot(stop.signal, never), (error) => error === reason);
  for (const { end } of held) end();
  await Promise.all(held.map(({ ended }) => ended));
  assert.equal(await withDecodingSlot(signal, () => Promise.resolve('free again')), 'free again');
});

test('an abort does not end work that has begun', async () => {
  const stop = new AbortController();
  const answer = await withDecodingSlot(stop.signal, async () => {
    stop.abort();
    await turn();
    return 'done';
  });
  assert.equal(answer, 'done');
});
