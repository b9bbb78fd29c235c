import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { startApi } from '../../../src/run/main/start-api.ts';
import { settingsWithNothingEmbedded } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { type DrainablePart } from '../../../src/run/main/run-until-signal.ts';
import { startWorker } from '../../../src/run/main/start-worker.ts';
import { createdTask, resultUrlsIn, waitForRecord } from '../../support/service/call-api.ts';
import { skipsWithoutS3, startS3Server } from '../../support/servers/s3-server.ts';
import { createTestAccount, createTestEnvironment } from '../../support/service/test-service.ts';
import { videogen } from '../../support/processes/run-videogen.ts';

type Stores = { readonly RESULT_STORE: string; readonly RESULT_STORE_ALSO?: string };

test(
  'an installation moves from a folder to a bucket in the steps of the guide; every link works at every step',
  {
    skip: skipsWithoutS3,
  },
  async (t) => {
    const server = await startS3Server();
    // Read by the SDK itself.
    Object.assign(process.env, server.environment);
    const world = await createTestEnvironment(server.environment);
    const { key } = await createTestAccount(world.database, 100_000);
    const log = createLog({ level: 'silent' });
    const running = new Set<DrainablePart>();
    t.after(async () => {
      for (const part of running) await part.close();
      await world.close();
      await server.close();
    });

    /** An API and a worker with these stores. */
    const startBoth = async (stores: Stores) => {
      const port = await reserveFreePort();
      const environment = { ...world.environment, PORT: String(port), ...stores };
      const settings = settingsWithNothingEmbedded(readConfig(environment));
      const worker = await startWorker(settings, log, (error) => {
        throw error;
      });
      await worker.running;
      const api = await startApi(settings, log);
      running.add(worker).add(api);
      const stop = async () => {
        for (const part of [api, worker]) {
          running.delete(part);
          await part.close();
        }
      };
      return { baseUrl: settings.publicUrl, stop };
    };
    type Pair = Awaited<ReturnType<typeof startBoth>>;

    const links: URL[] = [];
    const makeVideos = async (...pairs: readonly Pair[]) => {
      const tasks = await Promise.all(
        [...pairs, ...pairs, ...pairs].map(async ({ baseUrl }) => {
          const api = { baseUrl, key };
          return { api, taskId: await createdTask(api, 'A blue door [[instant]]') };
        }),
      );
      for (const { api, taskId } of tasks) {
        const record = await waitForRecord(api, taskId);
        assert.equal(record['state'], 'success', String(record['failMsg']));
        links.push(new URL(String(resultUrlsIn(record)[0])));
      }
    };
    const allWork = async (...pairs: readonly Pair[]) => {
      for (const { baseUrl } of pairs)
        for (const { pathname, search } of links) {
          const response = await fetch(`${baseUrl}${pathname}${search}`);
          assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'video/mp4'], pathname);
          await response.arrayBuffer();
        }
    };

    const folder = join(world.settings.dataFolder, 'results');
    const bucket = `s3://${server.bucket}/videos`;
    const before = await startBoth({ RESULT_STORE: folder });
    await makeVideos(before);
    const both = await startBoth({ RESULT_STORE: folder, RESULT_STORE_ALSO: bucket });
    await makeVideos(before, both);
    await allWork(before, both);
    await before.stop();
    const moved = await startBoth({ RESULT_STORE: bucket, RESULT_STORE_ALSO: folder });
    // Steps of one task run on either worker.
    await makeVideos(both, moved);
    await allWork(both, moved);
    await both.stop();
    const env = { ...world.environment, RESULT_STORE: bucket, RESULT_STORE_ALSO: folder };
    const [copied] = await Promise.all([videogen(env, 'media', 'copy'), makeVideos(moved)]);
    assert.equal(copied.code, 0, copied.stderr);
    assert.match(
      copied.stdout,
      /0 failed\.\nEvery file of .* that is needed is in .*: RESULT_STORE_ALSO can be removed\./,
    );
    await allWork(moved);
    await moved.stop();
    await rm(folder, { recursive: true });
    const alone = await startBoth({ RESULT_STORE: bucket });
    await makeVideos(alone);
    await allWork(alone);
  },
);
