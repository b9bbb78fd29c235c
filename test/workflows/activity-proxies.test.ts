import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import {
  type ScheduledActivity,
  scheduledActivities,
  withPlayedWorkflow,
} from '../support/workflows/played-workflow.ts';
import { startTimeSkipping } from '../support/workflows/time-skipping.ts';

// The workflows are the real ones, and the activities are played. The history of a workflow holds the limits of its activities.
const environment = await startTimeSkipping();
const options = { skip: environment === undefined && 'the time-skipping test server is not to be had here' };
after(() => environment?.teardown());

const [minute, hour] = [60, 3_600] as const;

/** The limits of one activity, in seconds. Temporal's own pauses between attempts grow from one second to a hundred. */
function scheduled(name: string, limits: Partial<ScheduledActivity>): ScheduledActivity {
  const none = { total: 0, attempt: 0, heartbeat: 0, attempts: 0 };
  return { name, queue: '', ...none, pauses: [1, 100], order: [0, ''], ...limits };
}

type Played = { readonly result: unknown; readonly activities: readonly ScheduledActivity[] };

function play(type: string, args: unknown[], activities: object): Promise<Played> {
  return withPlayedWorkflow(environment, { type, args, activities }, async (workflow) => ({
    result: (await workflow.result()) as unknown, // of any workflow
    activities: await scheduledActivities(workflow),
  }));
}

/** Fails this often, with an error that is retried, and then returns `result`. */
function failing(times: number, result: unknown) {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw new Error('interrupted');
    return result;
  };
}

/** Fails as a local activity, which may run twice on a slow machine. */
function failingLocally(result: unknown) {
  return async () => {
    if (Context.current().info.isLocal) throw new Error('interrupted');
    return result;
  };
}

const charged = { accountId: 'alice', model: 'm', deadlineMs: 600_000, isFinal: false, isRemote: false };
const steadily = { pauses: [1, 30] } as const;

test(
  'a step of a task whose local attempt fails continues without a limit, and a generation ahead of those that wait',
  options,
  async () => {
    const { activities } = await play('videoTask', [{ taskId: randomUUID() }], {
      chargeCredits: failingLocally(charged),
      generateVideo: failing(4, {}),
      storeResult: failing(0, {}),
      completeTask: failingLocally({ state: 'success', hasCallback: true }),
      sendCallback: failing(0, { kind: 'delivered' }),
    });
    const generation = {
      queue: 'generation',
      total: 24 * hour + 11 * minute,
      attempt: 11 * minute,
      heartbeat: 30,
      order: [0, 'alice'],
    } as const;
    assert.deepEqual(activities, [
      scheduled('chargeCredits', { attempt: minute, ...steadily }),
      scheduled('generateVideo', { ...generation, attempts: 1 }),
      scheduled('generateVideo', { ...generation, ...steadily, attempts: 3, order: [1, 'alice'] }),
      scheduled('generateVideo', { ...generation, ...steadily }),
      scheduled('storeResult', { total: 24 * hour, attempt: 15 * minute, heartbeat: 30, ...steadily }),
      scheduled('completeTask', { attempt: minute, ...steadily }),
      scheduled('sendCallback', { queue: 'callbacks', total: minute, attempt: 45, attempts: 1, order: [0, 'alice'] }),
    ]);
  },
);

test('a step that must not be retried fails as a local activity, then as an ordinary one', options, async () => {
  const chargeCredits = () => Promise.reject(ApplicationFailure.nonRetryable('refused'));
  const args = [{ taskId: randomUUID() }];
  await withPlayedWorkflow(
    environment,
    { type: 'videoTask', args, activities: { chargeCredits } },
    async (workflow) => {
      await assert.rejects(workflow.result());
      assert.deepEqual(
        (await scheduledActivities(workflow)).map(({ name }) => name),
        ['chargeCredits'],
      );
    },
  );
});

