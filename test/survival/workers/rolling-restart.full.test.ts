import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { createTask } from '../../support/service/call-api.ts';
import { startReadinessProxy } from '../../support/proxies/readiness-proxy.ts';
import { delayEnded, restartUnderLoad, startApiProcess } from '../../support/processes/restart-apis.ts';
import { createTestAccount, createTestEnvironment } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

test('two APIs that are restarted one after the other behind a proxy that polls /readyz refuse no create', (t) =>
  // The delay of each shutdown ends when the proxy has left the process, so no poll can be too late.
  restartUnderLoad(t, delayEnded, async (ports) => {
    const addressOf = (port: number) => `http://127.0.0.1:${port}`;
    const proxy = await startReadinessProxy(ports.map(addressOf));
    t.after(() => proxy.close());
    return { baseUrl: proxy.baseUrl, left: (port) => proxy.left(addressOf(port)) };
  }));

test('SIGTERM turns /readyz to 503 while creates still succeed; SIGINT closes without a delay', async (t) => {
  const environment = await createTestEnvironment({ SHUTDOWN_DELAY: '5m' });
  t.after(() => environment.close());
  const { key } = await createTestAccount(environment.database);
  const port = await reserveFreePort();
  const [stopping, baseUrl] = [await startApiProcess(t, environment, port), `http://127.0.0.1:${port}`];
  stopping.child.kill('SIGTERM');
  const answer = await waitFor('503', async () => {
    const response = await fetch(`${baseUrl}/readyz`);
    return response.status === 503 ? response.json() : undefined;
  });
  assert.deepEqual((answer as { data: unknown }).data, { reasons: ['stopping'] });
  const request = { model: 'videogen-2.0-fast', input: { prompt: 'late' } };
  assert.equal((await createTask({ baseUrl, key }, request)).status, 200);
  stopping.child.kill('SIGKILL');
  await once(stopping.child, 'exit');
  const interrupted = await startApiProcess(t, environment, port);
  interrupted.child.kill('SIGINT');
  assert.deepEqual(await once(interrupted.child, 'exit'), [0, null]);
});

test('an API makes the folder of results private', async (t) => {
  const environment = await createTestEnvironment();
  t.after(() => environment.close());
  const resultStore = join(environment.settings.dataFolder, 'results');
  await mkdir(resultStore, { recursive: true });
  await chmod(resultStore, 0o755);
  await startApiProcess(t, environment, environment.settings.port);
  assert.equal((await stat(resultStore)).mode & 0o777, 0o700);
});
