import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { createTaskWaiters, type TaskWait } from '../../../src/tasks/task-waiters.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import type { Answer } from '../../support/service/http-client.ts';
import {
  type HttpService,
  type HttpServiceOptions,
  plainRequest,
  startHttpService,
} from '../../support/service/http-service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';

let database: TestDatabase;
let shared: { readonly service: HttpService; readonly held: TaskWait[] };
before(async () => {
  database = await createTestDatabase();
  shared = await startWaits({});
});
after(async () => {
  await shared.service.close();
  await database.close();
});

type Options = HttpServiceOptions & { maxWaiters?: number };

/** Starts a service, and records the responses that it holds. */
async function startWaits({ maxWaiters = 10, ...rest }: Options) {
  const waiters = createTaskWaiters(database.db, { pauseMs: 10, maxWaiters, maxPerAccount: maxWaiters });
  const held: TaskWait[] = [];
  const taskWaiters = {
    ...waiters,
    wait: (wait: TaskWait) => {
      held.push(wait);
      return waiters.wait(wait);
    },
  };
  return { service: await startHttpService({ database, taskWaiters, ...rest }), held };
}

/** Uses the service that the tests share, or one of its own if it needs options. */
async function withWaits(
  work: (service: HttpService, held: readonly TaskWait[]) => Promise<void>,
  options?: Options,
): Promise<void> {
  if (options === undefined) {
    shared.held.length = 0;
    return work(shared.service, shared.held);
  }
  const { service, held } = await startWaits(options);
  try {
    await work(service, held);
  } finally {
    await service.close();
  }
}

async function newTask(service: HttpService): Promise<{ key: string; taskId: string; accountId: string }> {
  const { key, accountId } = await service.newAccount(1000);
  const { json } = await service.create(key, plainRequest);
  return { key, accountId, taskId: String(json.data['taskId']) };
}

function ask(service: HttpService, key: string, taskId: string, prefer: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, prefer };
  return service.send('GET', `/api/v1/jobs/recordInfo?taskId=${taskId}`, { headers });
}

