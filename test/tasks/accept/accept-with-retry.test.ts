import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { type Database, DatabaseBusyError, DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { acceptWithRetry } from '../../../src/tasks/accept/accept-with-retry.ts';
import { assertMeasured } from '../../support/assert-since.ts';
import { recordEvents } from '../../support/service/metric-event-sinks.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { mockTimers } from '../../support/mock-timers.ts';
import { listedTerms, requestOf, taskParam } from '../../support/tasks/tasks.ts';
import { untilTurn } from '../../support/until-turn.ts';

/** How the next accepting statements go wrong: before they reach the server, or after it has committed them. */
type Fault = 'lost request' | 'lost answer' | 'crash';

let database: TestDatabase;
let service: HttpService;
let faults: Fault[] = [];
let tries = 0;
const events = recordEvents('stage_ended', 'task_charged');
const withdrawn: { readonly accountId: string }[] = [];
before(async () => {
  database = await createTestDatabase();
  service = await startHttpService({
    database,
    db: faulty(database.db),
    refundUncertain: (task) => withdrawn.push(task),
    events,
  });
});
after(async () => {
  await service.close();
  await database.close();
});

function faulty(db: Database): Database {
  return {
    ...db,
    run: (statement, values) => {
      if (statement.name !== 'accept-tasks') return db.run(statement, values);
      tries += 1;
      const fault = faults.shift();
      if (fault === 'lost request') return Promise.reject(new DatabaseUnavailableError(true, new Error('unreachable')));
      if (fault === 'crash') return Promise.reject(new TypeError('a bug'));
      return fault === 'lost answer' ? losing(db.run(statement, values)) : db.run(statement, values);
    },
  };
}

async function losing<T>(answer: Promise<T>): Promise<T> {
  await answer;
  throw new DatabaseUnavailableError(true, new Error('the connection broke'));
}

function inject(...next: readonly Fault[]): void {
  faults = [...next];
  tries = 0;
}

async function assertOneTask(accountId: string, taskId: unknown): Promise<void> {
  assert.equal((await findAccount(database.db, accountId))?.balance, 1000 - 165);
  assert.equal((await findAccount(database.db, accountId))?.unfinishedTasks, 1);
  assert.deepEqual(
    service.started.filter((task) => task.accountId === accountId).map((task) => task.taskId),
    [taskId],
  );
}

for (const headers of [{}, { 'idempotency-key': 'k' }]) {
  test(`200 an answer that was lost after the commit is found again: one task, one charge, ${JSON.stringify(headers)}`, async () => {
    const { accountId, key } = await service.newAccount(1000);
    inject('lost answer');
    events.seen.length = 0;
    const startedAt = performance.now();
    const answer = await service.create(key, plainRequest, headers);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['idempotency-replayed'], undefined, 'this very request was accepted');
    assert.equal(tries, 2);
    const [stage, ...charged] = events.seen;
    assert.ok(stage?.kind === 'stage_ended' && stage.stage === 'accept');
    assertMeasured(startedAt, stage.durationMs);
    assert.deepEqual(
      charged,
      [{ kind: 'task_charged', model: plainRequest.model, credits: 165 }],
      'it is counted once',
    );
    await assertOneTask(accountId, answer.json.data['taskId']);
  });
}

test('200 a request that was lost before the commit is made again', async () => {
  const { accountId, key } = await service.newAccount(1000);
  inject('lost request', 'lost answer');
  const answer = await service.create(key, plainRequest);
  assert.equal(answer.status, 200);
  await assertOneTask(accountId, answer.json.data['taskId']);
});

