import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { catalogueSecretReader } from '../../../src/run/config/config.ts';
import { createLiveCatalogue } from '../../../src/catalogue/file/live-catalogue.ts';
import { reportModelsUntilClosed, watchSoldModels } from '../../../src/catalogue/models/report-and-watch-models.ts';
import {
  deleteReportsOfWorker,
  listLiveWorkerReports,
  saveReportAndDeleteOld,
} from '../../../src/catalogue/models/worker-report-rows.ts';
import type { WorkerReport } from '../../../src/catalogue/models/models-served-by-workers.ts';
import { silentEvents } from '../../support/service/metric-event-sinks.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { waitFor } from '../../support/wait-for.ts';

// One rule for API and workers: a model is sold only if a live worker has it in force.

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const pauseMs = 5;

/** A catalogue file, read by an API process, which needs no secrets, and by a worker, which has those of `env`. */
async function stage(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'videogen-sold-'));
  const path = join(folder, 'catalogue.json');
  const write = (models: Readonly<Record<string, string>>) => {
    const open = { kind: 'own', baseUrl: 'http://127.0.0.1:1' };
    const vendor = { kind: 'own', baseUrl: 'http://127.0.0.1:2', key: { file: './vendor.key' } };
    const isVendorUsed = Object.values(models).includes('vendor');
    const sold = Object.entries(models).map(([model, provider]) => ({
      model,
      title: model,
      prices: [{ creditsPerSecond: 1 }],
      providers: [provider],
    }));
    writeFileSync(path, JSON.stringify({ providers: { open, ...(isVendorUsed && { vendor }) }, models: sold }));
  };
  const logged: object[] = [];
  const record = (fields: object, message?: string) => void logged.push({ ...fields, message });
  const log = { info: record, error: record };
  const silent = { info: () => {}, error: () => {} };
  write({ first: 'open' });
  const api = createLiveCatalogue({ path, log: silent, part: 'api', events: silentEvents });
  const worker = createLiveCatalogue({
    path,
    log: silent,
    part: 'worker',
    events: silentEvents,
    readSecret: catalogueSecretReader(folder, {}),
  });
  let reads = 0;
  const run: Database['run'] = (...query) => {
    reads += 1;
    return database.db.run(...query);
  };
  const db = { ...database.db, run };
  const { isSold, close } = await watchSoldModels({ db, catalogue: api.current, log, pauseMs });
  /** Waits until what is stored now has been read. */
  const untilRead = async () => {
    const first = reads;
    // The first of them may have begun earlier.
    await waitFor('two more reads', () => reads > first + 2);
  };
  const settle = async () => {
    for (const live of [api, worker, api, worker]) await live.check();
  };
  t.after(async () => {
    api.close();
    worker.close();
    await close();
    rmSync(folder, { recursive: true });
  });
  const startReports = () => {
    const workerQueues = ['generation-remote', 'tasks'] as const;
    const reports = reportModelsUntilClosed({ catalogue: worker, workerQueues, db: database.db, pauseMs });
    t.after(() => reports.close());
    return reports;
  };
  const becomes = (model: string, expected: boolean) =>
    waitFor(`${model} ${expected}`, () => (isSold(model) === expected ? true : undefined));
  const supplySecret = () => writeFileSync(join(folder, 'vendor.key'), 'sk-1');
  return { write, settle, startReports, untilRead, becomes, isSold, logged, supplySecret, worker };
}

test('a worker reports each queue that generates, with its models, until it stops', async (t) => {
  const { worker } = await stage(t);
  const workerQueues = ['callbacks', 'generation', 'generation-remote', 'tasks'] as const;
  const reports = reportModelsUntilClosed({ catalogue: worker, workerQueues, db: database.db, pauseMs });
  const reported = async () =>
    Object.fromEntries((await listLiveWorkerReports(database.db)).map(({ queue, models }) => [queue, models]));
  const both = { generation: [], 'generation-remote': ['first'] };
  await waitFor('both reports', async () => (Object.keys(await reported()).length === 2 ? true : undefined));
  assert.deepEqual(await reported(), both);
  await reports.close();
  assert.deepEqual(await reported(), {});
});

