import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '../../src/log.ts';
import { startApiRole } from '../../src/roles/api-role.ts';
import { createTask } from '../support/api.ts';
import { createFakeUpstream } from '../support/fake-upstream.ts';
import { temporalAddress } from '../support/servers.ts';
import { createTestAccount, createTestEnvironment } from '../support/service.ts';
import { waitForEnd } from '../support/tasks.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWorkerWith } from '../support/worker-with.ts';

/** Long enough for pauses between tries to connect to have grown to where they would hurt; almost nothing runs meanwhile. */
const outageMs = 60_000;
const creates = 20;
/** From the end of the outage until the last task is being generated; with the SDK's pauses it took 10 s and more. */
const catchUpMs = 5_000;

test('after a minute without Temporal what was accepted meanwhile begins within seconds', async () => {
  const engineProxy = await startTcpProxy(temporalAddress());
  const environment = await createTestEnvironment({ TEMPORAL_ADDRESS: engineProxy.address });
  const upstream = createFakeUpstream();
  const { settings, database } = environment;
  const api = { baseUrl: settings.publicUrl, key: (await createTestAccount(database, 1_000_000)).key };
  const roles = [
    await startWorkerWith(settings, upstream),
    await startApiRole(settings, createLog({ level: 'silent' })),
  ];
  try {
    engineProxy.cut();
    const taskIds: string[] = [];
    for (let index = 0; index < creates; index += 1) {
      const { status, body } = await createTask(api, { model: 'videogen-2.0-fast', input: { prompt: 'patience' } });
      assert.equal(status, 200, body.msg);
      taskIds.push(String(body.data['taskId']));
      // An outage is a length of time: there is no condition to wait for.
      await delay(outageMs / creates);
    }
    assert.deepEqual(upstream.asked, []);
    engineProxy.restore();
    const restoredAt = performance.now();
    await waitFor('the last task', () => (upstream.asked.length === creates ? true : undefined));
    const tookMs = performance.now() - restoredAt;
    assert.ok(tookMs < catchUpMs, `it took ${Math.round(tookMs)} ms`);
    for (const taskId of taskIds) assert.equal((await waitForEnd(database.db, taskId)).state, 'success');
  } finally {
    engineProxy.restore();
    for (const role of roles.toReversed()) await role.close();
    await engineProxy.close();
    await environment.close();
  }
});
