import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createLog } from '../../src/platform/log/log.ts';
import {
  type QueueName,
  queueNames,
  taskQueuesOf,
} from '../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import type { DrainablePart } from '../../src/run/main/run-until-signal.ts';
import { startApi } from '../../src/run/main/start-api.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/connection/connect.ts';
import { startOwnUpstream } from '../fakes/own-upstream.ts';
import type { RunningUpstream } from '../fakes/upstream-books.ts';
import { createTask } from '../support/service/call-api.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import { endPrograms } from '../support/processes/programs.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service/test-service.ts';
import { waitForEnd } from '../support/tasks/tasks.ts';
import { spawnEntryPoint } from '../support/processes/run-videogen.ts';
import { waitFor } from '../support/wait-for.ts';

const upstreamKey = 'the key of the upstream';

describe('four worker processes, of one queue each', () => {
  let folder: string;
  let environment: TestEnvironment;
  let upstream: RunningUpstream;
  let receiver: CallbackReceiver;
  let api: DrainablePart;
  let temporal: TemporalConnection;
  const workers = new Map<QueueName, { readonly child: ChildProcess; readonly metricsPort: number }>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-roles-'));
    upstream = await startOwnUpstream({ key: upstreamKey });
    receiver = await startCallbackReceiver();
    const script = { kind: 'own', baseUrl: `http://${upstream.address}`, key: { env: 'ROLES_TEST_KEY' } };
    const sold = { title: 'M', prices: [{ creditsPerSecond: 7 }] };
    const models = [
      { ...sold, model: 'here', providers: ['preview'] },
      { ...sold, model: 'elsewhere', providers: ['script'] },
    ];
    await writeFile(join(folder, 'catalogue.json'), JSON.stringify({ providers: { script }, models }));
    environment = await createTestEnvironment({ VIDEOGEN_MODELS: join(folder, 'catalogue.json') });
    temporal = connectTemporal(environment.settings.temporal);
    api = await startApi(environment.settings, createLog({ level: 'silent' }));
    for (const name of queueNames) await startWorker(name);
    await Promise.all(queueNames.map((name) => waitFor(`pollers of ${name}`, async () => (await pollersOf(name))[0])));
  });
  after(async () => {
    const violations = await auditLedger(environment.database.db);
    await api.close();
    await endPrograms();
    await temporal.close();
    await environment.close();
    await Promise.all([upstream.close(), receiver.close()]);
    await rm(folder, { recursive: true });
    assert.deepEqual(violations, []);
  });

  /** With nothing that its queue has no use for. The first is started by the command, the others as in a container. */
  async function startWorker(name: QueueName): Promise<void> {
    const metricsPort = await reserveFreePort();
    const secrets = ['tasks', 'generation-remote'].includes(name) ? { ROLES_TEST_KEY: upstreamKey } : {};
    const noFfmpeg = { FFMPEG_PATH: join(folder, 'no-ffmpeg') };
    const without = {
      tasks: {},
      generation: {},
      'generation-remote': {},
      callbacks: { ...noFfmpeg, RESULT_STORE: '/dev/null/results', VIDEOGEN_DATA: '/dev/null/data' },
    }[name];
    const env = { ...environment.environment, METRICS_PORT: String(metricsPort), ...secrets, ...without };
    const { child } =
      name === 'tasks'
        ? spawnEntryPoint('cli', { ...env, WORKER_QUEUES: 'callbacks' }, 'worker', '--queues', name)
        : spawnEntryPoint('worker', { ...env, WORKER_QUEUES: name });
    workers.set(name, { child, metricsPort });
  }

  /** Process ids, by what each worker calls itself, of those that poll for workflow steps or activities. */
  async function pollersOf(name: QueueName): Promise<readonly number[]> {
    const taskQueue = { name: taskQueuesOf(environment.settings.taskQueue)[name] };
    const { namespace } = environment.settings.temporal;
    const described = await Promise.all(
      [1, 2].map((taskQueueType) =>
        temporal.client.workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType }),
      ),
    );
    const ids = described.flatMap(({ pollers }) => pollers.map(({ identity }) => Number.parseInt(identity ?? '', 10)));
    return [...new Set(ids)];
  }

  test('each polls only its own queue, and is healthy', async () => {
    for (const name of queueNames) {
      const { child, metricsPort } = workers.get(name) ?? assert.fail();
      assert.deepEqual(await pollersOf(name), [child.pid], name);
      assert.equal((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status, 200, name);
    }
  });

  test('a task that is rendered here, and one at an upstream, pass through all of them, callbacks included', async () => {
    const { key } = await createTestAccount(environment.database, 10_000);
    const create = async (model: string, prompt: string) => {
      const request = { model, input: { prompt, duration: 4 }, callBackUrl: `${receiver.url}/${model}` };
      const { status, body } = await createTask({ baseUrl: environment.settings.publicUrl, key }, request);
      assert.equal(status, 200, body.msg);
      return String(body.data['taskId']);
    };
    const here = await create('here', '[[instant]] a lighthouse');
    const elsewhere = await create('elsewhere', 'a paper boat');
    const job = await waitFor('the job', async () => (await upstream.books.jobsFor('a paper boat'))[0]);
    await upstream.books.end(job.id, 'succeeded');
    for (const taskId of [here, elsewhere]) {
      const task = await waitForEnd(environment.database.db, taskId);
      assert.equal(task.state, 'success', JSON.stringify(task.failure));
    }
    for (const model of ['here', 'elsewhere']) {
      const [callback] = await receiver.waitForCallbacks(`/${model}`, 1);
      assert.match(callback?.body ?? '', /"state":"success"/);
    }
  });
});

for (const [what, args, env, code, stderr] of [
  [
    'as an option',
    ['worker', '--queues', 'tasks,calbacks'],
    {},
    2,
    /"calbacks": unknown queue, did you mean callbacks\?/,
  ],
  [
    'in the environment',
    ['worker'],
    { WORKER_QUEUES: 'render' },
    1,
    /WORKER_QUEUES: "render": unknown queue, allowed: tasks/,
  ],
] as const) {
  test(`a queue that does not exist is refused ${what}`, async () => {
    const refused = spawnEntryPoint('cli', { ...process.env, ...env }, ...args);
    await refused.closed;
    assert.deepEqual([refused.child.exitCode, refused.stdout()], [code, '']);
    assert.match(refused.stderr(), stderr);
  });
}
