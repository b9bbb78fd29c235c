import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { deleteContent } from '../../activities/delete-content.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createReconcileActivities } from '../../activities/reconcile.ts';
import { uploadKey } from '../../src/domain/upload.ts';
import { closeAccountAs } from '../../src/stores/account-closure.ts';
import { createAccount } from '../../src/stores/accounts.ts';
import { deleteTaskContent } from '../../src/stores/content-deletion.ts';
import type { Database, Statement } from '../../src/stores/database.ts';
import { findTask, refundTask } from '../../src/stores/tasks.ts';
import { activityDeps } from '../support/activity-deps.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventsInto } from '../support/events.ts';
import { silentActivity } from '../support/silent-activity.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { untilTurn } from '../support/until-turn.ts';

let database: TestDatabase;
let db: Database;
let folder: string;
beforeEach(async () => {
  database = await createTestDatabase();
  ({ db } = database);
  folder = await mkdtemp(join(tmpdir(), 'videogen-delete-'));
});
afterEach(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const run = <T>(work: () => Promise<T>) => silentActivity({ workflowId: 'reconcile' }, work);
const away = () => Promise.reject(new Error('the store is away'));

/** A world in which Temporal forgets every task; `findings` takes what was found. */
function deps(changes: Partial<ActivityDeps> = {}, findings: string[] = []): ActivityDeps {
  const given = activityDeps(db, folder, []);
  const engine = { ...given.engine, forgetTask: () => Promise.resolve(true) };
  const events = eventsInto('reconcile_finding', ({ finding }) => void findings.push(finding));
  return { ...given, engine, events, ...changes };
}

const newAccount = () => createAccount(db, { name: 'test', credits: 10_000_000 });
const close = (accountId: string) =>
  closeAccountAs(db, { kind: 'command_line', name: 'ada' }, { accountId, reason: 'asked for' });

async function failedTask(accountId: string): Promise<string> {
  const taskId = await acceptTestTask(db, accountId, taskParam('a secret'));
  await refundTask(db, taskId, { failCode: 'cancelled', failMsg: 'A test.' });
  return taskId;
}

/** A failed task and copies of it, each older than the one before. */
async function failedTasks(accountId: string, total: number): Promise<readonly string[]> {
  const taskId = await failedTask(accountId);
  await ask(
    `insert into tasks (id, account_id, model, param, state, credits_charged, credits_refunded, fail_code, fail_msg,
      request_sha256, created_at, completed_at)
    select gen_random_uuid(), account_id, model, param, state, credits_charged, credits_refunded, fail_code, fail_msg,
      request_sha256, created_at - n * interval '1 minute', completed_at
    from tasks cross join generate_series(1, $2) n where id = $1`,
    [taskId, total - 1],
  );
  return (await ask('select id from tasks where account_id = $1', [accountId])).map(({ id }) => String(id));
}

async function deletedTasks(accountId: string, total: number): Promise<void> {
  for (const taskId of await failedTasks(accountId, total)) {
    const task = await findTask(db, taskId);
    assert.ok(task);
    await deleteTaskContent(db, task, []);
  }
}

/** They failed so long ago that their media may go. */
async function expireTasks(accountId: string): Promise<void> {
  await ask('alter table tasks disable trigger final_tasks_never_change');
  await ask(`update tasks set completed_at = now() - interval '61 minutes' where account_id = $1`, [accountId]);
  await ask('alter table tasks enable trigger final_tasks_never_change');
}

const addUploads = (accountId: string, total: number, expiresAt: string) =>
  ask(
    `insert into uploads (id, account_id, bytes, expires_at)
    select gen_random_uuid(), $1, 1, ${expiresAt} from generate_series(1, $2) n`,
    [accountId, total],
  );

async function ask(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
  return db.run({ name: 'test-ask', text, plannedAnew: true }, values);
}

const count = async (what: string) => (await ask(`select count(*)::int as count from ${what}`))[0]?.['count'];
const finished = async () =>
  (await ask('select account_id as id from account_closures where finished_at is not null')).map(({ id }) => id);

/** A database that fails at statements. */
function failing(isBad: (statement: Statement, values: readonly unknown[]) => boolean): Database {
  return {
    ...db,
    run: (statement, values = []) =>
      isBad(statement, values) ? Promise.reject(new Error('canceling statement')) : db.run(statement, values),
  };
}

test('a closed account that cannot be emptied delays no other one', async () => {
  const [stuck, other] = [await newAccount(), await newAccount()];
  // A whole page of images, and the store deletes none.
  await addUploads(stuck, 200, `now() + interval '1 day'`);
  const taskId = await failedTask(other);
  for (const accountId of [stuck, other]) await close(accountId);
  const findings: string[] = [];
  const { media } = deps();
  const broken = {
    ...media,
    delete: (key: string) => (key.startsWith('uploads/') ? away() : media.delete(key)),
  };
  await run(() => deleteContent(deps({ media: broken }, findings), 60_000));
  assert.ok(findings.length > 200, 'the images, and their page');
  assert.notEqual((await findTask(db, taskId))?.contentDeletedAt, undefined);
  assert.deepEqual(await finished(), [other]);
});

test('all deletions that are due are swept in one run, however many pages they fill', async () => {
  await deletedTasks(await newAccount(), 450);
  await run(() => deleteContent(deps(), 60_000));
  assert.equal(await count('content_deletions where swept_at is not null'), 450);
});

test('deletions that cannot be done keep nothing else from its turn, and fail the run', async () => {
  const [accountId, closed] = [await newAccount(), await newAccount()];
  await deletedTasks(await newAccount(), 200);
  const expired = await failedTask(accountId);
  await expireTasks(accountId);
  await addUploads(accountId, 3, `now() - interval '51 hours'`);
  const waiting = await failedTask(accountId);
  await ask(`insert into place_waits (task_id, pool, account_id, due_at)
    values ('${waiting}', 'a/b', '${accountId}', now() - interval '1 hour')`);
  await close(closed);
  const { engine } = deps();
  const world = deps({ engine: { ...engine, forgetTask: away } });
  await assert.rejects(run(createReconcileActivities(world).deleteExpiredMedia), /all 200 rows of a page failed/);
  assert.equal(await count('content_deletions where swept_at is not null'), 0);
  assert.notEqual((await findTask(db, expired))?.mediaDeletedAt, undefined);
  assert.deepEqual([await count('uploads'), await count('place_waits')], [0, 0]);
  assert.deepEqual(await finished(), [closed]);
});

test('a closure that cannot be looked at keeps neither the others nor the deletions from their turn', async () => {
  const [stuck, other] = [await newAccount(), await newAccount()];
  for (const accountId of [stuck, other]) await close(accountId);
  await deletedTasks(await newAccount(), 1);
  const findings: string[] = [];
  const bad = failing(
    ({ name }, [value]) =>
      name === 'list-account-closures-to-empty' || (name === 'is-account-empty' && value === stuck),
  );
  await assert.rejects(
    run(() => deleteContent(deps({ db: bad }, findings), 60_000)),
    /canceling statement/,
  );
  assert.deepEqual([await finished(), findings], [[other], ['failed']]);
  assert.equal(await count('content_deletions where swept_at is not null'), 1);
});

test('a run ends in time however slow the store is, and all kinds of housekeeping have had a turn', async (t) => {
  const accountId = await newAccount();
  const [closed, deleted] = [await newAccount(), await newAccount()];
  await failedTasks(accountId, 250);
  await expireTasks(accountId);
  await addUploads(accountId, 250, `now() - interval '51 hours'`);
  await addUploads(closed, 250, `now() + interval '1 day'`);
  await deletedTasks(deleted, 250);
  await failedTasks(closed, 250);
  await close(closed);
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const { media } = deps();
  const slow = {
    ...media,
    delete: (key: string) => {
      nowMs += 50;
      return media.delete(key);
    },
  };
  await run(createReconcileActivities(deps({ media: slow })).deleteExpiredMedia);
  assert.ok(nowMs >= 60_000 && nowMs < 90_000, `the activity has 90 s, and took ${nowMs} ms`);
  for (const what of [
    `tasks where account_id = '${accountId}' and media_deleted_at is not null`,
    `tasks where account_id = '${closed}' and content_deleted_at is not null`,
    'content_deletions where swept_at is not null',
  ])
    assert.ok(Number(await count(what)) > 0, what);
  for (const id of [accountId, closed]) assert.ok(Number(await count(`uploads where account_id = '${id}'`)) < 250, id);
});

test('a large closed account is emptied without reading again what is emptied, once it was looked through', async () => {
  const closed = await newAccount();
  await failedTasks(closed, 500);
  await failedTasks(await newAccount(), 5_000);
  await close(closed);
  const oldest = `select id from tasks where account_id = $1 order by created_at limit 100`;
  const late = new Set((await ask(oldest, [closed])).map(({ id }) => id));
  const bad = failing(({ name }, [taskId]) => name === 'delete-task-content' && late.has(taskId));
  await run(() => deleteContent(deps({ db: bad }), 60_000));
  assert.equal(await count(`tasks where account_id = '${closed}' and content_deleted_at is null`), 100);

  await ask('analyze tasks');
  const read = new Map<string, number>();
  const watched: Database = {
    ...bad,
    run: async (statement, values) => {
      if (statement.text.includes('from tasks')) read.set(statement.name, await rowsRead(statement, values ?? []));
      return bad.run(statement, values);
    },
  };
  await run(() => deleteContent(deps({ db: watched }), 60_000));
  assert.ok(read.has('list-account-closures-to-empty') && read.has('list-tasks-with-content'));
  for (const [name, rows] of read) assert.ok(rows <= 200, `${name} has read ${rows} rows`);
  await run(() => deleteContent(deps(), 60_000));
  assert.deepEqual(await finished(), [closed]);
});

/** How many rows of tasks a statement reads, in a transaction that is not committed. */
async function rowsRead({ text }: Statement, values: readonly unknown[]): Promise<number> {
  const rolledBack = new Error('not to be committed');
  let rows = 0;
  await db
    .transaction(async (inner) => {
      const statement = { name: 'test-explain', text: `explain (analyze, format json) ${text}`, plannedAnew: true };
      const [answer] = await inner<{ 'QUERY PLAN': readonly { Plan: Plan }[] }>(statement, values);
      rows = rowsOf(answer?.['QUERY PLAN'][0]?.Plan);
      throw rolledBack;
    })
    .catch((error: unknown) => assert.equal(error, rolledBack));
  return rows;
}

type Plan = {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
};

function rowsOf(plan: Plan | undefined): number {
  if (plan === undefined) return 0;
  const own = (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
  const below = (plan.Plans ?? []).map(rowsOf).reduce((sum, rows) => sum + rows, 0);
  return below + (plan['Relation Name'] === 'tasks' ? own : 0);
}

test('a row that the store does not answer about is left behind, and the next ones go on', async (t) => {
  const accountId = await newAccount();
  await addUploads(accountId, 20, `now() - interval '51 hours'`);
  const [silent] = await ask('select id from uploads order by expires_at limit 1');
  const { media } = deps();
  const findings: string[] = [];
  const hung = {
    ...media,
    delete: (key: string) =>
      key === uploadKey(String(silent?.['id'])) ? new Promise<never>(() => {}) : media.delete(key),
  };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const running = run(createReconcileActivities(deps({ media: hung }, findings)).deleteExpiredMedia);
  const ended = running.then(() => 'ended');
  await untilTurn('the other rows', () => findings.filter((finding) => finding === 'upload_expired').length === 19);
  t.mock.timers.tick(15_000);
  assert.equal(await ended, 'ended');
  assert.deepEqual(await ask('select id from uploads'), [silent]);
});
