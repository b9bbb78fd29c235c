import { WorkflowFailedError } from '@temporalio/client';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AccountPageToEmpty, EmptiedPage } from '../../activities/close-account.ts';
import { housekeepingSteps } from '../../src/temporal/schedules/housekeeping-steps.ts';
import { pausesOf, withPlayedWorkflow } from '../support/workflows/played-workflow.ts';
import { startTimeSkipping } from '../support/workflows/time-skipping.ts';

// The workflows are the real ones and so are their timers; the clock is the test server's, and the activities are played.
const environment = await startTimeSkipping();
const options = { skip: environment === undefined && 'the time-skipping test server is not to be had here' };
after(() => environment?.teardown());

/** Runs a workflow to its end with these activities, over all of its runs; returns the pauses of the last run in seconds. */
function runWorkflow(type: string, args: unknown[], activities: object): Promise<readonly number[]> {
  return withPlayedWorkflow(environment, { type, args, activities }, async (workflow) => {
    await workflow.result();
    return pausesOf(workflow);
  });
}

/** An account whose passes have these pages: what each finds. */
function playedClosing(passes: readonly (readonly number[])[], finish: () => boolean = () => true) {
  const asked: (string | undefined)[] = [];
  const finished: number[] = [];
  const pages = passes.flatMap((found) =>
    found.map((one, index) => ({ found: one, isLast: index === found.length - 1 })),
  );
  const emptyAccountPage = async ({ accountId, after: from }: AccountPageToEmpty): Promise<EmptiedPage> => {
    assert.equal(accountId, 'alice');
    const page = pages[asked.push(from) - 1] ?? assert.fail('no more pages');
    return { found: page.found, after: page.isLast ? undefined : `task-${asked.length}` };
  };
  const finishClosing = async (accountId: string) => {
    assert.equal(accountId, 'alice');
    finished.push(asked.length);
    return finish();
  };
  return { asked, finished, activities: { emptyAccountPage, finishClosing } };
}

const closing = [{ accountId: 'alice' }];

test('a closed account is emptied page by page until a pass over all tasks finds nothing', options, async () => {
  const { asked, finished, activities } = playedClosing([
    [200, 7],
    [0, 1],
    [0, 0],
  ]);
  assert.deepEqual(await runWorkflow('closeAccount', closing, activities), [5, 10], 'pauses between the passes');
  assert.deepEqual(asked, [undefined, 'task-1', undefined, 'task-3', undefined, 'task-5']);
  assert.deepEqual(finished, [6]);
});

test('a closing that leaves something behind is not finished, and tries again', options, async () => {
  let tries = 0;
  const passes = Array.from({ length: 10 }, () => [0]);
  const { finished, activities } = playedClosing(passes, () => (tries += 1) === passes.length);
  const pauses = await runWorkflow('closeAccount', closing, activities);
  assert.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 320, 600, 600]);
  assert.deepEqual(
    finished,
    passes.map((_, index) => index + 1),
  );
});

test('the closing of a large account continues as new, from the page where it was', options, async () => {
  // One more than a run empties.
  const large = Array.from({ length: 201 }, () => 0);
  const { asked, finished, activities } = playedClosing([large]);
  await runWorkflow('closeAccount', closing, activities);
  assert.deepEqual(asked, [undefined, ...large.slice(1).map((_, index) => `task-${index + 1}`)]);
  assert.deepEqual(finished, [201]);
});

test(
  'a closing that continues as new remembers what its pass has found, and how often it has tried',
  options,
  async () => {
    // The second pass ends with the first page of the second run.
    const { finished, activities } = playedClosing([[1], [1, ...Array.from({ length: 199 }, () => 0)], [0]]);
    assert.deepEqual(await runWorkflow('closeAccount', closing, activities), [10]);
    assert.deepEqual(finished, [202]);
  },
);

test('a step of housekeeping that fails keeps no other from its turn, and fails the run', options, async () => {
  const done: string[] = [];
  const housekeep = async (step: string) => {
    done.push(step);
    if (step === housekeepingSteps[0]) throw new Error('no');
  };
  await assert.rejects(
    runWorkflow('housekeeping', [housekeepingSteps], { housekeep }),
    (error: unknown) => error instanceof WorkflowFailedError && error.cause?.message === 'steps failed: sweepSlots',
  );
  assert.deepEqual(done, [...housekeepingSteps]);
});

test(
  'a step of reconcile that fails keeps no other from its turn or its retry, and fails the run',
  options,
  async () => {
    const done: string[] = [];
    const step = (name: string) => async () => {
      done.push(name);
      const isRetried = name === 'reconcileTasks' && !done.includes(name, done.indexOf(name) + 1);
      if (name === 'settleProviderJobs' || isRetried) throw new Error('no');
      return { started: 0, refunded: 0 };
    };
    const names = ['reconcileTasks', 'startOwedCallbacks', 'settleProviderJobs', 'startClosings'];
    const activities = Object.fromEntries(names.map((name) => [name, step(name)]));
    await assert.rejects(runWorkflow('reconcile', [], activities), WorkflowFailedError);
    assert.deepEqual(done.toSorted(), ['reconcileTasks', ...names].toSorted());
  },
);
