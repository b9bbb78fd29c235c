import { test } from 'node:test';
import { checkTemporal } from '../../../src/run/doctor/check-temporal.ts';
import { createInstallation } from '../../support/service/test-installation.ts';
import { waitFor } from '../../support/wait-for.ts';
import { makeCurrent } from '../../support/service/make-version-current.ts';

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
    // Temporal lists a worker after its first poll.
    await waitFor('the worker without tasks', async () =>
      /no version of workers is current/.test((await queueOf())?.message ?? ''),
    );
    await makeCurrent(client, installation, '1.0.0');
    await waitFor('the worker with tasks', async () => (await queueOf())?.state === 'ok');
  } finally {
    await installation.close();
  }
});
