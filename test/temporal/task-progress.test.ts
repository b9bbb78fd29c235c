import type { Client } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPayloadConverter } from '@temporalio/common';
import type { Task } from '../../src/domain/task.ts';
import { createTaskProgress } from '../../src/temporal/task-progress.ts';

type Described = { readonly raw: { readonly pendingActivities: readonly unknown[] } };

/** An engine that is described as `describe` says; only what a look touches is there. */
function engine(describe: () => Promise<Described>) {
  const counted = { looks: 0 };
  const handle = {
    describe: () => {
      counted.looks += 1;
      return describe();
    },
  };
  const client = {
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    workflow: { getHandle: () => handle },
    options: { loadedDataConverter: { payloadConverter: defaultPayloadConverter, payloadCodecs: [] } },
  };
  // The look uses these few members of the client and no others.
  return { counted, progressOf: createTaskProgress(client as unknown as Client) };
}

function generatingAt(progress: number): Described {
  const payloads = [defaultPayloadConverter.toPayload({ progress })];
  return { raw: { pendingActivities: [{ activityType: { name: 'generateVideo' }, heartbeatDetails: { payloads } }] } };
}

// Progress looks at the id and the state only.
const task = { taskId: 'a', state: 'generating' } as Task;

test('simultaneous pollers of a task share one look, and so do those of the next second', async () => {
  const { counted, progressOf } = engine(() => Promise.resolve(generatingAt(40)));
  const answers = await Promise.all(Array.from({ length: 100 }, () => progressOf(task)));
  assert.deepEqual([...new Set(answers)], [40]);
  assert.equal(await progressOf(task), 40);
  assert.equal(counted.looks, 1);
});

test('an engine that hangs holds no poller up, and is not asked again meanwhile', async () => {
  let answer: (described: Described) => void = () => assert.fail('nobody looked');
  const { counted, progressOf } = engine(() => new Promise((resolve) => (answer = resolve)));
  assert.equal(await progressOf(task), 0);
  assert.equal(await progressOf(task), 0);
  assert.equal(counted.looks, 1);
  const waiting = progressOf(task);
  answer(generatingAt(70));
  assert.equal(await waiting, 70);
});

test('an engine that is away is asked once a second, not by every poller', async () => {
  const { counted, progressOf } = engine(() => Promise.reject(new Error('away')));
  for (let turn = 0; turn < 5; turn += 1) assert.equal(await progressOf(task), 0);
  assert.equal(counted.looks, 1);
});

test('only a task that is being generated is looked at', async () => {
  const { counted, progressOf } = engine(() => Promise.resolve(generatingAt(40)));
  assert.equal(await progressOf({ ...task, state: 'queuing' }), 0);
  assert.equal(counted.looks, 0);
});
