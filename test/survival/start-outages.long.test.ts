import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import { startTemporal, type TemporalServer } from '../../src/run/embedded/temporal/temporal-server.ts';
import { type Api, createdTask, waitForRecord } from '../support/service/call-api.ts';
import { testTemporalCli } from '../support/processes/find-temporal-cli.ts';
import { connectEngine, model } from '../support/service/test-installation.ts';
import { livingProcesses } from '../support/processes/processes.ts';
import { createTestAccount, createTestEnvironment } from '../support/service/test-service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks/tasks.ts';
import { spawnEntryPoint, type Running } from '../support/processes/run-videogen.ts';
import { waitFor } from '../support/wait-for.ts';

// Servers that are frozen (SIGSTOP) take connections and never respond, like overloaded ones. An outage is a
// length of time: there is no condition to wait for.

/** Longer than a connection to PostgreSQL is waited for. */
const postgresFrozenMs = 6_000;
/** Longer than any call to Temporal during the start may take. */
const temporalFrozenMs = 40_000;

test('a PostgreSQL that pauses right after the API listens delays the first key, and ends nothing', async (t) => {
  const service = await start(t, {});
  await waitFor('the API to listen', async () => ((await service.log()).includes('api started') ? true : undefined));
  const postgres = await postgresProcesses(service.data);
  for (const pid of postgres) process.kill(pid, 'SIGSTOP');
  await delay(postgresFrozenMs);
  for (const pid of postgres) process.kill(pid, 'SIGCONT');
  const api = await firstKey(service);
  await succeeds(api, await accept(api));
});

test('a Temporal that is frozen for 40 s while the service starts lets tasks be accepted, which then succeed', async (t) => {
  const temporal = await frozenTemporal(t);
  const service = await start(t, { TEMPORAL_ADDRESS: temporal.address });
  const api = await firstKey(service);
  const taskId = await accept(api);
  await delay(temporalFrozenMs);
  assert.equal(service.running.child.exitCode, null, service.running.stderr());
  assert.match(service.running.stdout(), /Temporal is unavailable/);
  process.kill(temporal.pid, 'SIGCONT');
  await succeeds(api, taskId);
});

test('a worker that is started while Temporal is frozen for 40 s works once it answers', async (t) => {
  const temporal = await frozenTemporal(t);
  const environment = await createTestEnvironment({ TEMPORAL_ADDRESS: temporal.address });
  t.after(() => environment.close());
  const worker = spawnEntryPoint('worker', { ...environment.environment, LOG_LEVEL: 'info' });
  t.after(() => ended(worker));
  const { accountId } = await createTestAccount(environment.database);
  const taskId = await acceptTestTask(environment.database.db, accountId, taskParam('[[instant]] waits'));
  await delay(temporalFrozenMs);
  assert.equal(worker.child.exitCode, null, worker.stdout());
  process.kill(temporal.pid, 'SIGCONT');
  const { engine, close } = connectEngine(environment);
  t.after(() => close());
  await waitFor('the worker', () => (worker.stdout().includes('worker is running') ? true : undefined));
  await engine.startTask({ taskId, accountId, model });
  assert.equal((await waitForEnd(environment.database.db, taskId)).state, 'success');
});

test('a service whose Temporal is never reachable accepts tasks, prints what it waits for, and ends with 0 on SIGINT', async (t) => {
  const service = await start(t, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  await accept(await firstKey(service));
  await waitFor('the sentence', () =>
    service.running.stdout().includes('Temporal is unavailable') ? true : undefined,
  );
  service.running.child.kill('SIGINT');
  const [code] = (await once(service.running.child, 'exit')) as [number | null]; // what 'exit' carries
  assert.equal(code, 0, service.running.stderr());
  await assert.rejects(readFile(join(service.data, 'postgres', 'cluster', 'postmaster.pid')));
});

type Started = {
  readonly data: string;
  readonly baseUrl: string;
  readonly running: Running;
  readonly log: () => Promise<string>;
};

async function start(t: TestContext, extra: NodeJS.ProcessEnv): Promise<Started> {
  const data = await mkdtemp(join(tmpdir(), 'videogen-start-outage-'));
  t.after(() => rm(data, { recursive: true, force: true, maxRetries: 10 }));
  const port = String(await reserveFreePort());
  const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...rest } = process.env;
  const env = { ...rest, VIDEOGEN_DATA: data, PORT: port, PREVIEW_FAILURES: '1', READ_RATE: 'off', ...extra };
  const running = spawnEntryPoint('cli', env, 'start');
  t.after(() => ended(running));
  const log = () => readFile(join(data, 'videogen.log'), 'utf8').catch(() => '');
  return { data, baseUrl: `http://127.0.0.1:${port}`, running, log };
}

async function ended({ child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function firstKey({ running, baseUrl }: Started): Promise<Api> {
  const key = await waitFor('the first key', () => {
    assert.equal(running.child.exitCode, null, running.stderr());
    return /vg_\w+/.exec(running.stdout())?.[0];
  });
  return { baseUrl, key };
}

const accept = (api: Api) => createdTask(api, '[[instant]] start');

async function succeeds(api: Api, taskId: string): Promise<void> {
  assert.equal((await waitForRecord(api, taskId))['state'], 'success');
}

/** The postmaster and everything it has started. */
async function postgresProcesses(data: string): Promise<readonly number[]> {
  const postmaster = Number.parseInt(await readFile(join(data, 'postgres', 'cluster', 'postmaster.pid'), 'utf8'), 10);
  const children = (await livingProcesses()).filter(({ parent }) => parent === postmaster);
  return [postmaster, ...children.map(({ pid }) => pid)];
}

async function frozenTemporal(t: TestContext): Promise<TemporalServer> {
  const log = () => undefined;
  const folder = await mkdtemp(join(tmpdir(), 'videogen-frozen-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const cliPath = await testTemporalCli();
  const server = await startTemporal({ cliPath, folder, inMemory: true, namespace: 'default', log });
  process.kill(server.pid, 'SIGSTOP');
  t.after(() => {
    // A frozen process does not receive SIGTERM.
    process.kill(server.pid, 'SIGCONT');
    return server.stop();
  });
  return server;
}
