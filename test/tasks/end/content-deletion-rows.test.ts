import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import {
  clearContentAndListLeftoverJobs,
  deleteExpiredContent,
  deleteTaskContentInDatabase,
  deleteTaskContentAs,
  findOwedDeletion,
  finishDeletionSweep,
  listNeededUploads,
  listOwedDeletions,
} from '../../../src/tasks/end/content-deletion-rows.ts';
import { deletedMessage } from '../../../src/tasks/end/content-placeholders.ts';
import { taskEventId } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { ago, failedAgo, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { shell } from '../../support/service/person.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
let accountId: string;
let otherAccountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'own', credits: 0 });
  otherAccountId = await createAccount(database.db, { name: 'other', credits: 0 });
});
after(() => database.close());

const [secondMs, hourMs] = [1_000, 3_600_000];
type Row = Readonly<Record<string, unknown>>;
const param = JSON.stringify(taskParam('a secret'));
const failed = { ...failedAgo(0), param, callback_url: 'http://receiver.test/' };
const newTask = (db: StatementRunner, row: Row = failed, of = accountId) => insertTask(db, of, row);
const taskOf = async (db: StatementRunner, taskId: string) => (await findTask(db, taskId)) ?? assert.fail();
const rowsOf = (db: StatementRunner, text: string, values: readonly unknown[] = []) =>
  db.run({ name: 'test-rows', text, plannedAnew: true }, values);

async function addJob(db: StatementRunner, taskId: string, ordinal: number, row: Row): Promise<void> {
  await insertRow(db, 'provider_jobs', { task_id: taskId, ordinal, provider: 'upstream', ...row });
}

async function addDeliveries(db: StatementRunner, taskId: string, of = accountId, row: Row = {}): Promise<void> {
  const about = { task_id: taskId, account_id: of, url: 'http://receiver.test/' };
  await insertRow(db, 'callback_deliveries', { ...about, id: taskId, ...row });
  await insertRow(db, 'callback_deliveries', { ...about, id: taskEventId(taskId), event: 'task.failed', ...row });
}

test('a deletion takes the content of one task, its jobs and its deliveries, and nothing of another one', () =>
  rolledBack(database.db, async (db) => {
    const upload = (of: string) => ({ id: randomUUID(), account_id: of, file_name: 'video.mp4', bytes: 1 });
    const [own, kept, foreign] = [upload(accountId), upload(accountId), upload(otherAccountId)];
    for (const one of [own, kept, foreign]) await insertRow(db, 'uploads', { ...one, expires_at: ago(-hourMs) });
    const contents = { fail_code: 'internal', fail_msg: 'a secret', detail: 'a secret', handle: '{"url":"secret"}' };
    const add = async (of: string) => {
      const taskId = await newTask(db, failed, of);
      await addJob(db, taskId, 1, { ...contents, job_id: 'ended', outcome: 'fail' });
      await addJob(db, taskId, 2, { job_id: 'runs', handle: '{"url":"secret"}', intended_at: ago(0) });
      await addJob(db, taskId, 3, { intended_at: ago(0) });
      await addJob(db, taskId, 4, { reserved_at: ago(0) });
      await addJob(db, taskId, 5, { intended_at: ago(0), settled_at: ago(0), sent_input: '{"prompt":"a secret"}' });
      await addDeliveries(db, taskId, of);
      return taskId;
    };
    const [taskId, other] = [await add(accountId), await add(accountId)];
    const jobsOf = (of: string) =>
      rowsOf(
        db,
        'select ordinal, detail, fail_msg, handle, sent_input from provider_jobs where task_id = $1 order by 1',
        [of],
      );
    const stateOf = async (of: string) => [
      await rowsOf(db, 'select to_jsonb(t) as row from tasks t where id = $1', [of]),
      await jobsOf(of),
      await rowsOf(db, 'select id from callback_deliveries where task_id = $1 order by event nulls first', [of]),
    ];
    const untouched = await stateOf(other);
    const earlier = await taskOf(db, taskId);
    const deletion = (await deleteTaskContentInDatabase(db, earlier, [own.id, foreign.id])) ?? assert.fail();
    assert.equal(deletion.changed, true);
    const task = await taskOf(db, taskId);
    assert.deepEqual(task, {
      ...earlier,
      param: { model: earlier.param.model, input: { ...earlier.param.input, prompt: '(deleted)' } },
      failure: { failCode: 'internal', failMsg: deletedMessage },
      mediaDeletedAt: deletion.deletedAt,
      contentDeletedAt: deletion.deletedAt,
    });
    const [raw] = await rowsOf(
      db,
      'select callback_url, encode(request_sha256, $$hex$$) as hash from tasks where id = $1',
      [taskId],
    );
    assert.deepEqual(raw, { callback_url: null, hash: '0'.repeat(64) });
    const empty = { detail: null, fail_msg: null, handle: null, sent_input: null };
    assert.deepEqual(await jobsOf(taskId), [
      { ...empty, ordinal: 1, fail_msg: deletedMessage },
      { ...empty, ordinal: 2, handle: { url: 'secret' } },
      { ...empty, ordinal: 3, sent_input: earlier.param.input },
      { ...empty, ordinal: 4 },
      { ...empty, ordinal: 5 },
    ]);
    assert.deepEqual(await rowsOf(db, 'select id from callback_deliveries where task_id = $1', [taskId]), []);
    assert.deepEqual(await stateOf(other), untouched);
    const expired = await rowsOf(db, 'select id from uploads where expires_at <= now()');
    assert.deepEqual(expired, [{ id: own.id }]);
    const owed = await rowsOf(db, 'select task_id, account_id, upload_ids, swept_at from content_deletions');
    const uploadIds = [own.id, foreign.id];
    assert.deepEqual(owed, [{ task_id: taskId, account_id: accountId, upload_ids: uploadIds, swept_at: null }]);
    assert.deepEqual(await deleteTaskContentInDatabase(db, earlier, []), { ...deletion, changed: false });
    assert.equal(await deleteTaskContentInDatabase(db, await taskOf(db, await newTask(db, { param })), []), undefined);
  }));

