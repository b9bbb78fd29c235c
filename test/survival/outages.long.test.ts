import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { createLog } from '../../src/log.ts';
import { startApi } from '../../src/main/start-api.ts';
import type { RunningPart } from '../../src/main/settings.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/connect.ts';
import type { Engine } from '../../src/domain/ports.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { type Api, call, createTask } from '../support/api.ts';
import { createFakeUpstream } from '../support/fake-upstream.ts';
import { postgresUrl, temporalAddress } from '../support/servers.ts';
import {
  createTestAccount,
  createTestEnvironment,
  type TestAccount,
  type TestEnvironment,
} from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWorkerWith } from '../support/worker-with.ts';

describe('an outage', () => {
  const upstream = createFakeUpstream({ instant: false });
  let environment: TestEnvironment;
  let account: TestAccount;
  let api: Api;
  let postgres: TcpProxy;
  let engineProxy: TcpProxy;
  let temporal: TemporalConnection;
  let engine: Engine;
  let parts: readonly RunningPart[];
  before(async () => {
    postgres = await startTcpProxy(new URL(await postgresUrl()).host);
    engineProxy = await startTcpProxy(temporalAddress());
    environment = await createTestEnvironment({ TEMPORAL_ADDRESS: engineProxy.address, GENERATION_CONCURRENCY: '1' });
    account = await createTestAccount(environment.database, 1_000_000);
    const databaseUrl = new URL(environment.database.url);
    databaseUrl.host = postgres.address;
    const settings = { ...environment.settings, databaseUrl: databaseUrl.href };
    api = { baseUrl: settings.publicUrl, key: account.key };
    temporal = connectTemporal({ ...settings.temporal, connection: { address: temporalAddress() } });
    engine = createEngine(temporal.client, taskQueuesOf(settings.taskQueue));
    parts = [await startWorkerWith(settings, upstream), await startApi(settings, createLog({ level: 'silent' }))];
  });
  after(async () => {
    postgres.restore();
    engineProxy.restore();
    const violations = await auditLedger(environment.database.db);
    for (const part of parts.toReversed()) await part.close();
    await temporal.close();
    await Promise.all([postgres.close(), engineProxy.close()]);
    await environment.close();
    assert.deepEqual(violations, []);
  });

  const request = { model: 'videogen-2.0-fast', input: { prompt: 'An outage', duration: 4 } };
  const accepted = async () => {
    const { status, body } = await createTask(api, request);
    assert.equal(status, 200, body.msg);
    return String(body.data['taskId']);
  };
  const kinds = async (taskId: string) =>
    (await listTaskEntries(environment.database.db, taskId)).map(({ kind }) => kind);
  const generating = (taskId: string) =>
    waitFor('a job', () => (upstream.jobs.some((job) => job.taskId === taskId) ? true : undefined));

  test('of the database in the middle of generation ends, with the task, in one charge, one job and success', async () => {
    const taskId = await accepted();
    await generating(taskId);
    postgres.cut();
    upstream.finish(taskId);
    const refused = await waitFor('a refusal', async () => {
      const answer = await call(api, '/api/v1/credits');
      return answer.status === 503 ? answer : undefined;
    });
    assert.match(String(refused.headers.get('retry-after')), /^\d+$/);
    // The generation that has ended cannot be noted; it is waited for until an attempt has failed because of that.
    await waitFor('a failed attempt', async () => {
      const { raw } = await temporal.client.workflow.getHandle(taskId).describe();
      return raw.pendingActivities?.some(({ attempt }) => (attempt ?? 1) > 1) === true ? true : undefined;
    });
    postgres.restore();
    assert.equal((await waitForEnd(environment.database.db, taskId)).state, 'success');
    assert.deepEqual(await kinds(taskId), ['charge']);
    assert.equal(upstream.jobs.filter((job) => job.taskId === taskId).length, 1);
  });

  test('of the database when a task is to be charged, or ended, is waited out', async () => {
    const taskId = await acceptTestTask(environment.database.db, account.accountId, taskParam('charged later'));
    postgres.cut();
    await engine.startTask({ taskId, accountId: account.accountId, model: 'videogen-2.0-fast' });
    await waitFor('the first step', async () => {
      const { events } = await temporal.client.workflow.getHandle(taskId).fetchHistory();
      return events?.some((event) => event.workflowTaskStartedEventAttributes) === true ? true : undefined;
    });
    postgres.restore();
    await generating(taskId);
    await temporal.client.workflow.getHandle(taskId).cancel();
    postgres.cut();
    await waitFor('the refund to be tried', async () => {
      const { pendingActivities } = await engine.describeTask(taskId);
      return pendingActivities.includes('refundCredits') ? true : undefined;
    });
    postgres.restore();
    const task = await waitForEnd(environment.database.db, taskId);
    assert.equal(task.failure?.failCode, 'cancelled');
    assert.deepEqual(await kinds(taskId), ['charge', 'refund']);
  });

  test('of Temporal lets tasks be accepted, which are generated in order of arrival when it is back', async () => {
    engineProxy.cut();
    const taskIds: string[] = [];
    for (let index = 0; index < 160; index += 1) taskIds.push(await accepted());
    const [first] = taskIds;
    assert.ok(first);
    assert.equal((await engine.describeTask(first)).status, 'missing');
    engineProxy.restore();
    await upstream.whileFinishing(async () => {
      for (const taskId of taskIds) assert.equal((await waitForEnd(environment.database.db, taskId)).state, 'success');
    });
    const places = upstream.asked.map((taskId) => taskIds.indexOf(taskId)).filter((place) => place >= 0);
    assert.equal(places.length, taskIds.length, 'each was asked for once');
    // Workflows of the same moment overtake each other, by some forty places (measured); the first never wait for the last.
    const lastOfFirst = Math.max(...taskIds.slice(0, 40).map((_, place) => places.indexOf(place)));
    const firstOfLast = Math.min(...taskIds.slice(-40).map((_, index) => places.indexOf(120 + index)));
    assert.ok(lastOfFirst < firstOfLast, `order of generation: ${places.join(' ')}`);
  });
});
