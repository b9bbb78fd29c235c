import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { listExpiredMedia, markMediaDeleted } from '../../../src/tasks/end/expired-media-rows.ts';
import {
  countTasksWithFailingWorkflow,
  listUnfinishedTasks,
  recordStuckSince,
} from '../../../src/tasks/list/unfinished-and-stuck-tasks.ts';
import { listDueTerminations, removeTermination } from '../../../src/tasks/list/workflow-terminations.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

// What reconcile and housekeeping read.

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'tasks', credits: 0 });
});
after(() => database.close());

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const succeededAgo = (ms: number) => ({ state: 'success', result: '{}', completed_at: ago(ms) });
type Row = Readonly<Record<string, unknown>>;
const newTask = (db: StatementRunner, row: Row = {}) => insertTask(db, accountId, row);

test('unfinished tasks are listed from their age on, the oldest first, with how long they ran', () =>
  rolledBack(database.db, async (db) => {
    const base = { accountId, model: 'm', state: 'waiting', deadlineMs: 60_000 };
    const flags = { isStuck: false, isGenerating: false, isFetching: false };
    const generating = { state: 'generating', generation_started_at: ago(9_000) };
    const seen = (ms: number) => ({ ...generating, attempt_started_at: ago(ms + 4_000), attempt_seen_at: ago(ms) });
    const expected: unknown[] = [];
    for (const [row, fields] of [
      [{}, { ranMs: 0 }],
      [
        { state: 'queuing', stuck_since: ago(0) },
        { state: 'queuing', ranMs: 0, isStuck: true },
      ],
      [
        { ...generating, generation_spent_ms: 500 },
        { state: 'generating', ranMs: 9_500 },
      ],
      [
        { ...seen(2 * minuteMs), generation_spent_ms: 500 },
        { state: 'generating', ranMs: 4_500 },
      ],
      [seen(2 * minuteMs - 1), { state: 'generating', ranMs: 4_000, isGenerating: true }],
      [
        { ...generating, attempt_seen_at: ago(0) },
        { state: 'generating', ranMs: 0, isGenerating: true },
      ],
      [
        { deadline_ms: 7, model: 'other' },
        { model: 'other', deadlineMs: 7, ranMs: 0 },
      ],
    ] as const) {
      const ageMs = hourMs - expected.length;
      const taskId = await newTask(db, { created_at: ago(ageMs), ...row });
      expected.push({ ...base, ...flags, taskId, ageMs, ...fields });
    }
    const ended = { ordinal: 1, provider: 'a', upstream_ended_at: ago(0) };
    for (const [job, isFetching] of [
      [ended, true],
      [{ ...ended, outcome: 'fail' }, false],
      [{ ...ended, upstream_ended_at: null }, false],
    ] as const) {
      const ageMs = hourMs - expected.length;
      const taskId = await newTask(db, { created_at: ago(ageMs) });
      await insertRow(db, 'provider_jobs', { task_id: taskId, ...job });
      expected.push({ ...base, ...flags, taskId, ageMs, ranMs: 0, isFetching });
    }
    await newTask(db, { created_at: ago(minuteMs) });
    await newTask(db, { created_at: ago(hourMs), ...failedAgo(0) });
    const list = (limit: number, from?: string) => listUnfinishedTasks(db, { minAgeMs: minuteMs, after: from, limit });
    const all = await list(99);
    assert.deepEqual(all, expected);
    assert.deepEqual(await list(1), expected.slice(0, 1));
    assert.deepEqual(await list(99, all[2]?.taskId), expected.slice(3));
  }));

test('a stuck task is marked when that is new, and only an unfinished one counts', () =>
  rolledBack(database.db, async (db) => {
    const [taskId, ended, other] = [await newTask(db), await newTask(db, failedAgo(0)), await newTask(db)];
    assert.deepEqual(await recordStuckSince(db, taskId, 1_000), { id: taskId });
    assert.equal(await recordStuckSince(db, taskId, 1_000), undefined);
    assert.deepEqual(await recordStuckSince(db, taskId, 2_000), { id: taskId });
    assert.equal(await recordStuckSince(db, ended, 1_000), undefined);
    assert.equal(await recordStuckSince(db, other, undefined), undefined);
    await newTask(db, { ...failedAgo(0), stuck_since: ago(0) });
    assert.deepEqual(await countTasksWithFailingWorkflow(db), { tasks: 1 });
    assert.deepEqual(await recordStuckSince(db, taskId, undefined), { id: taskId });
    assert.deepEqual(await countTasksWithFailingWorkflow(db), { tasks: 0 });
  }));