function end(taskId: string) {
  return failAndRefund(database.db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
}

test('200 recordInfo is held until the task ends, and then shows its end', async () => {
  await withWaits(async (service, held) => {
    const { key, taskId } = await newTask(service);
    const answer = ask(service, key, taskId, 'wait=60');
    await waitFor('the hold', () => held[0]);
    await end(taskId);
    const { status, headers, json } = await answer;
    assert.deepEqual([status, json.data['state']], [200, 'fail']);
    assert.equal(headers['preference-applied'], 'wait=60');
  });
});

test('200 after the wait the response has the current state', async () => {
  await withWaits(async (service) => {
    const { key, taskId } = await newTask(service);
    const { headers, json } = await ask(service, key, taskId, 'wait=1');
    assert.deepEqual([json.data['state'], headers['preference-applied']], ['waiting', 'wait=1']);
  });
});

test('200 the response for a final task is immediate, and nothing is held', async () => {
  await withWaits(async (service, held) => {
    const { key, taskId } = await newTask(service);
    await end(taskId);
    const { headers, json } = await ask(service, key, taskId, 'wait=60');
    assert.deepEqual([json.data['state'], headers['preference-applied'], held.length], ['fail', undefined, 0]);
  });
});

test('404 is immediate for an unknown task and for a task of another account', async () => {
  await withWaits(async (service, held) => {
    const { taskId } = await newTask(service);
    const { key } = await service.newAccount(0);
    for (const id of [taskId, randomUUID()]) assert.equal((await ask(service, key, id, 'wait=60')).status, 404);
    assert.equal(held.length, 0);
  });
});

for (const [prefer, seconds] of [
  ['wait=7', 7],
  ['respond-async, wait=7', 7],
  ['WAIT = 7 ; x=y', 7],
  ['wait="7"', 7],
  ['wait=61', 60],
  ['wait=999999999', 60],
  ['wait=0', 0],
  ['wait=-1', 0],
  ['wait=7.5', 0],
  ['wait', 0],
  ['await=7', 0],
  ['', 0],
] as const) {
  test(`200 "Prefer: ${prefer}" waits ${seconds} seconds at most`, async () => {
    await withWaits(async (service, held) => {
      const { key, taskId } = await newTask(service);
      const answer = ask(service, key, taskId, prefer);
      if (seconds > 0) await waitFor('the hold', () => held[0]);
      await end(taskId);
      assert.equal((await answer).status, 200);
      assert.deepEqual(
        held.map(({ waitMs }) => waitMs),
        seconds === 0 ? [] : [seconds * 1000],
      );
    });
  });
}

test('200 createTask is held and answers the whole record, of which its usual answer is a part', async () => {
  await withWaits(async (service, held) => {
    const { key } = await service.newAccount(1000);
    const answer = service.create(key, plainRequest, { prefer: 'wait=60' });
    const { taskId } = await waitFor('the hold', () => held[0]);
    assert.ok(
      service.started.some((task) => task.taskId === taskId),
      'generation does not wait for its own end',
    );
    await end(taskId);
    const { headers, json } = await answer;
    const { taskId: id, creditsCharged, state } = json.data;
    assert.deepEqual([id, creditsCharged, state], [taskId, 165, 'fail']);
    assert.equal(headers['preference-applied'], 'wait=60');
  });
});

test('200 a repeated create joins the wait for the first task', async () => {
  await withWaits(async (service, held) => {
    const { key } = await service.newAccount(1000);
    const headers = { prefer: 'wait=60', 'idempotency-key': 'k' };
    const first = service.create(key, plainRequest, headers);
    const { taskId } = await waitFor('the hold', () => held[0]);
    const second = service.create(key, plainRequest, headers);
    await waitFor('the second hold', () => held[1]);
    await end(taskId);
    assert.deepEqual((await second).json, (await first).json);
    assert.equal((await second).headers['idempotency-replayed'], 'true');
  });
});

test('200 createTask with a key that may not read tasks is returned immediately, without the record', async () => {
  await withWaits(async (service, held) => {
    const { key } = await service.newAccount(1000, ['tasks:write']);
    const { json, headers } = await service.create(key, plainRequest, { prefer: 'wait=60' });
    assert.deepEqual(Object.keys(json.data), ['taskId', 'creditsCharged']);
    assert.deepEqual([headers['preference-applied'], held.length], [undefined, 0]);
  });
});

test('200 beyond the limit no request is held, and the response does not claim the preference', async () => {
  await withWaits(
    async (service, held) => {
      const { key, taskId } = await newTask(service);
      const first = ask(service, key, taskId, 'wait=60');
      await waitFor('the hold', () => held[0]);
      const second = await ask(service, key, taskId, 'wait=60');
      assert.deepEqual([second.status, second.headers['preference-applied']], [200, undefined]);
      await end(taskId);
      assert.equal((await first).headers['preference-applied'], 'wait=60');
    },
    { maxWaiters: 1 },
  );
});

test('a client that disconnects releases its wait', async () => {
  await withWaits(
    async (service, held) => {
      const { key, taskId, accountId } = await newTask(service);
      const path = `/api/v1/jobs/recordInfo?taskId=${taskId}`;
      const headers = { authorization: `Bearer ${key}`, prefer: 'wait=60' };
      const req = request(service.url + path, { headers, agent: false }).on('error', () => {});
      req.end();
      const { signal } = await waitFor('the hold', () => held[0]);
      req.destroy();
      await waitFor('the release', () => signal.aborted || undefined);
      const free = service.deps.taskWaiters.wait({
        taskId,
        accountId,
        waitMs: 1,
        signal: new AbortController().signal,
      });
      assert.notEqual(free, undefined);
      await free;
    },
    { maxWaiters: 1 },
  );
});

test('200 a shutdown releases waiting requests with a response, and holds no more', async () => {
  const work = async (service: HttpService, held: readonly TaskWait[]) => {
    const { key, taskId } = await newTask(service);
    const answer = ask(service, key, taskId, 'wait=60');
    await waitFor('the hold', () => held[0]);
    service.deps.taskWaiters.close();
    assert.deepEqual([(await answer).status, (await answer).json.data['state']], [200, 'waiting']);
    assert.equal((await ask(service, key, taskId, 'wait=60')).headers['preference-applied'], undefined);
  };
  await withWaits(work, {});
});
