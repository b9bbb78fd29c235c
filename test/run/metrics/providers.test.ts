import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { catalogueSecretReader } from '../../../src/run/config/config.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { createOpenProviders } from '../../../src/providers/open-providers.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { faults, type FaultProxy, startFaultProxy } from '../../fakes/fault-proxy.ts';
import { fakeVideoPath } from '../../fakes/restartable-server.ts';
import { jobCost, type OwnUpstream, startOwnUpstream } from '../../fakes/own-upstream.ts';
import { catalogueAt, workerParts } from '../../support/service/worker-parts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { heldProvider } from '../../support/tasks/fake-providers.ts';
import { playTask } from '../../support/tasks/play-task.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';
import { clientFor } from '../../providers/loopback-client.ts';

// Whole generations at a fake upstream behind a proxy, by the worker's own registry of providers; what is scraped afterwards.

const key = 'sk-live-marker';
const model = 'videogen-2.0-fast';

let database: TestDatabase;
let folder: string;
let accountId: string;
let upstream: OwnUpstream;
let proxy: FaultProxy;
let world: ReturnType<typeof worldOf>;
before(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'videogen-metrics-'));
  accountId = await createAccount(database.db, { name: 'counted', credits: 1_000_000 });
  upstream = await startOwnUpstream({ key });
  proxy = await startFaultProxy(upstream);
  await writeFile(join(folder, 'script.key'), key);
  await writeFile(join(folder, 'wrong.key'), 'sk-live-marker-2');
});
beforeEach(async () => {
  const script = { kind: 'own', baseUrl: proxy.baseUrl, key: { file: './script.key' } };
  const locked = { ...script, key: { file: './wrong.key' }, failedJobs: 'free' };
  const tiers = [[{ provider: 'script', model: 'wan' }], [{ provider: 'locked', model: 'wan' }]];
  await writeCatalogue({ script, locked }, tiers);
  world = worldOf();
});
afterEach(async () => {
  await proxy.heal();
  await world.close();
});
after(async () => {
  await proxy.close();
  await upstream.close();
  await database.close();
  await rm(folder, { recursive: true });
});

async function writeCatalogue(providers: object, tiers: object[][]): Promise<void> {
  const sold = { model, title: 'M', prices: [{ creditsPerSecond: 7 }], tiers };
  await writeFile(join(folder, 'catalogue.json'), JSON.stringify({ providers, models: [sold] }));
}

function worldOf() {
  const metrics = createMetrics();
  const readSecret = catalogueSecretReader(folder);
  const catalogue = readCatalogueOrThrow({ path: join(folder, 'catalogue.json'), readSecret });
  const events = metrics.eventsOf(() => catalogue);
  const clients: ReturnType<typeof clientFor>[] = [];
  const providers = createOpenProviders({
    catalogue: () => catalogue,
    preview: heldProvider({ onRun: () => {} }),
    readSecret,
    openClient: ({ baseUrl, credentials }) => {
      const client = clientFor(baseUrl, credentials()['authorization']?.replace('Bearer ', ''));
      clients.push(client);
      return client;
    },
    warn: () => {},
    emit: events.emit,
  });
  const parts: WorkerParts = {
    ...workerParts(database.db, folder, []),
    catalogue: catalogueAt(catalogue.models),
    providers,
    events,
  };
  return {
    parts,
    text: () => metrics.registry.metrics(),
    close: async () => void (await Promise.all(clients.map((client) => client.close()))),
  };
}

/** Plays a task whose job ends as told; answers how the task ended. */
async function play(
  prompt: string,
  end: 'succeeded' | 'failed',
  meanwhile = async () => {},
): Promise<string | undefined> {
  const taskId = await acceptTestTask(database.db, accountId, taskParam(prompt));
  const played = playTask({ next: () => world.parts }, { taskId, betweenAttempts: async () => {} });
  const job = await waitFor('its job', async () => (await upstream.books.jobsFor(prompt))[0]);
  await meanwhile();
  await upstream.books.end(job.id, end);
  await played;
  return (await findTask(database.db, taskId))?.state;
}

