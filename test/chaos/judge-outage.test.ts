import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FinalTask } from './evidence.ts';
import { judgeOutages } from './judge-outage.ts';

const outage = { fromMs: 10_000, untilMs: 130_000, backlog: 60, startedAt: 132_000, caughtUpAt: 135_000 };

/** Tasks of one account, accepted one a second, that began in this order. */
function tasksThatBegan(order: readonly number[]): readonly FinalTask[] {
  return order.map((arrival, place) => ({
    taskId: `task-${arrival}`,
    client: 0,
    nonce: '',
    model: 'videogen-2.0',
    state: 'success',
    failCode: null,
    hasCallback: false,
    creditsCharged: 1,
    creditsRefunded: 0,
    sha256: null,
    completedAt: 2e5,
    createdAt: outage.fromMs + arrival * 1_000,
    generationStartedAt: outage.untilMs + place,
  }));
}

const arrivals = Array.from({ length: 60 }, (_, index) => index);
const judged = (tasks: readonly FinalTask[], times: Partial<typeof outage> = {}) =>
  judgeOutages({
    tasks,
    wishes: [],
    damage: { stopped: new Set(), outages: [{ ...outage, ...times }] },
  }).join('\n');

test('the check of an outage finds nothing wrong with tasks that begin soon and roughly in order of arrival', () => {
  const [first = 0, second = 0, ...rest] = arrivals;
  assert.equal(judged(tasksThatBegan([second, first, ...rest])), '');
});

test('the check of an outage finds an order that is lost, a backlog that stays, and tasks that were not accepted', () => {
  assert.match(judged(tasksThatBegan(arrivals.toReversed())), /account 0, API undefined: 100 % of 60 tasks/);
  const inOrder = tasksThatBegan(arrivals);
  assert.equal(judged(inOrder, { startedAt: 160_000, caughtUpAt: 190_000 }), '');
  assert.match(
    judged(inOrder, { startedAt: 161_000 }),
    /31 s after Temporal was back, not all of 60 tasks were started/,
  );
  assert.match(judged(inOrder, { startedAt: Infinity }), /Infinity s after .* started/);
  assert.match(
    judged(inOrder, { caughtUpAt: 191_000 }),
    /61 s after Temporal was back, not all of 60 tasks were begun/,
  );
  assert.match(judged([]), /no task was accepted/);
});