for (const [minutes, heartbeat] of [
  [10, 60],
  [20, 80],
  [60, 120],
] as const) {
  test(
    `a generation by an upstream in ${minutes} minutes is taken over ${heartbeat} seconds after its worker died`,
    options,
    async () => {
      const remote = { ...charged, deadlineMs: minutes * 60_000, isRemote: true };
      const { activities } = await play('videoTask', [{ taskId: randomUUID() }], {
        chargeCredits: failing(0, remote),
        generateVideo: failing(0, { result: {} }),
        completeTask: failing(0, { state: 'success', hasCallback: false }),
      });
      const attempt = (2 * minutes + 1) * minute;
      const limits = { total: 24 * hour + attempt, attempt, heartbeat, order: [0, 'alice'] } as const;
      // A local step that a slow machine interrupts is among them, too.
      const generations = activities.filter(({ name }) => name === 'generateVideo');
      assert.deepEqual(generations, [
        scheduled('generateVideo', { queue: 'generation-remote', ...limits, ...steadily }),
      ]);
    },
  );
}

const closingLimits = { attempt: 10 * minute, heartbeat: 20, pauses: [1, 600] } as const;
const urgent = { total: 6 * minute, attempt: 5 * minute, heartbeat: 20, pauses: [1, 10], attempts: 5 } as const;
const onceAMinute = { total: 2 * minute, attempt: 90, heartbeat: 20, attempts: 1 } as const;

/** A workflow, its argument, what its activities return, their limits, and the result of the workflow. */
const others: readonly [string, unknown, object, readonly ScheduledActivity[], unknown][] = [
  [
    'deliverCallback',
    { deliveryId: randomUUID(), accountId: 'alice' },
    { sendCallback: { kind: 'delivered' } },
    [scheduled('sendCallback', { queue: 'callbacks', attempt: 45, pauses: [1, 60], order: [0, 'alice'] })],
    'delivered',
  ],
  [
    'audit',
    'recent',
    { auditBooks: { violations: 3 } },
    [scheduled('auditBooks', { attempt: 12 * hour, heartbeat: minute, pauses: [10, 300] })],
    { violations: 3 },
  ],
  [
    'closeAccount',
    { accountId: 'alice' },
    { emptyAccountPage: { found: 0 }, finishClosing: true },
    [scheduled('emptyAccountPage', closingLimits), scheduled('finishClosing', closingLimits)],
    undefined,
  ],
  [
    'housekeeping',
    ['sweepSlots'],
    { housekeep: null },
    [scheduled('housekeep', { total: 6 * minute, attempt: 5 * minute, heartbeat: 20, attempts: 1 })],
    undefined,
  ],
  [
    'reconcilePayments',
    undefined,
    { reconcilePayments: { checked: 2, failed: 1 } },
    [
      scheduled('reconcilePayments', {
        total: 50 * minute,
        attempt: 25 * minute,
        heartbeat: minute,
        pauses: [10, 300],
        attempts: 5,
      }),
    ],
    { checked: 2, failed: 1 },
  ],
  [
    'reconcile',
    undefined,
    {
      reconcileTasks: { started: 1, refunded: 2 },
      startOwedCallbacks: { started: 3 },
      settleProviderJobs: { stopped: 4, late: 5 },
      startClosings: null,
    },
    [
      scheduled('reconcileTasks', urgent),
      scheduled('startOwedCallbacks', urgent),
      scheduled('settleProviderJobs', onceAMinute),
      scheduled('startClosings', onceAMinute),
    ],
    { started: 1, refunded: 2, callbacks: 3 },
  ],
  [
    'testProvider',
    { provider: 'fal' },
    { testProvider: { outcome: 'ok' } },
    [scheduled('testProvider', { total: 20, attempt: 15, attempts: 1 })],
    { outcome: 'ok' },
  ],
];

for (const [type, argument, results, activities, result] of others) {
  test(`the activities of ${type} have its limits, and it returns what they did`, options, async () => {
    const played = Object.entries(results).map(([name, value]) => [name, failing(0, value)] as const);
    const { result: returned, ...rest } = await play(type, [argument], Object.fromEntries(played));
    assert.deepEqual(rest, { activities });
    assert.deepEqual(returned ?? undefined, result);
  });
}
