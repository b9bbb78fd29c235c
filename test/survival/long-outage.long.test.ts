import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '../../src/log.ts';
import { startApi } from '../../src/main/start-api.ts';
import type { Settings } from '../../src/main/settings.ts';
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
/** In the second half of the outage. With pauses of a second at most there are some thirty; the SDK's own leave two or three. */
const fewestTries = 12;

test('through a minute without Temporal the API tries again every second or two, and then what was accepted meanwhile begins', async () => {
  const [proxyOfApi, proxyOfWorker] = [await startTcpProxy(temporalAddress()), await startTcpProxy(temporalAddress())];
  const environment = await createTestEnvironment({ TEMPORAL_ADDRESS: proxyOfApi.address });
  const upstream = createFakeUpstream();
  const { settings, database } = environment;
  const api = { baseUrl: settings.publicUrl, key: (await createTestAccount(database, 1_000_000)).key };
  const parts = [
    await startWorkerWith(withTemporalAt(settings, proxyOfWorker.address), upstream),
    await startApi(settings, createLog({ level: 'silent' })),
  ];
  try {
    for (const proxy of [proxyOfApi, proxyOfWorker]) proxy.cut();
    let triesAtHalf = 0;
    const taskIds: string[] = [];
    for (let index = 0; index < creates; index += 1) {
      const { status, body } = await createTask(api, { model: 'videogen-2.0-fast', input: { prompt: 'patience' } });
      assert.equal(status, 200, body.msg);
      taskIds.push(String(body.data['taskId']));
      // An outage is a length of time: there is no condition to wait for.
      await delay(outageMs / creates);
      if (index + 1 === creates / 2) triesAtHalf = proxyOfApi.refused();
    }
    assert.deepEqual(upstream.asked, []);
    const tries = proxyOfApi.refused() - triesAtHalf;
    assert.ok(tries >= fewestTries, `it tried ${tries} times`);
    for (const proxy of [proxyOfApi, proxyOfWorker]) proxy.restore();
    await waitFor('the last task', () => (upstream.asked.length === creates ? true : undefined));
    for (const taskId of taskIds) assert.equal((await waitForEnd(database.db, taskId)).state, 'success');
  } finally {
    for (const proxy of [proxyOfApi, proxyOfWorker]) proxy.restore();
    for (const part of parts.toReversed()) await part.close();
    await Promise.all([proxyOfApi.close(), proxyOfWorker.close()]);
    await environment.close();
  }
});

function withTemporalAt(settings: Settings, address: string): Settings {
  const { temporal } = settings;
  return { ...settings, temporal: { ...temporal, connection: { ...temporal.connection, address } } };
}