/** Every sample of our own provider metrics, after each line of the text was found to be of the format. */
async function scraped(): Promise<ReadonlyMap<string, number>> {
  const text = await world.text();
  assert.doesNotMatch(text, /marker|127\.0\.0\.1|[0-9a-f]{8}-[0-9a-f]{4}-/);
  const samples = new Map<string, number>();
  for (const line of text.trim().split('\n')) {
    if (line === '' || /^# (?:HELP|TYPE) videogen_[a-z_]+ .+$/.test(line)) continue;
    const [, name, labels = '', value] = /^([a-z_]+)(\{(?:[a-z_]+="[^"\\\n]*",?)+\})? (\S+)$/.exec(line) ?? [];
    assert.ok(name !== undefined && Number.isFinite(Number(value)), line);
    samples.set(`${name.replace('videogen_provider_', '')}${labels}`, Number(value));
  }
  return samples;
}

test('a job is counted with its call, its polls, its download, how long it ran and what it cost', async () => {
  assert.equal(await play('counted', 'succeeded'), 'success');
  const samples = await scraped();
  const pick = (...names: string[]) => names.map((name) => samples.get(name));
  const { size } = await stat(fakeVideoPath);
  assert.deepEqual(
    pick(
      'calls_total{provider="script",outcome="accepted"}',
      'downloads_total{provider="script",outcome="complete"}',
      'downloaded_bytes_total{provider="script"}',
      'jobs_ended_total{provider="script",model="wan",outcome="success"}',
      'job_duration_seconds_count{provider="script",model="wan"}',
      'job_duration_seconds_bucket{le="60",provider="script",model="wan"}',
      `cost_micros_total{provider="script",currency="${jobCost.currency}",basis="reported"}`,
    ),
    [1, 1, size, 1, 1, 1, jobCost.micros],
  );
  assert.ok((samples.get('polls_total{provider="script",outcome="answered"}') ?? 0) >= 1);
});

test('a failed job, a poll without a verdict and a broken download are counted as what they are', async () => {
  const isPoll = ({ method, path }: { method: string; path: string }) => method === 'GET' && !path.endsWith('/video');
  const unclear = async () => {
    await proxy.play(faults['gets an HTML 502 before the upstream'], isPoll);
    await waitFor('the fault', () => (proxy.met() > 0 ? true : undefined));
    await proxy.heal();
  };
  assert.equal(await play('failed', 'failed', unclear), 'fail');
  // Only the first download breaks: after three breaks it would be requested anew.
  let breaks = 0;
  await proxy.play(
    faults['is cut in the body of the answer'],
    ({ path }) => path.endsWith('/video') && (breaks += 1) === 1,
  );
  assert.equal(await play('interrupted', 'succeeded'), 'success');
  await proxy.heal();
  const samples = await scraped();
  assert.equal(samples.get('jobs_ended_total{provider="script",model="wan",outcome="fail"}'), 1);
  assert.equal(samples.get('job_duration_seconds_count{provider="script",model="wan"}'), 2);
  assert.ok((samples.get('polls_total{provider="script",outcome="unclear"}') ?? 0) >= 1);
  assert.ok((samples.get('downloads_total{provider="script",outcome="interrupted"}') ?? 0) >= 1);
  assert.equal(samples.get('downloads_total{provider="script",outcome="complete"}'), 1);
  assert.equal(samples.get('downloads_total{provider="script",outcome="failed"}'), undefined);
});

test('a lost answer is counted as unknown, and its look-up as what it found', async () => {
  await proxy.play(faults['is cut after it was sent'], ({ method }) => method === 'PUT');
  assert.equal(await play('lost', 'succeeded'), 'success');
  const samples = await scraped();
  assert.equal(samples.get('calls_total{provider="script",outcome="unknown"}'), 1);
  assert.equal(samples.get('lookups_total{provider="script",outcome="found"}'), 1);
  assert.equal(samples.get('jobs_ended_total{provider="script",model="wan",outcome="success"}'), 1);
});

test('what is refused is counted with its reason', async () => {
  await proxy.play(faults['gets 429'], ({ method }) => method === 'PUT');
  const stop = new Error('a test');
  const taskId = await acceptTestTask(database.db, accountId, taskParam('refused'));
  const attempts = playTask({ next: () => world.parts }, { taskId, betweenAttempts: () => Promise.reject(stop) });
  await assert.rejects(attempts, stop);
  const samples = await scraped();
  assert.equal(samples.get('calls_total{provider="script",outcome="busy"}'), 1);
  assert.equal(samples.get('jobs_ended_total{provider="script",model="wan",outcome="not_created"}'), 1);
  assert.equal(samples.get('job_duration_seconds_count{provider="script",model="wan"}'), undefined);
});
