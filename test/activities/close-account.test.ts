import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { wireActivities, type WorkerParts } from '../../src/run/main/wire-activities.ts';
import { closeAccountAs } from '../../src/tasks/end/close-account-rows.ts';
import { ensureSigningSecrets } from '../../src/tasks/callbacks/signing-secrets.ts';
import { setEventEndpoint } from '../../src/tasks/callbacks/event-endpoint.ts';
import { setLowBalanceThreshold } from '../../src/credits/ledger/balance-and-low-balance-threshold.ts';
import { eventTypes } from '../../src/tasks/callbacks/account-event-types-and-body.ts';
import { createSecretBox } from '../../src/platform/secrets/secret-box.ts';
import { createAccount } from '../../src/credits/open-account.ts';
import { listTaskEntries } from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { completeTask } from '../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { eventsInto, recordEvents } from '../support/service/metric-event-sinks.ts';
import { recordLog } from '../support/log-lines.ts';
import { workerParts } from '../support/service/worker-parts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { interruptedParts, Killed } from '../support/processes/dying-worker-parts.ts';
import { addUploads, failedTasks } from '../support/tasks/bulk-rows.ts';
import { silentActivity } from '../support/workflows/silent-activity.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../support/tasks/tasks.ts';

let database: TestDatabase;
let db: Database;
let folder: string;
let cancelled: string[];
beforeEach(async () => {
  database = await createTestDatabase();
  ({ db } = database);
  folder = await mkdtemp(join(tmpdir(), 'videogen-closing-'));
  cancelled = [];
});
afterEach(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

/** Temporal cancels and forgets every task. */
function parts(changes: Partial<WorkerParts> = {}): WorkerParts {
  const given = workerParts(db, folder, []);
  const engine = {
    ...given.engine,
    cancelWorkflow: async (taskId: string) => cancelled.push(taskId) > 0,
    deleteTaskHistories: () => Promise.resolve(true),
  };
  return { ...given, engine, ...changes };
}

const inActivity = <T>(work: () => Promise<T>) => silentActivity({ workflowId: 'close-account' }, work);
const newAccount = () => createAccount(db, { name: 'test', credits: 10_000_000 });
const close = (accountId: string) =>
  closeAccountAs(db, { kind: 'command_line', name: 'ada' }, { accountId, reason: 'requested' });
const emptyPage = (accountId: string, after?: string, world = parts()) =>
  inActivity(() => wireActivities(world).main.emptyAccountPage({ accountId, after }));
const finish = (accountId: string, world = parts()) =>
  inActivity(() => wireActivities(world).main.finishClosing(accountId));

async function count(what: string): Promise<unknown> {
  const text = `select count(*)::int as count from ${what}`;
  return (await db.run<{ count: number }>({ name: 'test-count', text, plannedAnew: true }))[0]?.count;
}
const withContent = (accountId: string) =>
  count(`tasks where account_id = '${accountId}' and content_deleted_at is null`);

async function runningTask(accountId: string): Promise<string> {
  return acceptTestTask(db, accountId, taskParam('a secret', {}, 'http://receiver.test/'));
}

test('a closed account loses its tasks’ contents and its images, and what runs is refunded and cancelled without a callback', async () => {
  const accountId = await newAccount();
  const taskId = await runningTask(accountId);
  const failed = await failedTasks(db, accountId, 3);
  await addUploads(db, accountId, 2, `now() + interval '1 day'`);
  await close(accountId);
  const events = recordEvents('task_ended');
  const { log, lines } = recordLog();
  assert.deepEqual(await emptyPage(accountId, undefined, parts({ events, log })), { found: 6, after: undefined });
  assert.deepEqual(
    lines.splice(0).toSorted((one, other) => String(one['taskId']).localeCompare(String(other['taskId']))),
    [...failed, taskId].toSorted().map((id) => ({ level: 30, taskId: id, accountId, msg: 'content deleted' })),
  );
  assert.deepEqual(
    events.seen.map(({ task: { failure, creditsRefunded } }) => [failure?.failCode, creditsRefunded]),
    [['cancelled', 132]],
  );
  const task = await findTask(db, taskId);
  assert.deepEqual([task?.failure?.failCode, cancelled], ['cancelled', [taskId]]);
  assert.deepEqual(
    [await withContent(accountId), await count('uploads'), await count('callback_deliveries')],
    [0, 0, 0],
  );
  assert.deepEqual(await emptyPage(accountId), { found: 0, after: undefined });
  for (const _time of [1, 2]) assert.equal(await finish(accountId, parts({ log })), true);
  assert.deepEqual(lines, [{ level: 30, accountId, msg: 'closed account emptied' }], 'once');
  assert.equal(await count('account_closures where finished_at is not null'), 1);
});

test('a closed account has no event endpoint, no event about its end, and finally no events and no secret', async () => {
  const accountId = await newAccount();
  await setEventEndpoint(db, accountId, { url: 'http://events.test/', types: eventTypes });
  await setLowBalanceThreshold(db, accountId, 10_000_000);
  await ensureSigningSecrets(db, createSecretBox('s'.repeat(32)), accountId, 'event');
  const ended = await runningTask(accountId);
  await completeTask(db, ended, madeUpResult);
  await runningTask(accountId);
  assert.equal(await count('callback_deliveries where event is not null'), 2, 'a success and a low balance');
  await close(accountId);
  assert.equal(await count('event_endpoints'), 0);
  await emptyPage(accountId);
  assert.equal(await count('callback_deliveries where event is not null'), 1, 'that of the balance, which is not sent');
  assert.equal(await finish(accountId), true);
  assert.deepEqual([await count('callback_deliveries'), await count('callback_secrets')], [0, 0]);
});

test('a large account is emptied page by page, and each page reads no more than its own tasks', async () => {
  const accountId = await newAccount();
  await failedTasks(db, accountId, 250);
  await failedTasks(db, await newAccount(), 1_000);
  await close(accountId);
  await db.run({ name: 'test-analyze', text: 'analyze tasks' });
  const read: number[] = [];
  const watched: Database = {
    ...db,
    run: async (statement, values) => {
      const rows = await db.run(statement, values);
      if (statement.name === 'list-tasks-to-empty') read.push(rows.length);
      // The rows pass through as they are.
      return rows as never;
    },
  };
  let after: string | undefined;
  for (const left of [50, 0]) {
    ({ after } = await emptyPage(accountId, after, parts({ db: watched })));
    assert.equal(await withContent(accountId), left);
  }
  assert.deepEqual([after, read], [undefined, [200, 50]]);
  assert.equal(await withContent(await newAccount()), 0);
  assert.equal(await count('tasks where content_deleted_at is null'), 1_000, "another account's stay");
});

test('a page that dies anywhere is completed by the next attempt: one refund, and nothing left', async () => {
  for (let call = 0, hasDied = true; hasDied; call += 1) {
    for (const when of ['before', 'after'] as const) {
      const accountId = await newAccount();
      const taskId = await runningTask(accountId);
      await failedTasks(db, accountId, 1);
      await addUploads(db, accountId, 1, `now() + interval '1 day'`);
      await close(accountId);
      const dying = interruptedParts(parts(), { call, when });
      await emptyPage(accountId, undefined, dying.parts).catch((error: unknown) => assert.ok(error instanceof Killed));
      hasDied = dying.calls.length > call;
      await emptyPage(accountId);
      assert.deepEqual(await emptyPage(accountId), { found: 0, after: undefined });
      assert.equal(await finish(accountId), true);
      assert.deepEqual(
        (await listTaskEntries(db, taskId)).map(({ kind }) => kind),
        ['charge', 'refund'],
      );
    }
  }
});

test('two attempts at the same page do it once', async () => {
  const accountId = await newAccount();
  const taskId = await runningTask(accountId);
  await failedTasks(db, accountId, 50);
  await close(accountId);
  await Promise.all([emptyPage(accountId), emptyPage(accountId)]);
  assert.deepEqual(await emptyPage(accountId), { found: 0, after: undefined });
  assert.equal((await listTaskEntries(db, taskId)).length, 2);
  assert.deepEqual(await Promise.all([finish(accountId), finish(accountId)]), [true, true]);
});

test('tasks and images that cannot be deleted do not block the others, and keep the closure open', async () => {
  const accountId = await newAccount();
  const bad = new Set((await failedTasks(db, accountId, 30)).slice(0, 10));
  await addUploads(db, accountId, 5, `now() + interval '1 day'`);
  await close(accountId);
  const { engine, media } = parts();
  const deleteTaskHistories = async (taskId: string) => !bad.has(taskId);
  const broken = {
    ...media,
    delete: (key: string) => (key.startsWith('uploads/') ? Promise.reject(new Error('no')) : media.delete(key)),
  };
  const findings: string[] = [];
  const world = parts({
    engine: { ...engine, deleteTaskHistories },
    media: broken,
    events: eventsInto('reconcile_finding', ({ finding }) => void findings.push(finding)),
  });
  assert.equal((await emptyPage(accountId, undefined, world)).found, 35);
  assert.deepEqual([await withContent(accountId), findings], [0, Array.from({ length: 5 }, () => 'failed')]);
  assert.equal(await finish(accountId), false);
  assert.equal((await emptyPage(accountId)).found, 15, 'ten tasks and five images were left');
  assert.equal(await finish(accountId), true);
});

test('a page whose tasks all fail is tried again, because the store or Temporal is unavailable', async () => {
  const accountId = await newAccount();
  await failedTasks(db, accountId, 200);
  await close(accountId);
  const { engine } = parts();
  const down = parts({ engine: { ...engine, deleteTaskHistories: () => Promise.reject(new Error('no')) } });
  await assert.rejects(emptyPage(accountId, undefined, down), /all 200 tasks of a page failed/);
});

test('a workflow that outlives the restore of an older database deletes nothing of an account that is open there', async () => {
  const accountId = await newAccount();
  const taskId = await runningTask(accountId);
  await failedTasks(db, accountId, 3);
  await addUploads(db, accountId, 2, `now() + interval '1 day'`);
  assert.deepEqual(await emptyPage(accountId), { found: 0, after: undefined });
  assert.equal(await finish(accountId), true, 'which ends the workflow');
  assert.deepEqual([await withContent(accountId), await count('uploads'), cancelled], [4, 2, []]);
  assert.equal((await findTask(db, taskId))?.state, 'waiting');
});
