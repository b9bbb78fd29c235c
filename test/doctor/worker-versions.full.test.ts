import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTemporal } from '../../src/doctor/check-temporal.ts';
import { createInstallation } from '../support/installation.ts';
import { makeCurrent } from '../support/worker-versions.ts';

test('doctor reports workers that get no tasks because no version is current', async () => {
  const installation = await createInstallation();
  try {
    const { client, settings, startWorker } = installation;
    const queueOf = async () => {
      const findings = await checkTemporal({
        target: settings.temporal,
        taskQueue: settings.taskQueue,
        queues: ['tasks'],
      });
      return findings.find(({ check }) => check === 'queue tasks');
    };
    await startWorker({ settings: { workerVersion: '1.0.0' } });
    assert.match((await queueOf())?.message ?? '', /no version of workers is current/);
    await makeCurrent(client, installation, '1.0.0');
    assert.equal((await queueOf())?.state, 'ok');
  } finally {
    await installation.close();
  }
});