test('due terminations are listed, the oldest first, each once over all pages, until they are removed', () =>
  rolledBack(database.db, async (db) => {
    const add = async (dueMs: number, reason: string) => {
      const taskId = await newTask(db, failedAgo(0));
      await insertRow(db, 'workflow_terminations', { task_id: taskId, reason, due_at: ago(dueMs) });
      return taskId;
    };
    const [second, first] = [await add(0, 'b'), await add(minuteMs, 'a')];
    await add(-1, 'not yet');
    const list = (from?: Awaited<ReturnType<typeof listDueTerminations>>[number], limit = 9) =>
      listDueTerminations(db, { after: from, limit });
    const all = await list();
    assert.deepEqual(
      all.map(({ taskId, reason }) => [taskId, reason]),
      [
        [first, 'a'],
        [second, 'b'],
      ],
    );
    assert.equal((all[1]?.dueAtUs ?? 0) - (all[0]?.dueAtUs ?? 0), minuteMs * 1_000);
    assert.deepEqual(
      [await list(undefined, 1), await list(all[0]), await list(all[1])],
      [all.slice(0, 1), all.slice(1), []],
    );
    await removeTermination(db, first);
    assert.deepEqual(await list(), all.slice(1));
  }));

test('media expire with their retention, those of failed tasks earlier and once more after 26 hours', () =>
  rolledBack(database.db, async (db) => {
    const dayMs = 24 * hourMs;
    const [retentionMs, failedTaskMediaMs] = [10 * dayMs, hourMs];
    const cleaned = (endedMs: number, afterMs: number) => ({
      ...failedAgo(endedMs),
      media_deleted_at: ago(endedMs - afterMs),
    });
    const expired: string[] = [];
    for (const row of [
      succeededAgo(retentionMs + 2),
      succeededAgo(retentionMs + 1),
      cleaned(26 * hourMs + 1, 26 * hourMs - 1),
      failedAgo(failedTaskMediaMs + 1),
    ])
      expired.push(await newTask(db, row));
    for (const row of [
      succeededAgo(retentionMs),
      { ...succeededAgo(retentionMs + 1), media_deleted_at: ago(0) },
      failedAgo(failedTaskMediaMs),
      cleaned(26 * hourMs, hourMs),
      cleaned(30 * hourMs, 26 * hourMs),
      {},
    ])
      await newTask(db, row);
    const list = async (limit: number, from?: string) => {
      const page = { retentionMs, failedTaskMediaMs, after: from === undefined ? undefined : { taskId: from }, limit };
      return (await listExpiredMedia(db, page)).map(({ taskId }) => taskId);
    };
    assert.deepEqual(await list(99), expired);
    const pages: string[] = [];
    for (let page = await list(1); page.length > 0; page = await list(1, page[0])) pages.push(...page);
    assert.deepEqual(pages, expired);
    const [success, , failed, first] = expired;
    for (const taskId of [success, failed, first]) await markMediaDeleted(db, taskId ?? '');
    const text = 'select id, media_deleted_at = now() as is_now from tasks where media_deleted_at is not null';
    const marked = await db.run<{ id: string; is_now: boolean }>({ name: 'test-marked', text }, []);
    assert.deepEqual(
      new Set(marked.filter(({ id }) => expired.includes(id)).map(({ id, is_now: isNow }) => `${id} ${isNow}`)),
      new Set([success, failed, first].map((id) => `${id} true`)),
    );
    assert.deepEqual(await list(99), expired.slice(1, 2));
    const [kept] = [await newTask(db, { ...succeededAgo(1), media_deleted_at: ago(minuteMs) })];
    await markMediaDeleted(db, kept);
    const again = await db.run<{ id: string; is_now: boolean }>({ name: 'test-marked', text }, []);
    assert.equal(again.find(({ id }) => id === kept)?.is_now, false, 'the first time stays for a video');
  }));
