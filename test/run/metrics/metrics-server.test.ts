import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { startMetricsAndHealthServer } from '../../../src/run/main/monitoring/metrics-and-health-server.ts';
import { assertRefused, createHttpClient } from '../../support/service/http-client.ts';

const host = '127.0.0.1';
const log = createLog({ level: 'silent' });

test('METRICS_PORT serves the metrics of this process, that it lives and whether it is ready, and nothing else, until it is closed', async () => {
  const metricsPort = await reserveFreePort();
  const metrics = createMetrics();
  const part = await startMetricsAndHealthServer({ host, metricsPort }, log, metrics);
  const send = createHttpClient(`http://${host}:${metricsPort}`);
  try {
    metrics.eventsOf(builtInCatalogue).emit({ kind: 'task_reconciled', outcome: 'started' });
    // Also through a proxy: the operator decides who reaches the port.
    const answer = await send('GET', '/metrics', { headers: { 'x-forwarded-for': '203.0.113.1' } });
    assert.match(answer.bytes.toString(), /^videogen_tasks_reconciled_total\{outcome="started"\} 1$/m);
    assert.deepEqual((await send('GET', '/healthz')).json, { code: 200, msg: 'success', data: {} });
    assertRefused(await send('GET', '/readyz'), 503, /not ready/, { reasons: ['starting'] });
    let reasons: readonly string[] = ['Temporal has no namespace x'];
    metrics.readiness.set('worker', () => reasons);
    assertRefused(await send('GET', '/readyz'), 503, /not ready/, { reasons });
    reasons = [];
    assert.deepEqual((await send('GET', '/readyz')).json, { code: 200, msg: 'success', data: {} });
    for (const path of ['/', '/api/v1/credits', '/openapi.json', '/docs']) {
      assertRefused(await send('GET', path), 404, /unknown endpoint/);
    }
    assertRefused(await send('POST', '/metrics'), 405, /^method POST not allowed; allowed: GET, HEAD, OPTIONS$/);
  } finally {
    await part.close();
  }
  await assert.rejects(send('GET', '/healthz'), /ECONNREFUSED/);
});

test('a port that is in use is an error that names METRICS_PORT and the port', async () => {
  const metricsPort = await reserveFreePort();
  const part = await startMetricsAndHealthServer({ host, metricsPort }, log, createMetrics());
  try {
    await assert.rejects(startMetricsAndHealthServer({ host, metricsPort }, log, createMetrics()), {
      name: 'SetupError',
      message: new RegExp(`${metricsPort}.*METRICS_PORT`),
    });
  } finally {
    await part.close();
  }
});

test('without METRICS_PORT nothing is served', async () => {
  const part = await startMetricsAndHealthServer({ host, metricsPort: undefined }, log, createMetrics());
  await part.close();
});
