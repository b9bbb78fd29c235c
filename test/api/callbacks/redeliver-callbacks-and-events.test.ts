import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  redeliveredSchema,
  redeliverSinceSchema,
  startRedeliveries,
} from '../../../src/api/callbacks/redeliver-callbacks-and-events.ts';
import { maxUnixMs } from '../../../src/api/core/request-fields.ts';
import { maxRedelivered } from '../../../src/tasks/callbacks/own-deliveries-and-redelivery.ts';

test('a redelivery of all starts each one for its account, and has more exactly if it is full', () => {
  for (const [count, hasMore] of [
    [0, false],
    [2, false],
    [maxRedelivered - 1, false],
    [maxRedelivered, true],
  ] as const) {
    const owed = Array.from({ length: count }, (_, index) => ({ deliveryId: String(index) }));
    const started: object[] = [];
    const answer = startRedeliveries(owed, 'account', { redeliver: (one) => void started.push(one) });
    assert.deepEqual(answer, { redelivered: count, hasMore });
    assert.deepEqual(redeliveredSchema.parse(answer), answer);
    assert.deepEqual(
      started,
      owed.map(({ deliveryId: id }) => ({ deliveryId: id, accountId: 'account' })),
    );
  }
});

test('callbacks and events are redelivered since any time from 1970 to 2286', () => {
  for (const since of [0, maxUnixMs]) assert.deepEqual(redeliverSinceSchema.parse({ since }), { since });
  for (const since of [-1, maxUnixMs + 1, 0.5, '0', null, undefined])
    assert.equal(redeliverSinceSchema.safeParse({ since }).success, false, String(since));
});
