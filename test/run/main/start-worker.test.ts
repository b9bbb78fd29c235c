import assert from 'node:assert/strict';
import { mkdir, readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLog } from '../../../src/platform/log/log.ts';
import { startWorker } from '../../../src/run/main/start-worker.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import type { Environment } from '../../../src/run/config/config.ts';
import { createTestEnvironment } from '../../support/service/test-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Starts a worker and closes it; returns why it was not ready at its start, while it ran, and at its end. */
async function reasonsOf(given: Environment): Promise<readonly (readonly string[] | undefined)[]> {
  const environment = await createTestEnvironment(given);
  const metrics = createMetrics();
  const failures: unknown[] = [];
  const onFatal = (error: unknown) => void failures.push(error);
  try {
    const worker = await startWorker(environment.settings, createLog({ level: 'silent' }), onFatal, metrics);
    const reasons = () => metrics.readiness.get('worker')?.();
    const starting = reasons();
    await worker.running;
    const running = reasons();
    await worker.close();
    assert.deepEqual(failures, []);
    return [starting, running, reasons()];
  } finally {
    await environment.close();
  }
}

test('a worker of callbacks needs no folder, no store and no ffmpeg, and is ready while it polls', async () => {
  const nothing = { VIDEOGEN_DATA: '/dev/null/data', RESULT_STORE: '/dev/null/results', FFMPEG_PATH: '/nowhere' };
  assert.deepEqual(await reasonsOf({ ...nothing, WORKER_QUEUES: 'callbacks' }), [['starting'], [], ['stopping']]);
});

test('a worker that generates deletes the folders of attempts that no attempt can use any more', async (t) => {
  const folder = await temporaryFolder(t);
  const hourMs = 3_600_000;
  for (const [name, hours] of [
    ['stale', 26.1],
    ['recent', 25.9],
  ] as const) {
    const path = join(folder, 'work', name);
    await mkdir(path, { recursive: true, mode: 0o700 });
    const changedAt = new Date(Date.now() - hours * hourMs);
    await utimes(path, changedAt, changedAt);
  }
  const given = { VIDEOGEN_DATA: folder, WORKER_QUEUES: 'generation' };
  assert.deepEqual(await reasonsOf(given), [['starting'], [], ['stopping']]);
  assert.deepEqual(await readdir(join(folder, 'work')), ['recent']);
});

test('a worker that generates does not start without its folder', async () => {
  const given = { VIDEOGEN_DATA: '/dev/null/data', WORKER_QUEUES: 'generation' };
  await assert.rejects(reasonsOf(given), { name: 'SetupError' });
});
