import type { Client } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import type { Task } from '../../../src/catalogue/tasks/task.ts';
import { createTaskProgressReader } from '../../../src/temporal/engine/task-progress.ts';

type Described = { readonly pendingActivities: readonly unknown[] };

/** A client whose descriptions come from `describe`, and a clock. */
function engine(describe: () => Promise<Described>, payloadCodecs: readonly PayloadCodec[] = []) {
  const counted = { descriptions: 0 };
  const requests: object[] = [];
  const clock = { nowMs: 0 };
  const describeWorkflowExecution = (request: object) => {
    requests.push(request);
    counted.descriptions += 1;
    return describe();
  };
  const client = {
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    workflowService: { describeWorkflowExecution },
    options: {
      namespace: 'default',
      loadedDataConverter: { payloadCodecs, payloadConverter: defaultPayloadConverter },
    },
  };
  // A description uses only these members of the client.
  return {
    counted,
    requests,
    clock,
    progressOf: createTaskProgressReader(client as unknown as Client, () => clock.nowMs),
  };
}

function generatingAt(progress: number): Described {
  const payloads = [defaultPayloadConverter.toPayload({ progress })];
  return { pendingActivities: [{ activityType: { name: 'generateVideo' }, heartbeatDetails: { payloads } }] };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Returns the value if it resolves in this turn of the event loop, else `late`. */
function atOnce(answer: Promise<number>): Promise<number | 'late'> {
  return Promise.race([answer, nextTurn().then(() => 'late' as const)]);
}

// Progress reads only the id and the state.
const task = { taskId: 'a', state: 'generating' } as Task;

test('simultaneous pollers of a task share one description, and so do those of the next second', async () => {
  const { counted, progressOf } = engine(() => Promise.resolve(generatingAt(40)));
  const answers = await Promise.all(Array.from({ length: 100 }, () => progressOf(task)));
  assert.deepEqual([...new Set(answers)], [40]);
  assert.equal(await progressOf(task), 40);
  assert.equal(counted.descriptions, 1);
});

test('the heartbeat is that of the generation, of the workflow of the task', async () => {
  const other = { activityType: { name: 'storeResult' }, heartbeatDetails: { payloads: [] } };
  const described = [
    { pendingActivities: [other, ...generatingAt(40).pendingActivities] },
    { pendingActivities: [{ activityType: { name: 'generateVideo' }, heartbeatDetails: null }] },
  ];
  const { requests, clock, progressOf } = engine(() => Promise.resolve(described.shift() ?? assert.fail()));
  assert.equal(await progressOf(task), 40);
  clock.nowMs = 3_000;
  assert.equal(await progressOf(task), 40, 'a generation has no heartbeat at first');
  const request = { namespace: 'default', execution: { workflowId: 'a' } };
  assert.deepEqual(requests, [request, request]);
});

test('an engine that hangs delays no poller, and receives no second request', async () => {
  let answer: (described: Described) => void = () => assert.fail('no call was made');
  const { counted, progressOf } = engine(() => new Promise((resolve) => (answer = resolve)));
  assert.equal(await progressOf(task), 0);
  assert.equal(await progressOf(task), 0);
  assert.equal(counted.descriptions, 1);
  const waiting = progressOf(task);
  answer(generatingAt(70));
  assert.equal(await waiting, 70);
});

test('an unavailable Temporal receives one request a second, not one from every poller', async () => {
  const { counted, progressOf } = engine(() => Promise.reject(new Error('unavailable')));
  for (let turn = 0; turn < 5; turn += 1) assert.equal(await progressOf(task), 0);
  assert.equal(counted.descriptions, 1);
});

test('only a task that is being generated is described', async () => {
  const { counted, progressOf } = engine(() => Promise.resolve(generatingAt(40)));
  assert.equal(await progressOf({ ...task, state: 'queuing' }), 0);
  assert.equal(counted.descriptions, 0);
});

test('a figure of the last seconds is answered immediately, and the next poll gets the refreshed one', async (t) => {
  // No poller times out, however long a turn takes.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let answer: (described: Described) => void = () => assert.fail('no call was made');
  const { counted, clock, progressOf } = engine(() => new Promise((resolve) => (answer = resolve)));
  const first = progressOf(task);
  await nextTurn();
  answer(generatingAt(40));
  assert.equal(await first, 40);
  clock.nowMs = 1_000;
  assert.deepEqual([await atOnce(progressOf(task)), await atOnce(progressOf(task))], [40, 40]);
  assert.equal(counted.descriptions, 2);
  answer(generatingAt(60));
  await nextTurn();
  assert.equal(await atOnce(progressOf(task)), 60);
  assert.equal(counted.descriptions, 2);
});

test('an old figure is refreshed before it is answered', async () => {
  let progress = 20;
  const { clock, progressOf } = engine(() => Promise.resolve(generatingAt(progress)));
  assert.equal(await progressOf(task), 20);
  progress = 80;
  clock.nowMs = 3_000;
  assert.equal(await progressOf(task), 80);
});

test('Temporal gets one call per task and second, however often the task is polled', async () => {
  const { counted, clock, progressOf } = engine(() => Promise.resolve(generatingAt(10)));
  for (clock.nowMs = 0; clock.nowMs < 10_000; clock.nowMs += 10) await progressOf(task);
  assert.equal(counted.descriptions, 10);
});

test('progress never goes back, also when Temporal has no heartbeat between two attempts, or an earlier one', async () => {
  const described = [generatingAt(30), { pendingActivities: [] }, generatingAt(10), generatingAt(50)];
  const { clock, progressOf } = engine(() => Promise.resolve(described.shift() ?? assert.fail('one call too many')));
  const seen: number[] = [];
  for (clock.nowMs = 0; clock.nowMs < 16_000; clock.nowMs += 4_000) seen.push(await progressOf(task));
  assert.deepEqual(seen, [30, 30, 30, 50]);
});

test('two hundred tasks are described sixteen at a time, in order', async () => {
  const underWay: ((described: Described) => void)[] = [];
  const { counted, progressOf } = engine(() => new Promise((resolve) => underWay.push(resolve)));
  const polls = Array.from({ length: 200 }, (_, index) => progressOf({ ...task, taskId: String(index) }));
  await Promise.all(polls);
  assert.equal(counted.descriptions, 16);
  for (let ended = 0; ended < 200; ended += 1) {
    underWay.shift()?.(generatingAt(5));
    await nextTurn();
    assert.ok(underWay.length <= 16);
  }
  assert.equal(counted.descriptions, 200);
});

test('the codecs of a heartbeat are undone from the last to the first', async () => {
  const undone: string[] = [];
  const codec = (name: string): PayloadCodec => ({
    encode: () => assert.fail('nothing is encoded'),
    decode: async (payloads: Payload[]) => {
      undone.push(name);
      return payloads;
    },
  });
  const { progressOf } = engine(() => Promise.resolve(generatingAt(40)), [codec('first'), codec('last')]);
  assert.equal(await progressOf(task), 40);
  assert.deepEqual(undone, ['last', 'first']);
});
