import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { CompleteSettings } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { overwriteStoreAndNamespaceOwner } from '../../../src/media/store/store-and-namespace-ownership.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { connectTemporal } from '../../../src/temporal/connection/connect.ts';
import { freshPollerMs } from '../../../src/temporal/connection/server-facts.ts';
import { ageTask } from '../../support/database/aged-task.ts';
import { connectEngine, model, openingCredits, price } from '../../support/service/test-installation.ts';
import { createTestAccount } from '../../support/service/test-service.ts';
import { waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';
import { backUp, balanceOf, dropDatabase, restore, stage } from './restore-stage.ts';

/** `reconcile` leaves younger tasks to the process that accepted them, and jobs of tasks that ended later to their generation. */
const [startGraceMs, stopGraceMs] = [10_000, 30_000];

// Follows docs/operations/backup.md after a loss. The upstream's books prove that nothing is paid twice.
describe('after a loss', { concurrency: true }, () => {
  test('of the newest rows, which Temporal still has: what had not ended in the backup is refunded', async () => {
    const { database, upstream, engine, receiver, accountId, accept, ...rest } = await stage();
    const { startWorker, generating, waitForJob, jobsOf, command, commandLater, json, close } = rest;
    const worker = await startWorker();
    const done = await generating('/done');
    upstream.finish(done);
    await waitForEnd(database.db, done);
    const running = await generating('/running');
    const accepted = await accept(`${receiver.url}/accepted`);

    const backup = await backUp(database.url);
    // All of this is lost: the end of one task, the job of another, and all of a third.
    upstream.finish(running);
    assert.equal((await waitForEnd(database.db, running)).state, 'success');
    await engine.startTask({ taskId: accepted, accountId, model });
    const unknown = await generating('/unknown');
    await waitForJob(accepted);
    const early = await command('reconcile', '--restored');
    assert.equal(early.code, 1);
    assert.match(early.stderr, /has polled in the last 90 seconds: stop all workers/);
    await worker.close();
    // Its progress, too, is that of the database which is lost.
    await engine.startClosing(accountId);
    await restore(database.url, backup);
    assert.equal(await findTask(database.db, unknown), undefined);

    // Temporal lists the worker for a while, and until its list of workflows has caught up there is more to settle.
    let ended = { refunded: 0, terminated: 0 };
    await waitFor('the settlement', async () => {
      const { stdout, stderr } = await commandLater(freshPollerMs, 'reconcile', '--restored');
      assert.notEqual(stdout, '', stderr);
      const { refunded, terminated } = JSON.parse(stdout) as { refunded: number; terminated: number };
      ended = { refunded: ended.refunded + refunded, terminated: ended.terminated + terminated };
      return ended.terminated > 0 && terminated === 0 ? true : undefined;
    });
    assert.deepEqual(ended, { refunded: 2, terminated: 2 }, 'the unknown task and the closing');
    await startWorker();
    upstream.finish();
    const report = await json('reconcile');
    assert.deepEqual(report['violations'], []);
    assert.deepEqual(report['unfinished'], []);
    assert.deepEqual(report['ended'], [
      { state: 'fail', failCode: 'terminated', tasks: 2, creditsRefunded: 2 * price },
      { state: 'success', tasks: 1, creditsRefunded: 0 },
    ]);
    for (const [taskId, path] of [
      [running, '/running'],
      [accepted, '/accepted'],
    ] as const) {
      const task = await findTask(database.db, taskId);
      assert.deepEqual([task?.state, task?.failure?.failCode], ['fail', 'terminated']);
      await waitFor('the callback about its refund', () =>
        receiver.received.some((one) => one.path === path && one.body.includes('"failCode":"terminated"'))
          ? true
          : undefined,
      );
    }
    for (const taskId of [accepted, unknown])
      await waitFor('the end of its workflow', async () =>
        (await engine.describeTask(taskId)).status === 'running' ? undefined : true,
      );
    const jobs = [done, running, accepted, unknown].map((taskId) => jobsOf(taskId).length);
    assert.deepEqual(jobs, [1, 1, 1, 1]);
    assert.equal(await balanceOf(database.db, accountId), openingCredits - price);
    await dropDatabase(backup);
    await close();
  });

  test('of Temporal: what waits is begun, what was generating is refunded and stopped, what has ended stays', async () => {
    const { database, upstream, receiver, accountId, accept, ...rest } = await stage();
    const { settings, startWorker, generating, waitForJob, json, close } = rest;
    const worker = await startWorker();
    const done = await generating('/done');
    upstream.finish(done);
    await waitForEnd(database.db, done);
    const running = await generating('/running');
    await worker.close();
    const waiting = await accept(`${receiver.url}/waiting`);
    const { accountId: closed } = await createTestAccount(database);
    const actor = { kind: 'command_line', name: 'ada' } as const;
    await closeAccountAs(database.db, actor, { accountId: closed, reason: 'requested' });

    const temporal = { ...settings.temporal, namespace: await emptyNamespace(settings) };
    // An empty namespace stands for a Temporal that has lost its data, which keeps its name.
    await overwriteStoreAndNamespaceOwner(database.db, settings, temporal.namespace);
    await startWorker({ settings: { temporal } });
    const emptied = connectEngine({ settings: { ...settings, temporal } });
    const stopReconciling = emptied.keepReconciling();
    for (const taskId of [waiting, running]) await ageTask(database, taskId, startGraceMs);
    await waitForJob(waiting);
    assert.equal((await waitForEnd(database.db, running)).failure?.failCode, 'terminated');
    await ageTask(database, running, stopGraceMs);
    await waitFor('its job to be stopped', () =>
      upstream.jobs.some(({ taskId, state }) => taskId === running && state === 'cancelled') ? true : undefined,
    );
    upstream.finish(waiting);
    assert.equal((await waitForEnd(database.db, waiting)).state, 'success');
    for (const path of ['/done', '/running', '/waiting']) await receiver.waitForCallbacks(path, 1);
    assert.equal((await findTask(database.db, done))?.state, 'success');
    const finished = { name: 'test-finished', text: 'select from account_closures where finished_at is not null' };
    await waitFor('the end of the closing', async () => (await database.db.run(finished))[0]);
    assert.equal(upstream.jobs.length, 3);
    assert.deepEqual((await json('reconcile', '--report'))['violations'], []);
    assert.equal(await balanceOf(database.db, accountId), openingCredits - 2 * price);
    stopReconciling();
    await emptied.close();
    await close();
  });

  test('of the result store: its videos are listed, and marked as deleted on request', async () => {
    const { environment, db, upstream, startWorker, generating, command, close } = await stage();
    await startWorker();
    const lost = await generating('/lost');
    upstream.finish(lost);
    await waitForEnd(db, lost);
    const present = await generating('/present');
    upstream.finish(present);
    await waitForEnd(db, present);
    await rm(join(String(environment['RESULT_STORE']), 'results', lost), { recursive: true });

    const named = await command('media', 'check', '--forget');
    assert.equal(named.code, 1);
    const { tasks, ...counts } = JSON.parse(named.stdout) as { tasks: { taskId: string }[] };
    assert.deepEqual(counts, { checked: 2, missing: 1, creditsCharged: price });
    assert.deepEqual(
      tasks.map(({ taskId }) => taskId),
      [lost],
    );
    const again = await command('media', 'check');
    assert.deepEqual(
      [again.code, JSON.parse(again.stdout)],
      [0, { checked: 1, missing: 0, creditsCharged: 0, tasks: [] }],
    );
    // The store is lost, and one video is newer than that.
    const more = await generating('/more');
    const fresh = await generating('/fresh');
    for (const taskId of [more, fresh]) {
      upstream.finish(taskId);
      await waitForEnd(db, taskId);
    }
    for (const taskId of [present, more])
      await rm(join(String(environment['RESULT_STORE']), 'results', taskId), { recursive: true });
    const refused = await command('media', 'check', '--forget');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^2 of 3 videos are not in .*--forget all\.$/m);
    assert.equal((await findTask(db, present))?.mediaDeletedAt, undefined);
    await command('media', 'check', '--forget', 'all');
    assert.notEqual((await findTask(db, present))?.mediaDeletedAt, undefined);
    await close();
  });
});

/** A new namespace, as of a Temporal that has lost everything. */
async function emptyNamespace(settings: CompleteSettings): Promise<string> {
  const namespace = `empty-${randomBytes(6).toString('hex')}`;
  const { client, close } = connectTemporal(settings.temporal);
  after(close);
  const seconds = 86_400;
  await client.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: seconds as never },
  });
  await waitFor('the namespace', () =>
    client.workflowService.describeNamespace({ namespace }).then(
      () => true,
      () => undefined,
    ),
  );
  return namespace;
}
