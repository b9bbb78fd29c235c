import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createLog } from '../../src/platform/log/log.ts';
import { startApi } from '../../src/run/main/start-api.ts';
import type { DrainablePart } from '../../src/run/main/run-until-signal.ts';
import { type Api, call, createdTask } from '../support/service/call-api.ts';
import {
  connectEngine,
  createInstallation,
  type EngineClient,
  type Installation,
  model,
} from '../support/service/test-installation.ts';
import { postgresUrl, temporalAddress } from '../support/servers/server-addresses.ts';
import { createTestAccount, type TestAccount } from '../support/service/test-service.ts';
import { acceptTestTask, entryKinds, taskParam, waitForEnd } from '../support/tasks/tasks.ts';
import { startTcpProxy, type TcpProxy } from '../support/proxies/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';

describe('an outage', () => {
  let installation: Installation;
  let account: TestAccount;
  let api: Api;
  let apiProcess: DrainablePart;
  let postgres: TcpProxy;
  let engineProxy: TcpProxy;
  /** Reaches Temporal past the proxy. */
  let temporal: EngineClient;
  before(async () => {
    postgres = await startTcpProxy(new URL(await postgresUrl()).host);
    engineProxy = await startTcpProxy(temporalAddress());
    installation = await createInstallation({ TEMPORAL_ADDRESS: engineProxy.address, GENERATION_CONCURRENCY: '1' });
    account = await createTestAccount(installation.database, 1_000_000);
    const databaseUrl = new URL(installation.database.url);
    databaseUrl.host = postgres.address;
    const settings = { ...installation.settings, databaseUrl: databaseUrl.href };
    api = { baseUrl: settings.publicUrl, key: account.key };
    const direct = { ...settings.temporal, connection: { address: temporalAddress() } };
    temporal = connectEngine({ settings: { ...settings, temporal: direct } });
    await installation.startWorker({ settings });
    apiProcess = await startApi(settings, createLog({ level: 'silent' }));
  });
  after(async () => {
    postgres.restore();
    engineProxy.restore();
    await apiProcess.close();
    await temporal.close();
    await installation.close();
    await Promise.all([postgres.close(), engineProxy.close()]);
  });

  const create = () => createdTask(api, 'an outage');

  test('of the database in the middle of generation ends, with the task, in one charge, one job and success', async () => {
    const taskId = await create();
    await installation.waitForJob(taskId);
    postgres.cut();
    installation.upstream.finish(taskId);
    const refused = await waitFor('a refusal', async () => {
      const answer = await call(api, '/api/v1/credits');
      return answer.status === 503 ? answer : undefined;
    });
    assert.match(String(refused.headers.get('retry-after')), /^\d+$/);
    // The end of the generation cannot be stored, so an attempt fails.
    await waitFor('a failed attempt', async () => {
      const { raw } = await temporal.client.workflow.getHandle(taskId).describe();
      return raw.pendingActivities?.some(({ attempt }) => (attempt ?? 1) > 1) === true ? true : undefined;
    });
    postgres.restore();
    assert.equal((await waitForEnd(installation.db, taskId)).state, 'success');
    assert.deepEqual(await entryKinds(installation.db, taskId), ['charge']);
    assert.equal(installation.jobsOf(taskId).length, 1);
  });

  test('of the database when a task is to be charged, or ended, is waited out', async () => {
    const taskId = await acceptTestTask(installation.db, account.accountId, taskParam('charged later'));
    postgres.cut();
    await temporal.engine.startTask({ taskId, accountId: account.accountId, model });
    await waitFor('the first step', async () => {
      const { events } = await temporal.client.workflow.getHandle(taskId).fetchHistory();
      return events?.some((event) => event.workflowTaskStartedEventAttributes) === true ? true : undefined;
    });
    postgres.restore();
    await installation.waitForJob(taskId);
    await temporal.client.workflow.getHandle(taskId).cancel();
    postgres.cut();
    await waitFor('the refund to be tried', async () => {
      const { pendingActivities } = await temporal.engine.describeTask(taskId);
      return pendingActivities.includes('refundCredits') ? true : undefined;
    });
    postgres.restore();
    const task = await waitForEnd(installation.db, taskId);
    assert.equal(task.failure?.failCode, 'cancelled');
    assert.deepEqual(await entryKinds(installation.db, taskId), ['charge', 'refund']);
  });

  test('of Temporal lets tasks be accepted, which are generated in order of arrival when it is back', async () => {
    engineProxy.cut();
    const taskIds: string[] = [];
    for (let index = 0; index < 160; index += 1) taskIds.push(await create());
    const [first] = taskIds;
    assert.ok(first);
    assert.equal((await temporal.engine.describeTask(first)).status, 'missing');
    engineProxy.restore();
    await installation.upstream.whileFinishing(async () => {
      for (const taskId of taskIds) assert.equal((await waitForEnd(installation.db, taskId)).state, 'success');
    });
    const places = installation.upstream.asked.map((taskId) => taskIds.indexOf(taskId)).filter((place) => place >= 0);
    assert.equal(places.length, taskIds.length, 'each was generated once');
    // Workflows that start together overtake each other by some forty places (measured), but the first never wait for the last.
    const lastOfFirst = Math.max(...taskIds.slice(0, 40).map((_, place) => places.indexOf(place)));
    const firstOfLast = Math.min(...taskIds.slice(-40).map((_, index) => places.indexOf(120 + index)));
    assert.ok(lastOfFirst < firstOfLast, `order of generation: ${places.join(' ')}`);
  });
});
