import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { listProviderJobs } from '../../src/tasks/jobs/provider-jobs.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { skipWithoutPython, startExampleUpstream } from '../fakes/example-upstream.ts';
import type { RunningUpstream } from '../fakes/upstream-books.ts';
import { type Api, createdTask, createTask } from '../support/service/call-api.ts';
import { connectEngine, type EngineClient } from '../support/service/test-installation.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service/test-service.ts';
import { entryKinds, waitForEnd } from '../support/tasks/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

const key = 'the key of the example server';
const model = 'house-model';

describe('a task that the example server generates', { skip: skipWithoutPython }, () => {
  let upstream: RunningUpstream;
  let folder: string;
  let service: TestService;
  let api: Api;
  let temporal: EngineClient;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-remote-'));
    upstream = await startExampleUpstream({ key });
    await writeFile(join(folder, 'script.key'), `${key}\n`);
    await writeCatalogue([model]);
    service = await startTestService({ VIDEOGEN_MODELS: join(folder, 'catalogue.json') });
    api = { baseUrl: service.baseUrl, key: (await createTestAccount(service.database, 100_000)).key };
    temporal = connectEngine(service);
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await temporal.close();
    await service.close();
    await upstream.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(violations, []);
  });

  /** A server that takes one job at a time, and a provider with a wrong key. */
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
  const create = (prompt: string, name = model) => createdTask(api, prompt, { model: name });
  const jobOf = (prompt: string) => waitFor('its job', async () => (await upstream.books.jobsFor(prompt))[0]);
  const ended = (taskId: string) => waitForEnd(service.database.db, taskId);

  const waitsForSlot = (taskId: string) =>
    waitFor('a wait for a slot', async () => {
      const text = 'select from slot_waits where task_id = $1';
      const rows = await service.database.db.run({ name: 'test-waits', text }, [taskId]);
      return rows.length > 0 ? true : undefined;
    });

  test('waits for a slot, without being generated, while the server has as many jobs as it takes', async () => {
    const first = await create('the first of two');
    const job = await jobOf('the first of two');
    const second = await create('the second of two');
    await waitsForSlot(second);
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
    // Before the next task, which gets its slot after this one.
    await waitsForSlot(waiting);
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

  test('whose provider rejects our key is retried within seconds, and ends when it is canceled', async () => {
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
    await temporal.engine.cancelWorkflow(taskId);
    const task = await ended(taskId);
    assert.equal(task.failure?.failCode, 'cancelled');
    assert.deepEqual(await entryKinds(service.database.db, taskId), ['charge', 'refund']);
    const outcomes = (await listProviderJobs(service.database.db, taskId)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ['not_created']);
  });
});
