import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { Environment } from '../../../src/run/config/config.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { setAccountLimits } from '../../../src/accounts/accounts.ts';
import { createTask } from '../service/call-api.ts';
import { createTestAccount, createTestEnvironment } from '../service/test-service.ts';
import { type Running, spawnEntryPoint } from './run-videogen.ts';
import { waitFor } from '../wait-for.ts';

const clients = 3;

export type Balancer = {
  readonly baseUrl: string;
  /**
   * Resolves when nothing more is sent to the server of this port, whose SHUTDOWN_DELAY is then over: it runs with `delayEnded`. Without
   * it the delay passes by the clock.
   */
  readonly left?: (port: number) => Promise<void>;
};

/** The longest SHUTDOWN_DELAY, and a process in which it ends with SIGUSR2. */
export const delayEnded = { SHUTDOWN_DELAY: '5m', NODE_OPTIONS: `--import=${delayUntilSignal(5 * 60_000)}` };

/**
 * Restarts two APIs one after the other while clients create tasks through a load balancer, which `startBalancer` puts in front of the
 * two ports. Every create must be accepted.
 */
export async function restartUnderLoad(
  t: TestContext,
  extra: Environment,
  startBalancer: (ports: readonly [number, number]) => Promise<Balancer>,
): Promise<void> {
  const environment = await createTestEnvironment({ LOG_LEVEL: 'info', ...extra });
  t.after(() => environment.close());
  const { db } = environment.database;
  const { accountId, key } = await createTestAccount(environment.database, 1_000_000_000);
  await setAccountLimits(db, accountId, { maxUnfinishedTasks: 1_000_000, createRate: undefined });
  const ports = [await reserveFreePort(), await reserveFreePort()] as const;
  const apis = await Promise.all(ports.map((port) => startApiProcess(t, environment, port)));
  const { baseUrl, left } = await startBalancer(ports);
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
    const exited = once(api.child, 'exit');
    api.child.kill('SIGTERM');
    if (left !== undefined) {
      await left(port);
      api.child.kill('SIGUSR2');
    }
    assert.deepEqual(await exited, [0, null]);
    const next = await startApiProcess(t, environment, port);
    // An orchestrator stops the next process when the load balancer uses this one.
    await waitForCreates(next);
  }
  over.abort();
  await Promise.all(running);
  assert.deepEqual([...new Set(answers)], ['200 success']);
}

/** The address of a module in which a pause of this length ends with SIGUSR2. */
function delayUntilSignal(ms: number): string {
  const module = `
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
const signalled = new Promise((resolve) => process.once('SIGUSR2', resolve));
const pause = timers.setTimeout;
timers.setTimeout = (given, ...rest) => (given === ${ms} ? signalled : pause(given, ...rest));
syncBuiltinESMExports();`;
  return `data:text/javascript,${encodeURIComponent(module)}`;
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
