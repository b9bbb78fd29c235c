import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { listProviderJobs } from '../../src/stores/provider-jobs.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { skipWithoutPython, startExampleUpstream } from '../fakes/example-upstream.ts';
import type { RunningUpstream } from '../fakes/upstream-books.ts';
import { type Api, createTask, recordInfo } from '../support/api.ts';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

const key = 'the key of the example server';
const model = 'house-model';

describe('a task that the example server generates', { skip: skipWithoutPython }, () => {
  let upstream: RunningUpstream;
  let folder: string;
  let service: TestService;
  let account: TestAccount;
  let api: Api;
  let temporal: TemporalConnection;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-remote-'));
    upstream = await startExampleUpstream({ key });
    await writeFile(join(folder, 'script.key'), `${key}\n`);
    await writeCatalogue([model]);
    service = await startTestService({ VIDEOGEN_MODELS: join(folder, 'catalogue.json') });
    account = await createTestAccount(service.database, 100_000);
    api = { baseUrl: service.baseUrl, key: account.key };
    temporal = connectTemporal(service.settings.temporal);
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await temporal.close();
    await service.close();
    await upstream.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(violations, []);
  });

  /** The server takes one job at a time. */
  async function writeCatalogue(names: readonly string[]): Promise<void> {
    const script = { kind: 'own', baseUrl: `http://${upstream.address}`, key: { file: './script.key' }, limit: 1 };
    const stranger = { ...script, key: { file: './stranger.key' }, baseUrl: script.baseUrl };
    await writeFile(join(folder, 'stranger.key'), 'not the key');
    const sold = { title: 'M', prices: [{ creditsPerSecond: 7 }] };
    const models = [
      ...names.map((name) => ({ ...sold, model: name, tiers: [[{ provider: 'script', model: 'wan' }]] })),
      { ...sold, model: 'locked-model', providers: ['stranger'] },
    ];
    await writeFile(join(folder, 'catalogue.json'), JSON.stringify({ providers: { script, stranger }, models }));
  }
  const create = async (prompt: string, asked = model) => {
    const { status, body } = await createTask(api, { model: asked, input: { prompt, duration: 4 } });
    assert.equal(status, 200, body.msg);
    return String(body.data['taskId']);
  };
  const jobOf = (prompt: string) => waitFor('its job', async () => (await upstream.books.jobsFor(prompt))[0]);
  const ended = (taskId: string) => waitForEnd(service.database.db, taskId);

  test('succeeds: one job, one charge, a video, and no word of the upstream in its record', async () => {
    const taskId = await create('a lighthouse');
    const job = await jobOf('a lighthouse');
    assert.equal(job.id, taskId);
    await waitFor('its generation', async () => {
      const { body } = await recordInfo(api, taskId);
      return body.data['state'] === 'generating' ? true : undefined;
    });
    await upstream.books.end(job.id, 'succeeded');
    const task = await ended(taskId);
    assert.equal(task.state, 'success', task.failure?.failMsg);
    assert.equal((await upstream.books.jobsFor('a lighthouse')).length, 1);
    const entries = (await listTaskEntries(service.database.db, taskId)).map(({ kind, amount }) => [kind, amount]);
    assert.deepEqual(entries, [['charge', -28]]);
    const [row] = await listProviderJobs(service.database.db, taskId);
    assert.deepEqual(
      [row?.provider, row?.pool, row?.outcome, row?.costBasis],
      ['script', 'script/wan', 'success', 'unknown'],
    );
    const record = JSON.stringify((await recordInfo(api, taskId)).body);
    for (const secret of ['script', 'wan', upstream.address, key]) assert.ok(!record.includes(secret), record);
  });

  test('waits for a place, without being generated, while the server has as many jobs as it takes', async () => {
    const first = await create('the first of two');
    const job = await jobOf('the first of two');
    const second = await create('the second of two');
    await waitFor('it to wait', async () => {
      const rows = await service.database.db.run({
        name: 'test-waits',
        text: `select from slot_waits where task_id = '${second}'`,
      });
      return rows.length > 0 ? true : undefined;
    });
    assert.equal((await findTask(service.database.db, second))?.state, 'queuing');
    assert.deepEqual(await upstream.books.jobsFor('the second of two'), []);
    await upstream.books.end(job.id, 'succeeded');
    const next = await jobOf('the second of two');
    await upstream.books.end(next.id, 'succeeded');
    for (const taskId of [first, second]) assert.equal((await ended(taskId)).state, 'success');
  });

  test('survives that its model leaves the catalogue, running or waiting', async () => {
    const running = await create('it runs');
    const job = await jobOf('it runs');
    const waiting = await create('it waits');
    await waitFor('it to wait', async () => {
      const task = await findTask(service.database.db, waiting);
      return task?.state === 'queuing' ? true : undefined;
    });
    await writeCatalogue(['another-model']);
    await waitFor('the catalogue', async () => {
      const { status } = await createTask(api, { model: 'another-model', input: { prompt: 'a new one', duration: 4 } });
      return status === 200 ? true : undefined;
    });
    await upstream.books.end(job.id, 'succeeded');
    assert.equal((await ended(running)).state, 'success');
    const next = await jobOf('it waits');
    await upstream.books.end(next.id, 'succeeded');
    assert.equal((await ended(waiting)).state, 'success');
    const last = await jobOf('a new one');
    await upstream.books.end(last.id, 'succeeded');
    await writeCatalogue([model]);
  });

  test('whose provider needs its operator asks again within seconds, and is over the moment it is cancelled', async () => {
    const taskId = await create('behind the wrong key', 'locked-model');
    const pause = () =>
      waitFor('the pause', async () => {
        const workflow = await temporal.client.workflow
          .getHandle(taskId)
          .describe()
          .catch(() => undefined);
        return workflow?.raw.pendingActivities?.find(
          ({ currentRetryInterval }) => currentRetryInterval?.seconds !== undefined,
        );
      });
    const { currentRetryInterval } = await pause();
    assert.ok(Number(currentRetryInterval?.seconds) <= 5, `a pause of ${Number(currentRetryInterval?.seconds)} s`);
    const engine = createEngine(temporal.client, taskQueuesOf(service.settings.taskQueue));
    await engine.cancelTask(taskId);
    const task = await ended(taskId);
    assert.equal(task.failure?.failCode, 'cancelled');
    assert.deepEqual(
      (await listTaskEntries(service.database.db, taskId)).map(({ kind }) => kind),
      ['charge', 'refund'],
    );
    const outcomes = (await listProviderJobs(service.database.db, taskId)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ['not_created']);
  });
});