test('503 while the database is unavailable: the response says that the outcome is unknown, and a repeat with the key is safe', async (t) => {
  // No time passes, so the number of repeats is their limit, on a slow machine too.
  t.mock.method(performance, 'now', () => 0);
  const { accountId, key } = await service.newAccount(1000);
  const headers = { 'idempotency-key': 'again' };
  inject('lost answer', 'lost request', 'lost request', 'lost request', 'lost request');
  const refused = await service.create(key, plainRequest, headers);
  assertRefused(refused, 503, /unknown whether the task was accepted.*same Idempotency-Key/);
  assert.match(String(refused.headers['retry-after']), /^\d+$/);
  assert.equal(tries, 4, 'the repeats are bounded');
  inject();
  const again = await service.create(key, plainRequest, headers);
  assert.equal(again.status, 200);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.equal((await findAccount(database.db, accountId))?.balance, 1000 - 165);
});

test('500 what is no loss of the database is not repeated', async () => {
  const { key } = await service.newAccount(1000);
  inject('crash');
  assertRefused(await service.create(key, plainRequest), 500, /internal error/);
  assert.equal(tries, 1);
});

test('503 another fault after a try with an uncertain commit withdraws the task, for the client without a key will ask for another', async () => {
  const { accountId, key } = await service.newAccount(1000);
  withdrawn.splice(0);
  inject('lost answer', 'crash');
  const refused = await service.create(key, plainRequest);
  assert.equal(refused.status, 503);
  assert.equal(refused.json['error'], 'acceptance_reverted');
  assert.deepEqual(
    withdrawn.map((task) => task.accountId),
    [accountId],
  );
});

test('402 after a try with an uncertain commit is kept true: should that try commit after all, its task is withdrawn', async () => {
  const { accountId, key } = await service.newAccount(165);
  withdrawn.splice(0);
  assertRefused(await service.create(key, { ...plainRequest, input: { prompt: 'x', duration: 15 } }), 402, /too low/, {
    required: 495,
    balance: 165,
  });
  assert.equal(withdrawn.length, 0, 'no commit was uncertain');
  inject('lost request');
  assert.equal((await service.create(key, { ...plainRequest, input: { prompt: 'x', duration: 15 } })).status, 402);
  assert.deepEqual(
    withdrawn.map((task) => task.accountId),
    [accountId],
  );
});

const lost = () => new DatabaseUnavailableError(true, new Error('unreachable'));
for (const [what, error, elapsedMs, pausesMs, kind] of [
  ['a lost commit', lost, [0, 0, 0], [100, 400, 1_000], 'acceptance_reverted'],
  ['a lost commit, in two seconds', lost, [1_900, 1_901], [100], 'acceptance_reverted'],
  [
    'a request that was not sent',
    () => new DatabaseUnavailableError(false, undefined),
    [1_901],
    [],
    'DatabaseUnavailableError',
  ],
  ['a busy database', () => new DatabaseBusyError(), [0], [], 'DatabaseUnavailableError'],
] as const) {
  test(`after ${what}, a create is repeated with pauses of ${pausesMs.join(', ') || 'none'}, and ends as ${kind}`, async (t) => {
    let nowMs = 0;
    t.mock.method(performance, 'now', () => nowMs);
    mockTimers(t, { apis: ['setTimeout'] });
    const task = { taskId: uuidv7(), accountId: uuidv7(), ...requestOf(taskParam('lost')), ...listedTerms };
    const refunded: object[] = [];
    let count = 0;
    const accept = async (): Promise<undefined> => {
      nowMs = elapsedMs[count] ?? nowMs;
      count += 1;
      throw error();
    };
    const outcome = acceptWithRetry({ accept, refundUncertain: (one) => refunded.push(one) }, task).then(
      (one) => one?.kind,
      (failed: Error) => failed.name,
    );
    for (const [index, pauseMs] of pausesMs.entries()) {
      await untilTurn('the next try', () => count === index + 1);
      await setImmediate();
      t.mock.timers.tick(pauseMs - 1);
      await setImmediate();
      assert.equal(count, index + 1);
      t.mock.timers.tick(1);
    }
    assert.equal(await outcome, kind);
    assert.equal(count, pausesMs.length + 1);
    assert.deepEqual(refunded, kind === 'acceptance_reverted' ? [task] : []);
  });
}