test('a model that a reload adds is not sold while the workers refuse the file for a missing secret', async (t) => {
  const { write, settle, startReports, becomes, isSold, logged, supplySecret, worker } = await stage(t);
  const reports = startReports();
  await waitFor('the report', async () => (await listLiveWorkerReports(database.db))[0]);
  write({ first: 'open', second: 'vendor' });
  await settle();
  await becomes('second', false);
  assert.equal(isSold('first'), true);
  const [fault] = worker.state().refused?.problems ?? [];
  assert.match(fault ?? '', /providers\.vendor\.key/);
  const line = await waitFor('the log line', () => logged[0]);
  // The worker may have reported its refusal by now.
  const message = 'models not sold: no live worker has them in force';
  assert.deepEqual({ ...line, refusals: [] }, { models: ['second'], refusals: [], message });
  await waitFor('the refusal', async () =>
    (await listLiveWorkerReports(database.db)).find(({ refusal }) => refusal === fault),
  );
  supplySecret();
  await settle();
  await becomes('second', true);
  assert.deepEqual(await waitFor('the second line', () => logged[1]), {
    models: ['second'],
    message: 'models sold again',
  });
  await reports.close();
});

test('without a live worker of its queue every model is sold, and tasks wait', async (t) => {
  const { write, settle, startReports, untilRead, becomes, isSold, worker } = await stage(t);
  write({ first: 'open', second: 'vendor' });
  await settle();
  assert.ok(worker.state().refused !== undefined);
  assert.equal(isSold('second'), true, 'no worker has reported');
  const reports = startReports();
  await becomes('second', false);
  await reports.close();
  await becomes('second', true);
  // A worker of another queue does not report it.
  await saveReportAndDeleteOld(database.db, {
    workerId: randomUUID(),
    queue: 'generation',
    models: [],
    refusal: undefined,
  });
  await untilRead();
  assert.equal(isSold('second'), true);
});

test('a worker that reported long ago does not count', async (t) => {
  const { becomes, isSold } = await stage(t);
  const report = { workerId: randomUUID(), queue: 'generation-remote', models: ['other'], refusal: undefined } as const;
  await saveReportAndDeleteOld(database.db, report);
  await becomes('first', false);
  const text = `update worker_reports set seen_at = seen_at - interval '31 seconds'`;
  await database.db.run({ name: 'test-long-ago', text });
  await becomes('first', true);
  assert.equal(isSold('first'), true);
});

test('a report replaces the earlier one of its worker and queue, and counts from then on', async () => {
  const [workerId, queue] = [randomUUID(), 'generation'] as const;
  const second = { workerId, queue, models: ['second'], refusal: 'no key' };
  await saveReportAndDeleteOld(database.db, { workerId, queue, models: ['first'], refusal: undefined });
  const text = `update worker_reports set seen_at = now() - interval '31 seconds' where worker_id = $1`;
  await database.db.run({ name: 'test-report-age', text }, [workerId]);
  const ofWorker = async () => (await listLiveWorkerReports(database.db)).filter((one) => one.workerId === workerId);
  assert.deepEqual(await ofWorker(), []);
  await saveReportAndDeleteOld(database.db, second);
  assert.deepEqual(await ofWorker(), [second]);
  await deleteReportsOfWorker(database.db, workerId);
});

test('a worker that stops deletes its own reports, and each report deletes those of workers that stopped a day ago', async () => {
  const reportOf = (workerId: string, queue: WorkerReport['queue'] = 'generation') =>
    saveReportAndDeleteOld(database.db, { workerId, queue, models: [], refusal: undefined });
  const [stopped, absent, kept, own] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  for (const workerId of [stopped, absent, kept, own]) await reportOf(workerId);
  const age = (workerId: string, hours: number) =>
    database.db.run(
      {
        name: 'test-age',
        text: `update worker_reports set seen_at = now() - $2 * interval '1 hour' where worker_id = $1`,
      },
      [workerId, hours],
    );
  await age(absent, 25);
  await age(kept, 23);
  await age(own, 25);
  await deleteReportsOfWorker(database.db, stopped);
  await reportOf(own, 'generation-remote');
  const text = 'select worker_id as id, queue from worker_reports where worker_id = any($1) order by queue';
  const left = await database.db.run({ name: 'test-left', text }, [[stopped, absent, kept, own]]);
  const shown = left.map(({ id, queue }) => `${String(id)} ${String(queue)}`).toSorted();
  assert.deepEqual(shown, [`${kept} generation`, `${own} generation`, `${own} generation-remote`].toSorted());
  for (const workerId of [kept, own]) await deleteReportsOfWorker(database.db, workerId);
});