test('an operator’s deletion is recorded once, and one of an unfinished task is not', () =>
  rolledBack(database.db, async (db) => {
    const [taskId, unfinished] = [await newTask(db), await newTask(db, { param })];
    const task = await taskOf(db, taskId);
    const remove = (of: typeof task) =>
      deleteTaskContentAs(db, shell, { task: of, uploadIds: [], reason: 'requested' });
    const changed = [
      (await remove(task))?.changed,
      (await remove(task))?.changed,
      await remove(await taskOf(db, unfinished)),
    ];
    assert.deepEqual(changed, [true, false, undefined]);
    const actions = await listOperatorActions(db, { limit: 9 });
    assert.deepEqual(
      actions.map((one) => [one.action, one.accountId, one.taskId, one.details]),
      [['tasks.delete', accountId, taskId, { reason: 'requested' }]],
    );
  }));

test('content expires some time after the end of a task, unless a job may still run or a delivery is pending', () =>
  rolledBack(database.db, async (db) => {
    const limit = Date.parse('2020-01-05T00:00:00Z');
    const ended = (ms: number) => ({ ...failed, completed_at: new Date(limit + ms) });
    const add = async (row: Row, job?: Row, delivery?: Row) => {
      const taskId = await newTask(db, row);
      if (job !== undefined) await addJob(db, taskId, 1, job);
      if (delivery !== undefined) await addDeliveries(db, taskId, accountId, delivery);
      return taskId;
    };
    const done = { state: 'delivered', finished_at: ago(0) };
    const expired = [
      await add(ended(-3)),
      await add(ended(-2), { intended_at: ago(0), outcome: 'fail' }),
      await add(ended(-1), { reserved_at: ago(0) }, done),
    ];
    const kept = [
      await add(ended(0)),
      await add(ended(-1), { intended_at: ago(0) }),
      await add(ended(-1), undefined, {}),
      await add({ param }),
    ];
    const callbackOnly = await add(ended(-1));
    await insertRow(db, 'callback_deliveries', {
      id: callbackOnly,
      task_id: callbackOnly,
      account_id: accountId,
      url: 'http://a.test/',
    });
    const deleted = async () => {
      const found: string[] = [];
      for (const id of [...expired, ...kept, callbackOnly])
        if ((await taskOf(db, id)).contentDeletedAt !== undefined) found.push(id);
      return found;
    };
    assert.equal(await deleteExpiredContent(db, limit, 1), 1);
    assert.deepEqual(await deleted(), expired.slice(0, 1));
    assert.equal(await deleteExpiredContent(db, limit, 9), 2);
    assert.deepEqual(await deleted(), expired);
  }));

