import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { setAccountLimits } from '../../src/stores/accounts.ts';
import { createTask } from '../support/api.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { type Running, spawnEntryPoint } from '../support/videogen.ts';
import { waitFor } from '../support/wait-for.ts';

// The configurations of ops/proxies as they are, but for ports, with the default SHUTDOWN_DELAY.

const proxies = [
  { name: 'haproxy', file: 'haproxy.cfg', args: (file: string) => ['-db', '-f', file] },
  { name: 'nginx', file: 'nginx.conf', args: (file: string) => ['-g', 'daemon off;', '-c', file] },
] as const;

for (const proxy of proxies) {
  const isMissing = spawnSync(proxy.name, ['-v']).error !== undefined;
  const skip = isMissing ? `${proxy.name} is not installed, so nothing was tried behind it` : false;
  test(`two APIs that are restarted one after the other behind ${proxy.name} refuse no create`, { skip }, async (t) => {
    const environment = await createTestEnvironment({ LOG_LEVEL: 'info' });
    t.after(() => environment.close());
    const { accountId, key } = await createTestAccount(environment.database, 1_000_000_000);
    await setAccountLimits(environment.database.db, accountId, {
      maxUnfinishedTasks: 1_000_000,
      createRate: undefined,
    });
    const ports = [await freePort(), await freePort()];
    const apis = await Promise.all(ports.map((port) => startApi(t, environment, port)));
    const baseUrl = await startProxy(t, proxy, ports);
    const answers: string[] = [];
    const over = new AbortController();
    const createOn = async () => {
      while (!over.signal.aborted) {
        const request = { model: 'videogen-2.0-fast', input: { prompt: 'a rolling restart' } };
        const { status, body } = await createTask({ baseUrl, key }, request);
        answers.push(`${status} ${body.msg}`);
      }
    };
    const clients = [createOn(), createOn(), createOn()];
    for (const [index, port] of ports.entries()) {
      const api = apis[index] ?? assert.fail();
      await waitForCreates(api);
      api.child.kill('SIGTERM');
      assert.deepEqual(await once(api.child, 'exit'), [0, null]);
      apis[index] = await startApi(t, environment, port);
      await waitForCreates(apis[index] ?? assert.fail());
    }
    over.abort();
    await Promise.all(clients);
    assert.deepEqual([...new Set(answers)], ['200 success']);
  });
}

/** Waits until the proxy sends requests to this process. */
function waitForCreates(api: Running): Promise<true> {
  const create = '"path":"/api/v1/jobs/createTask"';
  return waitFor('creates', () => (api.stdout().includes(create) ? true : undefined));
}

async function startProxy(
  t: TestContext,
  { name, file, args }: (typeof proxies)[number],
  [first, second]: readonly number[],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-proxy-'));
  t.after(() => rm(folder, { recursive: true }));
  const port = await freePort();
  const text = await readFile(`ops/proxies/${file}`, 'utf8');
  const path = join(folder, file);
  const withPorts = text
    .replaceAll('127.0.0.1:3001', `127.0.0.1:${first}`)
    .replaceAll('127.0.0.1:3002', `127.0.0.1:${second}`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
  await writeFile(path, name === 'nginx' ? `pid ${folder}/pid;\nerror_log stderr;\n${withPorts}` : withPorts);
  const child = spawn(name, args(path), { stdio: 'ignore' });
  t.after(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  await waitFor(name, async () => {
    assert.equal(child.exitCode, null, `${name} runs`);
    return (await fetch(`${baseUrl}/healthz`).catch(() => undefined))?.ok === true ? true : undefined;
  });
  return baseUrl;
}

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
