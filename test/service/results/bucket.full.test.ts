import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { resultKeysOf, stagingKeysOf } from '../../../activities/task-file-keys-and-deletion.ts';
import { createFolderFiles } from '../../../src/media/store/folder-files.ts';
import { createResultStore } from '../../../src/media/store/result-store.ts';
import { createS3Files } from '../../../src/media/store/s3/s3-files.ts';
import { createTwoStores } from '../../../src/media/store/two-stores.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { type Api, call, createdTask, resultUrlsIn, waitForRecord } from '../../support/service/call-api.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { settled, startVisitor } from '../../support/console/console-visitor.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { connectEngine } from '../../support/service/test-installation.ts';
import { type S3Server, skipsWithoutS3, startS3Server } from '../../support/servers/s3-server.ts';
import {
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../../support/service/test-service.ts';
import { endOf } from '../../support/processes/programs.ts';
import { startTcpProxy, type TcpProxy } from '../../support/proxies/tcp-proxy.ts';
import { spawnEntryPoint } from '../../support/processes/run-videogen.ts';
import { waitFor } from '../../support/wait-for.ts';

describe('a service whose results lie in a bucket', { skip: skipsWithoutS3 }, () => {
  let server: S3Server;
  /** In front of it, to cut it off. */
  let proxy: TcpProxy;
  let service: TestService;
  let account: TestAccount;
  let api: Api;
  let earlier: string;
  before(async () => {
    server = await startS3Server();
    proxy = await startTcpProxy(new URL(server.s3.endpoint).host);
    const environment = { ...server.environment, AWS_ENDPOINT_URL_S3: `http://${proxy.address}` };
    // Read by the SDK itself.
    Object.assign(process.env, environment);
    earlier = join(tmpdir(), 'results-before');
    service = await startTestService({
      ...environment,
      RESULT_STORE: `s3://${server.bucket}/videos`,
      RESULT_STORE_ALSO: earlier,
    });
    account = await createTestAccount(service.database, 10_000);
    api = { baseUrl: service.baseUrl, key: account.key };
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await service.close();
    await proxy.close();
    await server.close();
    assert.deepEqual(violations, []);
  });

  const store = () =>
    createResultStore(
      createTwoStores(
        createS3Files({ location: { kind: 'bucket', bucket: server.bucket, prefix: 'videos/' }, s3: server.s3 }),
        createFolderFiles(earlier),
      ),
      service.settings,
    );
  const created = () => createdTask(api, 'A blue door [[instant]]');
  /** Waits for more than one request, each of which is tried three times. */
  const refusals = () => {
    const soFar = proxy.refused();
    return waitFor('attempts at the store', () => (proxy.refused() >= soFar + 6 ? true : undefined));
  };
  const linkOf = async (taskId: string) => {
    const record = await waitForRecord(api, taskId);
    assert.equal(record['state'], 'success', String(record['failMsg']));
    return String(resultUrlsIn(record)[0]);
  };

  test('a task’s video comes by its link from the bucket, where nothing else of the task stays', async () => {
    const taskId = await created();
    const link = await linkOf(taskId);
    const response = await fetch(link);
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'video/mp4']);
    assert.ok(response.redirected && response.url.startsWith(`http://${proxy.address}/${server.bucket}/`));
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.equal(bytes.subarray(4, 8).toString(), 'ftyp');
    const redirect = await fetch(link, { redirect: 'manual' });
    assert.equal(redirect.status, 302);
    assert.equal(redirect.headers.get('access-control-allow-origin'), '*');
    const head = await fetch(link, { method: 'HEAD' });
    assert.equal(head.headers.get('content-length'), String(bytes.length));
    const stored = (await readdir(join(server.folder, 'videos', 'results', taskId))).toSorted();
    assert.match(stored.join(' '), /^poster-(\w{16})\.jpg video-\1\.mp4$/);
    const all = (await readdir(join(server.folder, 'videos'))).toSorted();
    assert.deepEqual(all, ['.installation', 'results'], 'besides the marker of the installation');
  });

  test(
    'the console plays the video and shows poster and uploads from the bucket, and its policy allows no other origin',
    { skip: skipWithoutBrowser() },
    async () => {
      const [taskId, origin] = [await created(), `http://${proxy.address}`];
      await linkOf(taskId);
      const body = await plainImage(640, 360).png().toBuffer();
      const headers = { 'content-type': 'image/png' };
      const upload = await call(api, '/api/v1/uploads', { method: 'POST', headers, body: new Uint8Array(body) });
      const preview = await fetch(String(upload.body.data['previewUrl']));
      assert.deepEqual([preview.status, new URL(preview.url).origin], [200, origin]);
      const visitor = await startVisitor(service);
      try {
        const { page, errors, foreign } = await visitor.signedIn({ [account.accountId]: 'owner' });
        const shown = (selector: string, size: 'naturalWidth' | 'videoWidth') =>
          waitFor(`the ${size} of ${selector}`, async () => {
            const measure = `document.querySelector(${JSON.stringify(selector)})?.${size} ?? 0`;
            return (await page.evaluate<number>(measure)) > 0 ? true : undefined;
          });
        const pages = `${service.baseUrl}/console/a/${account.accountId}`;
        await page.goto(`${pages}/tasks`);
        await settled(page);
        await shown('main img', 'naturalWidth');
        await page.goto(`${pages}/tasks/${taskId}`);
        await shown('video', 'videoWidth');
        await page.getByRole('link', { name: 'Playground', exact: true }).click();
        const file = { name: 'boat.png', mimeType: 'image/png', buffer: body };
        await page.getByLabel('Files of reference images').setInputFiles(file);
        await shown('.chosen-media img', 'naturalWidth');
        assert.deepEqual(errors, []);
        assert.deepEqual([...new Set(foreign.map((url) => new URL(url).origin))], [origin]);
      } finally {
        await visitor.close();
      }
    },
  );

  test('copies of images are sent by the service itself, also in response to HEAD', async () => {
    const path = join(tmpdir(), 'image.jpg');
    await writeFile(path, 'a picture');
    await store().put('references/0193/1.jpg', path);
    const link = store().link('references/0193/1.jpg', 60_000);
    const image = await fetch(link, { redirect: 'error' });
    assert.deepEqual([image.headers.get('content-type'), await image.text()], ['image/jpeg', 'a picture']);
    const head = await fetch(link, { method: 'HEAD', redirect: 'error' });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, '9']);
  });

  test('a video from before the move keeps its link, and is deleted in both stores', async () => {
    const path = join(tmpdir(), 'old.mp4');
    await writeFile(path, 'an old video');
    const { video: key } = resultKeysOf('0192', 'abc');
    await createFolderFiles(earlier).put(key, path);
    const link = store().link(key);
    assert.equal(await (await fetch(link)).text(), 'an old video');
    await store().delete(key);
    const deleted = await fetch(link);
    assert.deepEqual([deleted.status, ((await deleted.json()) as { error: string }).error], [410, 'media_deleted']);
  });

  test('while the store is unavailable, links answer 503 and a task waits; it succeeds when the store is back', async () => {
    const link = await linkOf(await created());
    proxy.cut();
    const taskId = await created();
    const unavailable = await fetch(link);
    assert.deepEqual(
      [unavailable.status, ((await unavailable.json()) as { error: string }).error],
      [503, 'media_unavailable'],
    );
    assert.equal(unavailable.headers.get('retry-after'), '5');
    await refusals();
    proxy.restore();
    assert.equal((await fetch(await linkOf(taskId))).status, 200);
    assert.equal((await fetch(link)).status, 200);
  });

  test('a store that is unavailable beyond the deadline fails the task, which is refunded in full without a link', async (t) => {
    const temporal = connectEngine(service);
    t.after(() => temporal.close());
    proxy.cut();
    const taskId = await created();
    await refusals();
    // Its attempts have used up the deadline of its model, and the two minutes of reconcile.
    await spend(service.database.url, taskId);
    t.after(temporal.keepReconciling());
    const record = await waitForRecord(api, taskId);
    assert.deepEqual([record['state'], record['failCode']], ['fail', 'timeout']);
    assert.equal(record['creditsRefunded'], record['creditsCharged']);
    assert.deepEqual(record['resultJson'], { resultUrls: [] });
    proxy.restore();
    assert.equal(await store().sizeOf(stagingKeysOf(taskId).video), undefined);
    for await (const { key } of store().list(`results/${taskId}`)) assert.fail(`${key} is stored`);
  });

  test('a worker and an API with wrong credentials, or without their bucket, end with a sentence', async () => {
    const wrong = [
      [
        { AWS_SECRET_ACCESS_KEY: 'wrong' },
        /^The result store s3:\/\/results\/videos cannot be used \(SignatureDoesNotMatch\)/,
      ],
      [
        { RESULT_STORE: 's3://elsewhere' },
        /^The result store s3:\/\/elsewhere cannot be used \(NoSuchBucket\). The bucket does not exist/,
      ],
    ] as const;
    for (const name of ['worker', 'api'] as const)
      for (const [setting, sentence] of wrong) {
        const { child, stderr, closed } = spawnEntryPoint(name, { ...service.environment, ...setting });
        assert.equal((await endOf(child)).code, 1);
        await closed;
        assert.match(stderr().replaceAll(/^\(node:[\s\S]*?warning was created\)\n/gm, ''), sentence);
      }
  });
});

async function spend(databaseUrl: string, taskId: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('update tasks set generation_spent_ms = deadline_ms + 121000 where id = $1', [taskId]);
  } finally {
    await client.end();
  }
}
