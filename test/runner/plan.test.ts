import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayRunAgain, planRun } from './plan.ts';

const files = [
  'config',
  'console/people.full',
  'console/first-start',
  'production/rolling-restart.long',
  'run/schema/query-plans.full',
  'tasks/tasks',
]
  .concat('survival/load/overload.long')
  .map((name) => `${name}.test.js`);
const fast = { tier: 'fast', withoutFast: false, parts: [] } as const;
const namesIn = (groups: readonly (readonly string[])[]) =>
  groups.map((group) => group.map((file) => file.replace('.test.js', '')).join(' '));
const planned = (selection: Parameters<typeof planRun>[1]) => {
  const { processes, exclusive } = planRun(files, selection);
  return { processes: namesIn(processes), exclusive: namesIn(exclusive) };
};

test('a tier runs its files and those of the tiers before it', () => {
  assert.deepEqual(planned(fast), { processes: ['config tasks/tasks', 'console/first-start'], exclusive: [] });
  assert.deepEqual(planned({ ...fast, tier: 'full' }).processes, [
    'console/people.full',
    'run/schema/query-plans.full',
    'config tasks/tasks',
    'console/first-start',
  ]);
  assert.deepEqual(planned({ ...fast, tier: 'long' }).exclusive, [
    'production/rolling-restart.long',
    'survival/load/overload.long',
  ]);
});

test('the rest of a tier is what the fast tier leaves', () => {
  assert.deepEqual(planned({ ...fast, tier: 'full', withoutFast: true }).processes, [
    'console/people.full',
    'run/schema/query-plans.full',
  ]);
});

test('parts of names select files of any tier', () => {
  assert.deepEqual(planned({ ...fast, parts: ['tasks', 'rolling'] }), {
    processes: ['tasks/tasks'],
    exclusive: ['production/rolling-restart.long'],
  });
});

test('fast files share processes, a bounded number in each', () => {
  const many = Array.from({ length: 30 }, (_, index) => `tasks/${index}.test.js`);
  const { processes } = planRun(many, fast);
  assert.deepEqual(processes.flat().toSorted(), many.toSorted());
  assert.deepEqual(
    processes.map(({ length }) => length),
    [15, 15],
  );
});

test('full files of the console share processes, fewer in each, and those of operations do not', () => {
  const many = ['console', 'ops'].flatMap((folder) =>
    Array.from({ length: 8 }, (_, index) => `${folder}/${index}.full.test.js`),
  );
  const { processes } = planRun(many, { ...fast, tier: 'full' });
  assert.deepEqual(processes.flat().toSorted(), many);
  assert.deepEqual(
    processes.map(({ length }) => length),
    [4, 4, 1, 1, 1, 1, 1, 1, 1, 1],
  );
});

test('only files that drive real processes or a browser may run again, and none of the fast tier', () => {
  const again = files.concat('survival/every-window.test.js', 'workflows/replay.test.js', 'properties/x.long.test.js');
  assert.deepEqual(again.filter(mayRunAgain), [
    'console/people.full.test.js',
    'production/rolling-restart.long.test.js',
    'survival/load/overload.long.test.js',
  ]);
});
