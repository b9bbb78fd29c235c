import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const urlOf = (file: string) => JSON.stringify(new URL(`../../../../${file}.js`, import.meta.url).href);

/** Returns what an API and a worker trace whose settings turn tracing on or off, in a process of its own, because it lasts that long. */
async function tracedBy(isTracing: boolean): Promise<unknown> {
  const program = `
    const { startTracing } = await import(${urlOf('src/run/main/monitoring/tracing')});
    const { readConfig } = await import(${urlOf('src/run/config/config')});
    const { settingsWithNothingEmbedded } = await import(${urlOf('src/run/config/complete-settings-and-derived-values')});
    const { createLog } = await import(${urlOf('src/platform/log/log')});
    const { createMetrics } = await import(${urlOf('src/run/metrics/create-metrics-registry')});
    const { needsFromSettings } = await import(${urlOf('src/run/main/api-dependencies')});
    const { openSharedDependencies } = await import(${urlOf('src/run/main/shared-dependencies')});
    const { workerOptionsPerQueue } = await import(${urlOf('src/run/main/worker-options')});
    const { workerParts } = await import(${urlOf('test/support/service/worker-parts')});
    const settings = settingsWithNothingEmbedded(readConfig(process.env));
    const log = createLog({ level: 'silent' });
    const tracing = await startTracing(settings, log);
    const { db, temporal, close } = openSharedDependencies(settings, log, createMetrics(), { part: 'worker' });
    const queues = workerOptionsPerQueue(settings, workerParts(db, '/srv', []));
    console.log(JSON.stringify({
      requests: needsFromSettings(settings).isTraced,
      starts: (temporal.client.options.interceptors?.workflow ?? []).flatMap((one) => Object.keys(one)),
      activities: queues.map(({ interceptors, sinks }) => [interceptors?.activity?.length ?? 0, Object.keys(sinks ?? {})]),
      workflows: queues.flatMap(({ workflowBundle }) => workflowBundle?.codePath.split('/').at(-1) ?? []),
    }));
    await close();
    await tracing.close();
    process.exit();
  `;
  const env = {
    ...process.env,
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    VIDEOGEN_SECRET: 's'.repeat(32),
    RESULT_STORE: '/srv/results',
    WORKER_QUEUES: 'tasks,callbacks',
    ...(isTracing && { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }),
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env });
  return JSON.parse(stdout);
}

test('while traces are exported, requests, starts, activities and workflows are traced', async () => {
  const queue = [1, ['exporter']];
  assert.deepEqual(await tracedBy(true), {
    requests: true,
    starts: ['start', 'startWithDetails', 'signalWithStart'],
    activities: [queue, queue],
    workflows: ['workflow-bundle-traced.js'],
  });
});

test('without an endpoint for traces nothing is traced', async () => {
  const queue = [0, []];
  const nothing = { requests: false, starts: [], activities: [queue, queue], workflows: ['workflow-bundle.js'] };
  assert.deepEqual(await tracedBy(false), nothing);
});
