import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { Environment } from '../../src/config/config.ts';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { setAccountLimits } from '../../src/accounts/accounts.ts';
import { createTask } from './api.ts';
import { createTestAccount, createTestEnvironment } from './service.ts';
import { type Running, spawnEntryPoint } from './videogen.ts';
import { waitFor } from './wait-for.ts';

const clients = 3;

/**
 * Restarts two APIs one after the other while clients create tasks through a load balancer, which `startBalancer` puts in front of the
 * two ports. Every create must be accepted.
 */
export async function restartUnderLoad(
  t: TestContext,
  extra: Environment,
  startBalancer: (ports: readonly [number, number]) => Promise<string>,
): Promise<void> {
  const environment = await createTestEnvironment({ LOG_LEVEL: 'info', ...extra });
  t.after(() => environment.close());
  const { db } = environment.database;
  const { accountId, key } = await createTestAccount(environment.database, 1_000_000_000);
  await setAccountLimits(db, accountId, { maxUnfinishedTasks: 1_000_000, createRate: undefined });
  const ports = [await freePort(), await freePort()] as const;
  const apis = await Promise.all(ports.map((port) => startApiProcess(t, environment, port)));
  const baseUrl = await startBalancer(ports);
  const answers: string[] = [];
  const over = new AbortController();
  const createTasks = async () => {
    while (!over.signal.aborted) {
      const request = { model: 'videogen-2.0-fast', input: { prompt: 'a rolling restart' } };
      answers.push(
        await createTask({ baseUrl, key }, request).then(({ status, body }) => `${status} ${body.msg}`, String),
      );
    }
  };
  const running = Array.from({ length: clients }, createTasks);
  for (const [index, port] of ports.entries()) {
    const api = apis[index] ?? assert.fail();
    await waitForCreates(api);
    api.child.kill('SIGTERM');
    assert.deepEqual(await once(api.child, 'exit'), [0, null]);
    const next = await startApiProcess(t, environment, port);
    // An orchestrator stops the next process when the load balancer uses this one.
    await waitForCreates(next);
  }
  over.abort();
  await Promise.all(running);
  assert.deepEqual([...new Set(answers)], ['200 success']);
}

/** Starts an API process and waits until it is ready. */
export async function startApiProcess(
  t: TestContext,
  { environment }: { readonly environment: NodeJS.ProcessEnv },
  port: number,
): Promise<Running> {
  const api = spawnEntryPoint('api', { ...environment, PORT: String(port) });
  t.after(() => api.child.kill('SIGKILL'));
  await waitFor(`the API on port ${port}`, async () => {
    assert.equal(api.child.exitCode, null, api.stderr());
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    return response?.ok === true ? true : undefined;
  });
  return api;
}

/** Waits until the load balancer sends requests to this process. */
function waitForCreates(api: Running): Promise<true> {
  const create = '"path":"/api/v1/jobs/createTask"';
  return waitFor('creates', () => (api.stdout().includes(create) ? true : undefined));
}
