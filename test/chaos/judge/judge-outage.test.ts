import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FinalTask } from './evidence.ts';
import { judgeOutages } from './judge-outage.ts';

const outage = { fromMs: 10_000, untilMs: 130_000, backlog: 60, usualMs: 100 };
const arrivals = Array.from({ length: 60 }, (_, index) => index);
/** In order, except for the first two. */
const nearlyInOrder = [1, 0, ...arrivals.slice(2)];

/** Where the tasks were in each order; each task was accepted one second after the one before. */
type Orders = { readonly started: readonly number[]; readonly begun: readonly number[] };

/** When the last workflow was started, in Unix milliseconds, and the longest time in which no task began. */
type Ends = { readonly lastStart?: number; readonly stalledMs?: number };

function judged(
  { started, begun }: Orders,
  { lastStart = 132_000, stalledMs = 2_000 }: Ends = {},
  models: readonly string[] = ['videogen-2.0', 'videogen-2.0-fast'],
): string {
  const tasks = tasksOf(begun, models);
  const startedAt = new Map(
    started.map((arrival, position) => [`task-${arrival}`, lastStart - started.length + 1 + position]),
  );
  return verdict(tasks, startedAt, stalledMs);
}

/** Tasks that began in this order. */
function tasksOf(begun: readonly number[], models: readonly string[]): readonly FinalTask[] {
  return begun.map((arrival, position) => ({
    taskId: `task-${arrival}`,
    client: 0,
    nonce: '',
    model: models[arrival % models.length] ?? '',
    state: 'success',
    failCode: null,
    hasCallback: false,
    creditsCharged: 1,
    creditsRefunded: 0,
    sha256: null,
    completedAt: 2e5,
    createdAt: outage.fromMs + arrival * 1_000,
    generationStartedAt: outage.untilMs + 100 + position,
  }));
}

function judgedStarts(startedAt: ReadonlyMap<string, number>, usualMs = outage.usualMs): string {
  return verdict(tasksOf(arrivals, ['videogen-2.0']), startedAt, 2_000, usualMs);
}

function verdict(
  tasks: readonly FinalTask[],
  startedAt: ReadonlyMap<string, number>,
  stalledMs: number,
  usualMs = outage.usualMs,
): string {
  return judgeOutages({
    tasks,
    wishes: [],
    damage: { stopped: new Set(), missed: [], outages: [{ ...outage, usualMs, startedAt, stalledMs }], fullDisks: [] },
    kindJobs: new Map(['one', 'two', 'three', 'four'].map((name) => [name, []])),
  }).join('\n');
}

test('the check of an outage finds nothing wrong with tasks that begin soon and roughly in order of arrival', () => {
  assert.equal(judged({ started: nearlyInOrder, begun: nearlyInOrder }), '');
});

test('the check of an outage finds tasks that are late, and tasks that were not accepted', () => {
  const inOrder = { started: arrivals, begun: arrivals };
  assert.equal(judged(inOrder, { lastStart: 161_000, stalledMs: 31_000 }), '');
  // The first of 60 starts that come one millisecond after the other.
  assert.match(
    judged(inOrder, { lastStart: 161_100 }),
    /^of 60 tasks that waited for Temporal, none was started for 31.041 s$/,
  );
  assert.match(judged({ started: [], begun: arrivals }), /^of 60 .* none was started for Infinity s$/);
  assert.match(
    judged(inOrder, { stalledMs: 32_000 }),
    /^of 60 tasks that waited for Temporal, none was begun for 32 s$/,
  );
  assert.match(judged({ started: [], begun: [] }), /^no task was accepted/);
});

test('the check of an outage allows a slow machine any time for all tasks, and finds some that are started long after the others', () => {
  const slow = new Map(arrivals.map((arrival) => [`task-${arrival}`, outage.untilMs + 5_000 * (arrival + 1)]));
  assert.equal(judgedStarts(slow), '');
  const lost = new Map([...slow, ['task-59', outage.untilMs + 5_000 * 59 + 32_000]]);
  assert.match(judgedStarts(lost), /^of 60 tasks that waited for Temporal, none was started for 32 s$/);
  assert.equal(judgedStarts(lost, 500), '', 'half a second was usual on this machine before');
});

test('the check of an outage finds workflows that are started out of order', () => {
  assert.match(
    judged({ started: arrivals.toReversed(), begun: arrivals }),
    /^account 0, API undefined: 100 % of the pairs of 60 tasks were started in the wrong order$/,
  );
  // The last twelve first inverts 12 * 48 of 1,770 pairs; the last three first, 3 * 57.
  assert.match(judged({ started: [...arrivals.slice(48), ...arrivals.slice(0, 48)], begun: arrivals }), /: 33 % /);
  assert.equal(judged({ started: [...arrivals.slice(57), ...arrivals.slice(0, 57)], begun: arrivals }), '');
});

test('the check of an outage finds generation out of order within a provider, and not between providers', () => {
  assert.match(
    judged({ started: arrivals, begun: arrivals.toReversed() }),
    /^100 % of 1770 pairs of tasks of one provider began in the wrong order$/,
  );
  const names = ['one', 'two', 'three', 'four'];
  // All of the fourth provider, then all of the third, and so on.
  const byProvider = [3, 2, 1, 0].flatMap((index) => arrivals.filter((arrival) => arrival % 4 === index));
  assert.equal(judged({ started: arrivals, begun: byProvider }, {}, names), '');
  assert.match(judged({ started: arrivals, begun: arrivals.toReversed() }, {}, names), /^100 % of 420 pairs/);
});
