import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { createHousekeepingStepActivity, type HousekeepDeps } from '../../../activities/maintenance/housekeeping.ts';
import { referenceFolderOf, resultKeysOf, stagingKeysOf } from '../../../activities/task-file-keys-and-deletion.ts';
import type { HousekeepingStep } from '../../../src/temporal/schedules/housekeeping-steps.ts';
import { uploadKey } from '../../../src/media/references/upload-limits-and-addresses.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { eraseUserAs } from '../../../src/accounts/people/erasure.ts';
import { deleteTaskContentInDatabase } from '../../../src/tasks/end/content-deletion-rows.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { intendOwnMachineJob, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { endProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import { hourMs } from '../../../src/platform/timing/milliseconds-per-unit.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { reserveUpload, listExpiredUploads } from '../../../src/media/references/upload-rows.ts';
import { eventsInto, recordEvents } from '../../support/service/metric-event-sinks.ts';
import { recordLog } from '../../support/log-lines.ts';
import { workerParts } from '../../support/service/worker-parts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { addUploads, failedTasks } from '../../support/tasks/bulk-rows.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { untilTurn } from '../../support/until-turn.ts';

let database: TestDatabase;
let db: Database;
let folder: string;
let accountId: string;
beforeEach(async () => {
  database = await createTestDatabase();
  ({ db } = database);
  folder = await mkdtemp(join(tmpdir(), 'videogen-housekeeping-'));
  accountId = await createAccount(db, { name: 'test', credits: 10_000_000 });
});
afterEach(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const expired = `now() - interval '51 hours'`;

/** Temporal forgets every task. */
function deps(changes: Partial<HousekeepDeps> = {}) {
  const { log, events, settings } = workerParts(db, folder, []);
  const engine = { deleteTaskHistories: () => Promise.resolve(true) };
  const media = createFolderStore(folder);
  return { db, log, events, media, engine, retention: settings.retention, ...changes };
}

const run = (step: HousekeepingStep, world = deps()) =>
  silentActivity({ workflowId: 'housekeeping' }, () => createHousekeepingStepActivity(world)(step));

async function query(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
  return db.run({ name: 'test-query', text, plannedAnew: true }, values);
}
const count = async (what: string) => (await query(`select count(*)::int as count from ${what}`))[0]?.['count'];
const swept = () => count('content_deletions where swept_at is not null');

async function deletedTasks(total: number): Promise<readonly string[]> {
  const taskIds = await failedTasks(db, accountId, total);
  for (const taskId of taskIds) {
    const task = await findTask(db, taskId);
    assert.ok(task);
    await deleteTaskContentInDatabase(db, task, []);
  }
  return taskIds;
}

async function failedTask(): Promise<string> {
  const taskId = await acceptTestTask(db, accountId, taskParam('a secret'));
  await failAndRefund(db, taskId, { failCode: 'timeout', failMsg: 'A test.' });
  return taskId;
}

async function endedAgo(taskId: string, minutes: number): Promise<void> {
  await query('alter table tasks disable trigger final_tasks_never_change');
  await query(`update tasks set completed_at = now() - interval '${minutes} minutes',
    media_deleted_at = case when media_deleted_at is not null then now() - interval '${minutes - 61} minutes' end
    where id = '${taskId}'`);
  await query('alter table tasks enable trigger final_tasks_never_change');
}

/** Puts a file there, and returns whether a run of the step leaves it. */
async function survives(step: HousekeepingStep, key: string): Promise<boolean> {
  const media = createFolderStore(folder);
  const scrap = join(folder, 'scrap');
  await writeFile(scrap, 'x');
  await media.put(key, scrap);
  await run(step);
  return media.fetchTo(key, join(folder, randomUUID()));
}

test('what a failed task left in the store is deleted after an hour, and its record stays', async () => {
  const taskId = await failedTask();
  const { video: staged } = stagingKeysOf(taskId);
  const { video } = resultKeysOf(taskId, 'abc');
  assert.equal(await survives('deleteExpiredMedia', staged), true);
  await endedAgo(taskId, 61);
  const media = createFolderStore(folder);
  const scrap = join(folder, 'scrap');
  const left = [staged, video, `${referenceFolderOf(taskId)}/1.jpg`, `${referenceFolderOf(taskId)}/video-1.mp4`];
  for (const key of left) await media.put(key, scrap);
  const events = recordEvents('reconcile_finding');
  await run('deleteExpiredMedia', deps({ events }));
  assert.deepEqual(events.seen, [{ kind: 'reconcile_finding', finding: 'media_expired' }]);
  for (const key of left) assert.equal(await media.fetchTo(key, join(folder, 'gone')), false);
  const task = await findTask(db, taskId);
  assert.equal(task?.failure?.failCode, 'timeout');
  assert.notEqual(task.mediaDeletedAt, undefined);
});

test('what an attempt on a worker that was cut off leaves after that is deleted, too, once no attempt can be alive', async () => {
  const taskId = await failedTask();
  const { video: staged } = stagingKeysOf(taskId);
  await endedAgo(taskId, 61);
  assert.equal(await survives('deleteExpiredMedia', staged), false);
  await endedAgo(taskId, 25 * 60);
  assert.equal(await survives('deleteExpiredMedia', staged), true);
  await endedAgo(taskId, 26 * 60 + 1);
  assert.equal(await survives('deleteExpiredMedia', staged), false);
  assert.equal(await survives('deleteExpiredMedia', staged), true, 'this was the last time');
});

test('an uploaded image is deleted when no task can still need it', async () => {
  const uploadId = randomUUID();
  const upload = { uploadId, fileName: 'image.jpg' } as const;
  await reserveUpload(db, { ...upload, accountId, bytes: 1, retentionMs: 0 });
  assert.equal(await survives('deleteExpiredUploads', uploadKey(upload)), true, 'a task may wait for it');
  await query(`update uploads set expires_at = ${expired} where id = '${uploadId}'`);
  assert.equal(await survives('deleteExpiredUploads', uploadKey(upload)), false);
  assert.deepEqual(await listExpiredUploads(db, { limit: 10 }), []);
});

test('all deletions that are due are swept in one run, however many pages they fill', async () => {
  await deletedTasks(210);
  await run('sweepDeletions');
  assert.equal(await swept(), 210);
});

test('a row that fails is tried once in a run, and the others are done', async () => {
  const bad = new Set((await deletedTasks(210)).filter((_, index) => index % 3 === 0));
  const tries = new Map<string, number>();
  const { engine, log } = deps();
  const deleteTaskHistories = async (taskId: string) => {
    tries.set(taskId, (tries.get(taskId) ?? 0) + 1);
    if (bad.has(taskId)) throw new Error('no');
    return true;
  };
  const events = recordEvents('reconcile_finding');
  await run('sweepDeletions', deps({ log, events, engine: { ...engine, deleteTaskHistories } }));
  assert.deepEqual([await swept(), tries.size, Math.max(...tries.values())], [140, 210, 1]);
  assert.deepEqual([events.seen.length, new Set(events.seen.map(({ finding }) => finding))], [70, new Set(['failed'])]);
});

test('a page of rows that all fail ends the run, and the next run continues behind it', async () => {
  const first = new Set<string>();
  const { engine } = deps();
  await deletedTasks(210);
  const deleteTaskHistories = async (taskId: string) => {
    if (first.size < 200) first.add(taskId);
    if (first.has(taskId)) throw new Error('no');
    return true;
  };
  const world = deps({ engine: { ...engine, deleteTaskHistories } });
  await assert.rejects(run('sweepDeletions', world), /all 200 rows of a page failed/);
  await run('sweepDeletions', world);
  assert.equal(await swept(), 10);
  await run('sweepDeletions');
  assert.equal(await swept(), 210, 'and then the list starts again');
});

test('a row that the store does not answer about is left behind, and the next ones go on', async (t) => {
  await addUploads(db, accountId, 20, expired);
  const [silent] = await query('select id from uploads order by expires_at limit 1');
  const { media } = deps();
  const findings: string[] = [];
  const hung = {
    ...media,
    delete: (key: string) =>
      key === uploadKey({ uploadId: String(silent?.['id']), fileName: 'video.mp4' })
        ? new Promise<never>(() => {})
        : media.delete(key),
  };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const events = eventsInto('reconcile_finding', ({ finding }) => void findings.push(finding));
  const world = deps({ media: hung, events });
  const ended = run('deleteExpiredUploads', world).then(() => 'ended');
  await untilTurn('the other rows', () => findings.filter((finding) => finding === 'upload_expired').length === 19);
  t.mock.timers.tick(15_000);
  assert.equal(await ended, 'ended');
  assert.deepEqual(await query('select id from uploads'), [silent]);
});

async function jobOf(taskId: string) {
  const [job = {}] = await query('select handle, sent_input, detail from provider_jobs where task_id = $1', [taskId]);
  return [job['handle'] ?? undefined, job['sent_input'] ?? undefined, job['detail'] ?? undefined];
}

/** A failed task whose job runs upstream. */
async function withRunningJob(): Promise<{ readonly taskId: string; readonly ordinal: number }> {
  const taskId = await acceptTestTask(db, accountId, taskParam('a secret'));
  const job = { taskId, ordinal: 1 };
  await intendOwnMachineJob(db, { ...job, provider: 'studio' });
  await recordCreatedJob(db, { ...job, jobId: 'upstream-1', handle: { url: 'a secret' } });
  await query(`update provider_jobs set detail = 'a secret' where task_id = $1`, [taskId]);
  await failAndRefund(db, taskId, { failCode: 'timeout', failMsg: 'A test.' });
  const task = await findTask(db, taskId);
  assert.ok(task);
  await deleteTaskContentInDatabase(db, task, []);
  return job;
}

test('a deletion is swept again while its job may run, which is stopped by its handle, and the handle is deleted then', async () => {
  const job = await withRunningJob();
  const { taskId } = job;
  await run('sweepDeletions');
  assert.equal(await swept(), 0);
  assert.deepEqual(await jobOf(taskId), [{ url: 'a secret' }, undefined, undefined]);
  await endProviderJob(db, { ...job, outcome: 'fail', failure: { failCode: 'internal', failMsg: 'a secret' } });
  await run('sweepDeletions');
  assert.equal(await swept(), 1);
  assert.deepEqual(await jobOf(taskId), [undefined, undefined, undefined]);
});

test('the last sweep ends a deletion although its job may still run', async () => {
  const { taskId } = await withRunningJob();
  await endedAgo(taskId, 26 * 60 - 1);
  await run('sweepDeletions');
  assert.deepEqual([await count('content_deletions'), await swept()], [1, 0]);
  await endedAgo(taskId, 26 * 60 + 1);
  await run('sweepDeletions');
  assert.equal(await count('content_deletions'), 0);
});

test('a deletion is swept again while Temporal has its history, or an unfinished task needs its upload', async () => {
  const [uploadId, another] = [randomUUID(), randomUUID()];
  const upload = async () => {
    for (const id of [uploadId, another])
      await reserveUpload(db, { uploadId: id, fileName: 'image.jpg', accountId, bytes: 1, retentionMs: hourMs });
  };
  await upload();
  const [taskId] = await failedTasks(db, accountId, 1);
  const task = await findTask(db, String(taskId));
  assert.ok(task);
  await deleteTaskContentInDatabase(db, task, [uploadId, another]);
  await run('sweepDeletions', deps({ engine: { deleteTaskHistories: () => Promise.resolve(false) } }));
  assert.deepEqual([await swept(), await count('uploads')], [0, 0]);
  await upload();
  const other = await acceptTestTask(db, accountId, taskParam(`shows ${uploadId}`));
  await run('sweepDeletions');
  assert.deepEqual([await swept(), await count('uploads')], [0, 1]);
  await failAndRefund(db, other, { failCode: 'timeout', failMsg: 'A test.' });
  await run('sweepDeletions');
  assert.deepEqual([await swept(), await count('uploads')], [1, 0]);
});

test('queue rows of tasks that wait no longer are deleted', async () => {
  const taskId = await failedTask();
  await query(`insert into slot_waits (task_id, pool, account_id, ticket, queued_at, due_at)
    values ('${taskId}', 'a/b', '${accountId}', 1, now() - interval '1 hour', now())`);
  await run('sweepSlots');
  assert.equal(await count('slot_waits'), 0);
});

test('an erasure by the command line is logged once, because its log outlives a restore', async () => {
  const email = 'ben@example.com';
  const [invited] = await query(`insert into users (id, email) values (gen_random_uuid(), $1) returning id::text`, [
    email,
  ]);
  await eraseUserAs(db, { kind: 'command_line', name: 'root' }, { email });
  const { log, lines } = recordLog();
  for (let times = 0; times < 2; times += 1) await run('deleteExpiredUsers', deps({ log }));
  assert.deepEqual(lines, [{ level: 30, userId: invited?.['id'], msg: 'user erased' }]);
});

test('each person without an account whose retention is over is erased, and logged', async () => {
  const text = `insert into users (id, email, unattached_since) values (gen_random_uuid(), $1, now() - $2 * interval '1 day') returning id::text`;
  const add = async (name: string, days: number) => (await query(text, [`${name}@example.com`, days]))[0]?.['id'];
  const gone = [await add('ada', 92), await add('ben', 91)];
  const younger = await add('cleo', 89);
  const { log, lines } = recordLog();
  await run('deleteExpiredUsers', deps({ log }));
  assert.deepEqual(
    lines,
    gone.map((userId) => ({ level: 30, userId, msg: 'user erased' })),
  );
  assert.deepEqual(await query('select id::text from users'), [{ id: younger }]);
});
