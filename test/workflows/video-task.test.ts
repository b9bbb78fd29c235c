import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { withPlayedWorkflow } from '../support/workflows/played-workflow.ts';
import { startTimeSkipping } from '../support/workflows/time-skipping.ts';

// The workflow is the real one, and its activities are played: what it passes from one to the next.
const environment = await startTimeSkipping();
const options = { skip: environment === undefined && 'the time-skipping test server is not to be had here' };
after(() => environment?.teardown());

type Ran = {
  /** The activities in their order, each with its input. */
  readonly calls: readonly (readonly [string, unknown])[];
  /** The state that operators search for. */
  readonly taskState: unknown;
};

async function run(input: object, results: Readonly<Record<string, unknown>>): Promise<Ran> {
  const calls: [string, unknown][] = [];
  const played = Object.entries(results).map(([name, result]) => {
    const activity = async (argument: unknown) => {
      // A slow machine may repeat a local step.
      const isRepeated = name !== 'generateVideo' && calls.some(([earlier]) => earlier === name);
      if (!isRepeated) calls.push([name, argument]);
      if (result instanceof Error) throw result;
      return result;
    };
    return [name, activity];
  });
  const workflow = { type: 'videoTask', args: [input], activities: Object.fromEntries(played) as object };
  return withPlayedWorkflow(environment, workflow, async (handle) => {
    await handle.result();
    const { events } = await handle.fetchHistory();
    const changes = events?.flatMap((event) => event.upsertWorkflowSearchAttributesEventAttributes ?? []) ?? [];
    const payload = changes.at(-1)?.searchAttributes?.indexedFields?.['TaskState'];
    return { calls, taskState: payload && defaultPayloadConverter.fromPayload(payload) };
  });
}

const taskId = randomUUID();
const charged = { accountId: 'alice', model: 'm', deadlineMs: 600_000, isFinal: false, isRemote: false };
const success = { state: 'success', hasCallback: false };
const fail = { state: 'fail', hasCallback: false };
const result = { sha256: 'a' };

test('an order is charged, and its video generated, stored and completed', options, async () => {
  const order = { accountId: 'alice', request: { model: 'm' } };
  const form = { container: 'mp4' };
  const { calls, taskState } = await run(
    { taskId, order },
    { chargeCredits: charged, generateVideo: { form }, storeResult: result, completeTask: success },
  );
  assert.deepEqual(calls, [
    ['chargeCredits', { taskId, order }],
    ['generateVideo', { taskId }],
    ['storeResult', { taskId, form }],
    ['completeTask', { taskId, result }],
  ]);
  assert.equal(taskState, 'success');
});

test(
  'a video that an upstream’s job has left in the store is completed without storing it again',
  options,
  async () => {
    const { calls } = await run(
      { taskId },
      { chargeCredits: { ...charged, isRemote: true }, generateVideo: { result }, completeTask: success },
    );
    assert.deepEqual(calls.slice(1), [
      ['generateVideo', { taskId, isRemote: true }],
      ['completeTask', { taskId, result }],
    ]);
  },
);

const general = { failCode: 'internal', failMsg: 'The task failed because of an error of the service.' };
for (const [title, type, failure] of [
  [
    'a code of ours is refunded with it and its sentence',
    'content_rejected',
    { failCode: 'content_rejected', failMsg: 'No.' },
  ],
  ['another code is refunded with a general sentence', 'ECONNREFUSED', general],
] as const) {
  test(`a generation that fails with ${title}, and is not made again`, options, async () => {
    const { calls, taskState } = await run(
      { taskId },
      { chargeCredits: charged, generateVideo: ApplicationFailure.nonRetryable('No.', type), refundCredits: fail },
    );
    assert.deepEqual(calls.slice(1), [
      ['generateVideo', { taskId }],
      ['refundCredits', { taskId, failure }],
    ]);
    assert.equal(taskState, 'fail');
  });
}

test('a task that has ended already is read back, and nothing is made', options, async () => {
  const { calls, taskState } = await run(
    { taskId },
    { chargeCredits: { ...charged, isFinal: true }, refundCredits: success },
  );
  assert.deepEqual(calls.slice(1), [['refundCredits', { taskId, failure: general }]]);
  assert.equal(taskState, 'success');
});
