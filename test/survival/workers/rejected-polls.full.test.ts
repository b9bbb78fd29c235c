import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLog } from '../../../src/platform/log/log.ts';
import { startWorker } from '../../../src/run/main/start-worker.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import type { DrainablePart } from '../../../src/run/main/run-until-signal.ts';
import { connectTemporal } from '../../../src/temporal/connection/connect.ts';
import { createWorkflowEngine } from '../../../src/temporal/engine/create-workflow-engine.ts';
import { taskQueuesOf } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { type GrpcProxy, startGrpcProxy } from '../../support/proxies/grpc-proxy.ts';
import { temporalAddress } from '../../support/servers/server-addresses.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../../support/service/test-service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

const model = 'videogen-2.0-fast';
/** Shorter than in production, where the SDK's worker would end after 50 s. */
const checkMs = 100;

// What a proxy answers whose server is gone, and Temporal itself to a key that has expired.
const answers = [
  { what: 'HTTP 404 in its place', headers: { ':status': 404 } },
  { what: 'HTTP 403 in its place', headers: { ':status': 403 } },
  {
    what: 'UNAUTHENTICATED',
    headers: { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16', 'grpc-message': 'no' },
  },
];

let environment: TestEnvironment;
let proxy: GrpcProxy;
let replacement: (typeof answers)[number]['headers'] | undefined;
let worker: DrainablePart & { readonly running: Promise<void> };
const fatal: unknown[] = [];
const metrics = createMetrics();
before(async () => {
  proxy = await startGrpcProxy(temporalAddress(), () => replacement);
  environment = await createTestEnvironment({ TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}` });
  const log = createLog({ level: 'silent' });
  worker = await startWorker(environment.settings, log, (error) => fatal.push(error), metrics, undefined, checkMs);
  await worker.running;
});
after(async () => {
  await worker.close();
  await environment.close();
  await proxy.close();
});

for (const { what, headers } of answers) {
  test(`a worker that gets ${what} from Temporal waits as for an outage, and then continues`, async () => {
    const { database, settings } = environment;
    replacement = headers;
    proxy.cut();
    const reasons = () => metrics.readiness.get('worker')?.() ?? [];
    await waitFor('a pause', () => (reasons().includes('starting') ? true : undefined));
    const { accountId } = await createTestAccount(database, 10_000);
    const taskId = await acceptTestTask(database.db, accountId, taskParam('p'));
    const direct = connectTemporal({ ...settings.temporal, connection: { address: temporalAddress() } });
    await createWorkflowEngine(direct.client, taskQueuesOf(settings.taskQueue)).startTask({ taskId, accountId, model });
    await direct.close();
    replacement = undefined;
    await waitForEnd(database.db, taskId);
    await waitFor('readiness', () => (reasons().includes('starting') ? undefined : true));
    assert.deepEqual(fatal, []);
  });
}