test('owed deletions are listed when they are due, the longest first, and swept once more after 26 hours', () =>
  rolledBack(database.db, async (db) => {
    const add = async (endedMs: number, dueMs: number, uploadIds: readonly string[] = []) => {
      const taskId = await newTask(db, { ...failed, ...failedAgo(endedMs), content_deleted_at: ago(0) });
      const row = { task_id: taskId, account_id: accountId, upload_ids: uploadIds, due_at: ago(dueMs) };
      await insertRow(db, 'content_deletions', row);
      return taskId;
    };
    const upload = randomUUID();
    const [second, first, later] = [
      await add(26 * hourMs, 0),
      await add(26 * hourMs + 1, 5, [upload]),
      await add(0, -1),
    ];
    const list = (limit: number, from?: Awaited<ReturnType<typeof listOwedDeletions>>[number]) =>
      listOwedDeletions(db, { after: from, limit });
    const all = await list(9);
    assert.deepEqual(
      all.map(({ dueAtUs: _due, ...one }) => one),
      [
        { taskId: first, accountId, uploadIds: [upload], isLast: true },
        { taskId: second, accountId, uploadIds: [], isLast: false },
      ],
    );
    assert.deepEqual([await list(1), await list(9, all[0])], [all.slice(0, 1), all.slice(1)]);
    assert.deepEqual(await findOwedDeletion(db, second), all[1]);
    assert.equal((await findOwedDeletion(db, later))?.taskId, later);
    assert.equal(await findOwedDeletion(db, randomUUID()), undefined);
    for (const one of all) await finishDeletionSweep(db, one);
    const state = () =>
      rowsOf(
        db,
        `
select task_id, (extract(epoch from now() - swept_at) * 1000)::int as swept, (extract(epoch from due_at - now()) * 1000)::int as due
from content_deletions order by due_at`,
      );
    const untouched = { task_id: later, swept: null, due: 1 };
    assert.deepEqual(await state(), [{ task_id: second, swept: 0, due: 0 }, untouched]);
    const third = await add(hourMs, 0);
    await finishDeletionSweep(db, (await findOwedDeletion(db, third)) ?? assert.fail());
    assert.deepEqual((await state()).at(-1), { task_id: third, swept: 0, due: 25 * hourMs });
  }));

test('a file is needed while an unfinished task of its account uses it', () =>
  rolledBack(database.db, async (db) => {
    const ids = [randomUUID(), randomUUID(), randomUUID(), randomUUID()] as const;
    for (const id of ids)
      await insertRow(db, 'uploads', {
        id,
        account_id: accountId,
        file_name: 'video.mp4',
        bytes: 1,
        expires_at: ago(0),
      });
    const using = (id: string) =>
      JSON.stringify(taskParam('a', { imageUrls: [`http://media.test/uploads/${id}/image.png`] }));
    await newTask(db, { param: using(ids[0]) });
    await newTask(db, { ...failed, param: using(ids[1]) });
    await newTask(db, { param: using(ids[2]) }, otherAccountId);
    assert.deepEqual(await listNeededUploads(db, accountId, ids), [{ uploadId: ids[0] }]);
    assert.deepEqual(await listNeededUploads(db, accountId, ids.slice(1)), []);
  }));

test('what live attempts record after a deletion is deleted, except what is needed to find and stop a job', () =>
  rolledBack(database.db, async (db) => {
    const [taskId, other] = [await newTask(db), await newTask(db)];
    const content = {
      detail: 'a secret',
      fail_code: 'internal',
      fail_msg: 'a secret',
      handle: '{"a":1}',
      sent_input: '{"b":2}',
    };
    const dayMs = 24 * hourMs;
    for (const [ordinal, row] of [
      [1, { intended_at: ago(dayMs - secondMs) }],
      [2, { intended_at: ago(dayMs) }],
      [3, { intended_at: ago(0), outcome: 'success' }],
    ] as const) {
      for (const of of [taskId, other]) await addJob(db, of, ordinal, { ...content, ...row });
    }
    const running = (await clearContentAndListLeftoverJobs(db, taskId)).map(({ ordinal }) => ordinal);
    assert.deepEqual(new Set(running), new Set([1, 2]));
    const jobsOf = (of: string) =>
      rowsOf(db, 'select detail, fail_msg, handle, sent_input from provider_jobs where task_id = $1 order by ordinal', [
        of,
      ]);
    const cleared = { detail: null, fail_msg: deletedMessage, handle: null, sent_input: null };
    const handle = { a: 1 };
    assert.deepEqual(await jobsOf(taskId), [
      { ...cleared, handle, sent_input: { b: 2 } },
      { ...cleared, handle },
      cleared,
    ]);
    const kept = { detail: 'a secret', fail_msg: 'a secret', handle, sent_input: { b: 2 } };
    assert.deepEqual(await jobsOf(other), [kept, kept, kept]);
  }));
