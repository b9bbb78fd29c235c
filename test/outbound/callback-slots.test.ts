import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallbackSlots } from '../../src/outbound/callback-slots.ts';

const limits = { maxPerAccount: 3, maxPerReceiver: 2 };

test('an account holds no more than its slots, whatever hosts it names, and another has its own', () => {
  const slots = createCallbackSlots(limits);
  for (const host of ['a', 'b', 'c']) slots.take('mallory', `http://${host}.example/`);
  assert.throws(() => slots.take('mallory', 'http://d.example/'), { kind: 'busy' });
  assert.doesNotThrow(() => slots.take('alice', 'http://a.example/'));
});

test('a dead receiver leaves room for the other receivers of its account', () => {
  const slots = createCallbackSlots(limits);
  slots.take('alice', 'http://dead.example/1');
  slots.take('alice', 'https://DEAD.example.:8443/2');
  assert.throws(() => slots.take('alice', 'http://dead.example/3'), { kind: 'busy' });
  assert.doesNotThrow(() => slots.take('alice', 'http://healthy.example/'));
});

test('a slot that was given back is free again, also after refusals', () => {
  const slots = createCallbackSlots(limits);
  for (let round = 0; round < 100; round += 1) {
    const held = [1, 2].map((path) => slots.take('alice', `http://a.example/${path}`));
    assert.throws(() => slots.take('alice', 'http://a.example/3'), { kind: 'busy' });
    for (const giveBack of held) giveBack();
  }
});
