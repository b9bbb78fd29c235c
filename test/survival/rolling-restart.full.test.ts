import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { setAccountLimits } from '../../src/stores/accounts.ts';
import { createTask } from '../support/api.ts';
import { startReadinessProxy } from '../support/readiness-proxy.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { type Running, spawnEntryPoint } from '../support/videogen.ts';
import { waitFor } from '../support/wait-for.ts';

/** Several looks of the proxy, also on a busy machine. */
const shutdownDelay = '3s';

test('two APIs that are restarted one after the other behind a proxy that asks /readyz refuse no create', async (t) => {
  const environment = await createTestEnvironment({ SHUTDOWN_DELAY: shutdownDelay });
  t.after(() => environment.close());
  const { accountId, key } = await createTestAccount(environment.database, 1_000_000_000);
  await setAccountLimits(environment.database.db, accountId, { maxUnfinishedTasks: 1_000_000, createRate: undefined });
  const ports = [await freePort(), await freePort()];
  const apis = await Promise.all(ports.map((port) => startApi(t, environment, port)));
  const proxy = await startReadinessProxy(ports.map((port) => `http://127.0.0.1:${port}`));
  t.after(() => proxy.close());
  const answers: string[] = [];
  const over = new AbortController();
  const createOn = async () => {
    while (!over.signal.aborted) {
      const request = { model: 'videogen-2.0-fast', input: { prompt: 'a rolling restart' } };
      const { status, body } = await createTask({ baseUrl: proxy.baseUrl, key }, request);
      answers.push(`${status} ${body.msg}`);
    }
  };
  const clients = [createOn(), createOn(), createOn()];
  for (const [index, port] of ports.entries()) {
    const before = answers.length;
    assert.equal(await stopped(apis[index]), 0);
    apis[index] = await startApi(t, environment, port);
    // As an orchestrator does: the next one is stopped when the load balancer has seen this one.
    await waitFor('the proxy', () => (proxy.sends(`http://127.0.0.1:${port}`) ? true : undefined));
    await waitFor('creates while it was restarted', () => (answers.length > before ? true : undefined));
  }
  over.abort();
  await Promise.all(clients);
  assert.deepEqual([...new Set(answers)], ['200 success']);
});

test('SIGTERM turns /readyz to 503 while creates still succeed; SIGINT closes at once', async (t) => {
  const environment = await createTestEnvironment({ SHUTDOWN_DELAY: '1m' });
  t.after(() => environment.close());
  const { key } = await createTestAccount(environment.database);
  const port = await freePort();
  const [leaving, baseUrl] = [await startApi(t, environment, port), `http://127.0.0.1:${port}`];
  leaving.child.kill('SIGTERM');
  const answer = await waitFor('503', async () => {
    const response = await fetch(`${baseUrl}/readyz`);
    return response.status === 503 ? response.json() : undefined;
  });
  assert.deepEqual((answer as { data: unknown }).data, { reasons: ['stopping'] });
  const request = { model: 'videogen-2.0-fast', input: { prompt: 'late' } };
  assert.equal((await createTask({ baseUrl, key }, request)).status, 200);
  leaving.child.kill('SIGKILL');
  await once(leaving.child, 'exit');
  const interrupted = await startApi(t, environment, port);
  interrupted.child.kill('SIGINT');
  assert.deepEqual(await once(interrupted.child, 'exit'), [0, null]);
});

test('an API closes the folder of results to other accounts', async (t) => {
  const environment = await createTestEnvironment();
  t.after(() => environment.close());
  const resultStore = join(environment.settings.dataFolder, 'results');
  await mkdir(resultStore, { recursive: true });
  await chmod(resultStore, 0o755);
  await startApi(t, environment, environment.settings.port);
  assert.equal((await stat(resultStore)).mode & 0o777, 0o700);
});

async function startApi(t: TestContext, { environment }: TestEnvironment, port: number): Promise<Running> {
  const api = spawnEntryPoint('api', { ...environment, PORT: String(port) });
  t.after(() => api.child.kill('SIGKILL'));
  await waitFor(`the API on port ${port}`, async () => {
    assert.equal(api.child.exitCode, null, api.stderr());
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    return response?.ok === true ? true : undefined;
  });
  return api;
}

async function stopped(api: Running | undefined): Promise<unknown> {
  assert.ok(api);
  api.child.kill('SIGTERM');
  const [code] = (await once(api.child, 'exit')) as [number | null]; // what 'exit' carries
  return code;
}
