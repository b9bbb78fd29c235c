import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../src/platform/log/log.ts';
import { startApi } from '../../../src/run/main/start-api.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { createTestEnvironment } from '../../support/service/test-service.ts';

const log = createLog({ level: 'silent' });

test('an API is ready until it leaves, answers meanwhile, and is gone when it is closed', async (t) => {
  const environment = await createTestEnvironment();
  t.after(() => environment.close());
  const { settings } = environment;
  const metrics = createMetrics();
  const api = await startApi(settings, log, metrics);
  const read = async (path: string) => {
    const response = await fetch(settings.publicUrl + path);
    await response.arrayBuffer();
    return response;
  };
  const state = async () => {
    const { status, headers } = await read('/readyz');
    return [status, headers.get('connection') === 'keep-alive', metrics.readiness.get('api')?.()];
  };
  try {
    assert.deepEqual(await state(), [200, true, []]);
    await assert.rejects(startApi(settings, log), { name: 'SetupError', message: /PORT/ });
    assert.deepEqual(await state(), [200, true, []]);
    api.leave?.();
    assert.deepEqual(await state(), [503, false, ['stopping']]);
    assert.equal((await read('/healthz')).status, 200);
  } finally {
    await api.close();
  }
  await assert.rejects(read('/healthz'), TypeError);
});
