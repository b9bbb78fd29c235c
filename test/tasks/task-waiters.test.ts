import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createTaskWaiters } from '../../src/tasks/task-waiters.ts';
import { type Database, DatabaseUnavailableError } from '../../src/platform/database/database.ts';
import { untilTurn } from '../support/until-turn.ts';
import { waitFor } from '../support/wait-for.ts';
import { mockTimers } from '../support/mock-timers.ts';

/** A database in which the listed tasks have ended; counts the polls, and is unavailable on request. */
function databaseOf(ended: Set<string>): { db: Database; polls: string[][]; isUnavailable: boolean } {
  const played = {
    polls: [] as string[][],
    isUnavailable: false,
    db: {
      run: (_statement: unknown, [ids]: [string[]]) => {
        played.polls.push(ids);
        if (played.isUnavailable) return Promise.reject(new DatabaseUnavailableError(false, undefined));
        return Promise.resolve(ids.filter((id) => ended.has(id)).map((id) => ({ id })));
      },
      // No other member of a database is used.
    } as unknown as Database,
  };
  return played;
}

const pauseMs = 200;
const { signal } = new AbortController();
const waitOf = (taskId: string, accountId = 'a') => ({ taskId, accountId, waitMs: 30_000, signal });

test('each poll is one statement about distinct tasks, however many requests wait', async () => {
  const ended = new Set<string>();
  const played = databaseOf(ended);
  const waiters = createTaskWaiters(played.db, { pauseMs: 5 });
  const ids = Array.from({ length: 5 }, () => randomUUID());
  const waits = [...ids, ...ids].map((id) => waiters.wait(waitOf(id)));
  assert.ok(waits.every((wait) => wait !== undefined));
  await waitFor('two polls', () => played.polls[1]);
  assert.deepEqual(played.polls[0]?.toSorted(), ids.toSorted());
  for (const id of ids) ended.add(id);
  await Promise.all(waits);
});

test('a wait ends at the first poll after the end of its task, long before its own limit', async (t) => {
  const ended = new Set<string>();
  const played = databaseOf(ended);
  mockTimers(t, { apis: ['setTimeout', 'setInterval'] });
  const waiters = createTaskWaiters(played.db, { pauseMs });
  const [id, other] = [randomUUID(), randomUUID()];
  let over = 0;
  for (const one of [id, id, other]) void waiters.wait(waitOf(one))?.then(() => (over += 1));
  ended.add(id).add(other);
  t.mock.timers.tick(pauseMs);
  await untilTurn('the end of a wait', () => over > 0);
  await setImmediate();
  assert.equal(over, 3, 'one poll ends all of them');
  assert.equal(played.polls.length, 1);
});

test('a wait whose task does not end is over at its own limit', async () => {
  const waiters = createTaskWaiters(databaseOf(new Set()).db);
  const wait = waiters.wait({ ...waitOf(randomUUID()), waitMs: 1 });
  assert.notEqual(wait, undefined);
  await wait;
});

test('a database that is unavailable for a short time does not end the wait', async () => {
  const ended = new Set<string>();
  const played = databaseOf(ended);
  played.isUnavailable = true;
  const waiters = createTaskWaiters(played.db, { pauseMs: 5 });
  const id = randomUUID();
  const wait = waiters.wait(waitOf(id));
  await waitFor('three polls', () => played.polls[2]);
  ended.add(id);
  played.isUnavailable = false;
  await wait;
});

test('an account at its limit leaves room for others', async () => {
  const waiters = createTaskWaiters(databaseOf(new Set()).db, { maxWaiters: 3, maxPerAccount: 2 });
  const waits = ['a', 'a', 'a', 'b', 'c'].map((account) => waiters.wait(waitOf(randomUUID(), account)));
  assert.deepEqual(
    waits.map((wait) => wait !== undefined),
    [true, true, false, true, false],
  );
  waiters.close();
  for (const wait of waits) await wait;
  assert.equal(waiters.wait(waitOf(randomUUID(), 'z')), undefined);
});

test('a disconnected client does not wait', async () => {
  const waiters = createTaskWaiters(databaseOf(new Set()).db, { maxWaiters: 1 });
  const gone = AbortSignal.abort();
  await waiters.wait({ ...waitOf(randomUUID()), signal: gone });
  assert.notEqual(waiters.wait({ ...waitOf(randomUUID()), waitMs: 1 }), undefined);
});
