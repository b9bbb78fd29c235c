import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FinalTask } from './evidence.ts';
import { judgeOutages } from './judge-outage.ts';

const outage = { fromMs: 10_000, untilMs: 130_000, caughtUpAt: 135_000 };

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
const judged = (tasks: readonly FinalTask[], caughtUpAt: number | undefined = outage.caughtUpAt) =>
  judgeOutages({
    tasks,
    wishes: [],
    damage: { stopped: new Set(), outages: [{ ...outage, caughtUpAt }] },
  }).join('\n');

test('the check of an outage finds nothing wrong with tasks that begin soon and roughly in order of arrival', () => {
  const [first = 0, second = 0, ...rest] = arrivals;
  assert.equal(judged(tasksThatBegan([second, first, ...rest])), '');
});

test('the check of an outage finds an order that is lost, a backlog that stays, and tasks that were not accepted', () => {
  assert.match(judged(tasksThatBegan(arrivals.toReversed())), /account 0, API undefined: 100 % of 60 tasks/);
  assert.match(judged(tasksThatBegan(arrivals), outage.untilMs + 61_000), /61 s after Temporal was back/);
  assert.match(judged([]), /no task was accepted/);
});
