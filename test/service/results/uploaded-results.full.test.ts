import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { upstreamUploadKeyOf } from '../../../activities/task-file-keys-and-deletion.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { type OwnUpstream, startOwnUpstream } from '../../fakes/own-upstream.ts';
import { type Api, createdTask, resultUrlsIn, waitForRecord } from '../../support/service/call-api.ts';
import { type S3Server, skipsWithoutS3, startS3Server } from '../../support/servers/s3-server.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

describe('an upstream that writes its videos into the bucket itself', { skip: skipsWithoutS3 }, () => {
  let server: S3Server;
  let upstream: OwnUpstream;
  let service: TestService;
  let api: Api;
  before(async () => {
    server = await startS3Server();
    upstream = await startOwnUpstream({ uploads: true });
    // Read by the SDK itself.
    Object.assign(process.env, server.environment);
    const catalogue = join(tmpdir(), 'catalogue.json');
    const house = { kind: 'own', baseUrl: `http://${upstream.address}`, limit: 10, uploads: true };
    const model = { model: 'house-model', title: 'M', prices: [{ creditsPerSecond: 7 }] };
    const tiers = [[{ provider: 'house', model: 'wan' }]];
    await writeFile(catalogue, JSON.stringify({ providers: { house }, models: [{ ...model, tiers }] }));
    service = await startTestService({
      ...server.environment,
      RESULT_STORE: `s3://${server.bucket}/videos`,
      VIDEOGEN_MODELS: catalogue,
    });
    const { key } = await createTestAccount(service.database, 10_000);
    api = { baseUrl: service.baseUrl, key };
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await service.close();
    await upstream.close();
    await server.close();
    assert.deepEqual(violations, []);
  });

  /** A task whose job runs, and the link that the upstream got with it. */
  const begun = async (prompt: string) => {
    const taskId = await createdTask(api, prompt, { model: 'house-model' });
    const [job] = await waitFor('the job', async () => {
      const jobs = await upstream.books.jobsFor(prompt);
      return jobs.length > 0 ? jobs : undefined;
    });
    const sent = upstream.bodies.map((each) => each as Sent).find(({ input }) => input.prompt === prompt);
    assert.ok(job && sent);
    assert.ok(sent.resultUpload.expireTime > Date.now());
    return { taskId, jobId: job.id, url: sent.resultUpload.url };
  };
  const put = async (url: string, body: string | Uint8Array<ArrayBuffer>) =>
    (await fetch(url, { method: 'PUT', body, headers: { 'content-type': 'text/html' } })).status;
  const videoOf = async (record: Readonly<Record<string, unknown>>) => {
    const answer = await fetch(resultUrlsIn(record)[0] ?? '');
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'video/mp4']);
    return Buffer.from(await answer.arrayBuffer());
  };

  test('it is moved without a download, served as a video, and nothing that comes by the link later changes it', async () => {
    const { taskId, jobId, url } = await begun('a video for the bucket');
    const video = new Uint8Array(await readFile(upstream.videoPath));
    assert.equal(await put(url, video), 200);
    await upstream.books.end(jobId, 'succeeded');
    const record = await waitForRecord(api, taskId);
    assert.equal(record['state'], 'success', String(record['failMsg']));
    assert.deepEqual(upstream.downloads, []);
    const served = await videoOf(record);
    assert.equal(await put(url, '<script>not a video</script>'), 200);
    assert.deepEqual(await videoOf(record), served);
  });

  test('its link writes to no other key', async () => {
    const { taskId, jobId, url } = await begun('a curious upstream');
    const other = upstreamUploadKeyOf(taskId, 'another');
    for (const key of [`results/${taskId}/video.mp4`, `staging/${taskId}/video.mp4`, other])
      assert.equal(await put(url.replace(upstreamUploadKeyOf(taskId, jobId), key), 'x'), 403, key);
    assert.equal((await fetch(url)).status, 403);
    await upstream.books.end(jobId, 'succeeded');
    assert.equal((await waitForRecord(api, taskId))['state'], 'success');
    // The upstream reported an upload that was not there, so the video was downloaded.
    assert.deepEqual(upstream.downloads, [jobId]);
  });

  test('an upload that is not a video fails the task, which is refunded without a link', async () => {
    const { taskId, jobId, url } = await begun('not a video');
    assert.equal(await put(url, 'not a video'), 200);
    await upstream.books.end(jobId, 'succeeded');
    const record = await waitForRecord(api, taskId);
    assert.deepEqual([record['state'], record['failCode']], ['fail', 'result_invalid']);
    assert.equal(record['creditsRefunded'], record['creditsCharged']);
    assert.deepEqual(record['resultJson'], { resultUrls: [] });
    assert.ok(!(await readdir(join(server.folder, 'videos', 'results'))).includes(taskId));
  });
});

type Sent = {
  readonly input: { readonly prompt: string };
  readonly resultUpload: { readonly url: string; readonly expireTime: number };
};
