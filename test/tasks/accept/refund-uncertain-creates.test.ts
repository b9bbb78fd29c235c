import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import {
  createUncertainCreateRefunder,
  type UncertainCreateDeps,
  type UncertainCreateRefunder,
} from '../../../src/tasks/accept/refund-uncertain-creates.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { recordLog } from '../../support/log-lines.ts';
import { listedTerms, madeUpResult, taskParam, requestOf } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';
import { acceptTaskAlone } from '../../../src/tasks/accept/accept-one-task.ts';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { type Database, DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';

let database: TestDatabase;
let service: HttpService;
let uncertainCreates: UncertainCreateRefunder;
let isUnavailable = false;
let looks = 0;
const outcomes: string[] = [];
const { log, lines } = recordLog();

before(async () => {
  database = await createTestDatabase();
  uncertainCreates = watching({ conclusiveMs: 0 });
  service = await startHttpService({ database, db: losingAnswers(database.db), refundUncertain: uncertainCreates.add });
});
after(async () => {
  const violations = await auditLedger(database.db);
  await service.close();
  await database.close();
  assert.deepEqual(violations, []);
});

function watching(options: Partial<UncertainCreateDeps>): UncertainCreateRefunder {
  const db = { ...database.db, run: unreliable(database.db.run) };
  const emit: UncertainCreateDeps['events']['emit'] = (event) => {
    if (event.kind === 'uncertain_create_resolved') outcomes.push(event.outcome);
    if (event.kind === 'task_ended') outcomes.push(`${event.task.failure?.failCode} ${event.task.creditsRefunded}`);
  };
  return createUncertainCreateRefunder({ db, log, events: { emit }, ...options });
}

/** The database as seen by the check of uncertain creates. */
function unreliable(run: Database['run']): Database['run'] {
  return async (statement, values) => {
    if (isUnavailable) throw new DatabaseUnavailableError(true, new Error('the connection broke'));
    const rows = await run<never>(statement, values);
    looks += 1;
    return rows;
  };
}

/** Every acceptance is committed, and its answer lost: also the answers to asking again. */
function losingAnswers(db: Database): Database {
  return {
    ...db,
    run: async (statement, values) => {
      const isAccepting = statement.name === 'accept-tasks';
      if (isAccepting) await db.run(statement, values).catch(() => undefined);
      if (isAccepting) throw new DatabaseUnavailableError(true, new Error('the connection broke'));
      return db.run(statement, values);
    },
  };
}

const balanceOf = async (accountId: string) => (await findAccount(database.db, accountId))?.balance;

test('503 to a client without a key is true: the task that was accepted all the same is refunded', async () => {
  const { accountId, key } = await service.newAccount(1000);
  isUnavailable = true;
  assertRefused(await service.create(key, plainRequest), 503, /charges nothing.*refunded/);
  assert.equal(await balanceOf(accountId), 1000 - 165, 'the commit had happened');
  isUnavailable = false;
  await waitFor('the refund', async () => ((await balanceOf(accountId)) === 1000 ? true : undefined));
  await uncertainCreates.drain(180_000);
  assert.deepEqual(outcomes.splice(0), ['cancelled 165', 'refunded']);
});

test('503 to a client with a key withdraws nothing, since repeating must find the task', async () => {
  const { accountId, key } = await service.newAccount(1000);
  assertRefused(await service.create(key, plainRequest, { 'idempotency-key': 'k' }), 503, /same Idempotency-Key/);
  await uncertainCreates.drain(180_000);
  assert.equal(await balanceOf(accountId), 1000 - 165);
  assert.deepEqual(outcomes, []);
});

test('a statement that commits long after its client was told 503 is found: absence is proof only after its time limit', async () => {
  const accountId = await createAccount(database.db, { name: 'late', credits: 132 });
  const task = { taskId: uuidv7(), accountId };
  const patient = watching({ conclusiveMs: 180_000 });
  looks = 0;
  patient.add(task);
  await waitFor('a look in vain', () => (looks > 0 ? true : undefined));
  await acceptTaskAlone(database.db, { ...task, ...requestOf(taskParam('late')), ...listedTerms });
  await patient.drain(180_000);
  assert.deepEqual(outcomes.splice(0), ['cancelled 132', 'refunded']);
  assert.equal((await findTask(database.db, task.taskId))?.failure?.failCode, 'cancelled');
});

test('a task that has succeeded meanwhile stays delivered and charged; one that never was is forgotten', async () => {
  const accountId = await createAccount(database.db, { name: 'done', credits: 132 });
  const task = { taskId: uuidv7(), accountId };
  await acceptTaskAlone(database.db, { ...task, ...requestOf(taskParam('done')), ...listedTerms });
  await completeTask(database.db, task.taskId, madeUpResult);
  lines.length = 0;
  uncertainCreates.add(task);
  uncertainCreates.add({ taskId: uuidv7(), accountId });
  await uncertainCreates.drain(180_000);
  assert.deepEqual(outcomes.splice(0), ['too_late', 'none']);
  const [{ since, ...line } = assert.fail(), ...others] = lines.splice(0);
  assert.equal(typeof since, 'number');
  const found = { level: 40, ...task, outcome: 'too_late', msg: 'uncertain create found' };
  assert.deepEqual([line, others], [found, []]);
  assert.equal((await findTask(database.db, task.taskId))?.state, 'success');
});

test('draining is bounded while the database is unavailable, and names what is left', async () => {
  isUnavailable = true;
  const stopped = watching({});
  const left = [1, 2].map(() => ({ taskId: uuidv7(), accountId: uuidv7() }));
  lines.length = 0;
  for (const task of left) stopped.add(task);
  await stopped.drain(50);
  isUnavailable = false;
  const named = lines.map(({ level, taskId, accountId, msg }) => ({ level, taskId, accountId, msg }));
  const msg = 'uncertain create not resolved before shutdown';
  assert.deepEqual(
    named,
    left.map((task) => ({ level: 50, ...task, msg })),
  );
});
