import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import { type OwnUpstream, startOwnUpstream } from '../../fakes/own-upstream.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';
import { type Api, call, createdTask, waitForRecord } from '../../support/service/call-api.ts';
import { type ClipName, clips, privateText } from '../../support/hostile/hostile-clips.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

/** The parts of a create that matter here. */
type Sent = {
  readonly input: { readonly prompt: string };
  readonly media: { readonly videos: string[]; readonly audios: string[] };
};

describe('uploaded reference video and audio, through the API, a worker and an upstream that fetches them', () => {
  let folder: string;
  let upstream: OwnUpstream;
  let service: TestService;
  let api: Api;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reference-clips-'));
    upstream = await startOwnUpstream();
    const house = { kind: 'own', baseUrl: `http://${upstream.address}`, limit: 10 };
    const standard = { resolution: { values: ['720p'] }, duration: { min: 4, max: 15 }, ratio: { values: ['16:9'] } };
    const media = { imageUrls: { max: 1 }, videoUrls: { max: 2, maxSeconds: 2 }, audioUrls: { max: 1, maxSeconds: 2 } };
    const input = { ...standard, generateAudio: {}, ...media };
    const model = { model: 'clips', title: 'Clips', input, prices: [{ creditsPerSecond: 7 }], providers: ['house'] };
    const catalogue = join(folder, 'catalogue.json');
    await writeFile(catalogue, JSON.stringify({ providers: { house }, models: [model] }));
    service = await startTestService({ VIDEOGEN_MODELS: catalogue });
    const { key } = await createTestAccount(service.database, 1_000);
    api = { baseUrl: service.baseUrl, key };
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await service.close();
    await upstream.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(violations, []);
  });

  async function uploaded(name: ClipName, type: string): Promise<string> {
    await pinnedFfmpeg()({ args: [...clips[name], name], cwd: folder, signal: new AbortController().signal });
    const body = new Uint8Array(await readFile(join(folder, name)));
    const sent = await call(api, '/api/v1/uploads', { method: 'POST', headers: { 'content-type': type }, body });
    assert.equal(sent.status, 200, sent.body.msg);
    return String(sent.body.data['url']);
  }

  async function fetched(link: string): Promise<Buffer> {
    const response = await fetch(link);
    assert.equal(response.status, 200);
    return Buffer.from(await response.arrayBuffer());
  }

  test('the upstream gets converted copies without metadata, which are deleted with the task', async () => {
    const prompt = 'a boat as in the film';
    const [noted, film] = [await uploaded('noted.mov', 'video/quicktime'), await uploaded('film.webm', 'video/webm')];
    const input = {
      prompt,
      duration: 4,
      videoUrls: [noted, film],
      audioUrls: [await uploaded('noted.mp3', 'audio/mpeg')],
    };
    const taskId = await createdTask(api, input, { model: 'clips' });
    const [job] = await waitFor('the job', async () => {
      const jobs = await upstream.books.jobsFor(prompt);
      return jobs.length > 0 ? jobs : undefined;
    });
    const sent = upstream.bodies.map((body) => body as Sent).find((body) => body.input.prompt === prompt);
    assert.ok(job && sent);
    const links = [...sent.media.videos, ...sent.media.audios];
    assert.deepEqual(
      links.map((link) => new URL(link).pathname.split('/').at(-1)),
      ['video-1.mp4', 'video-2.mp4', 'audio-1.mp3'],
    );
    for (const [index, link] of links.entries()) {
      const bytes = await fetched(link);
      assert.ok(!bytes.includes(privateText));
      const path = join(folder, `copy-${index}`);
      await writeFile(path, bytes);
      if (link.includes('video-')) assert.equal((await checkAndMeasureVideo(path)).hasAudio, true);
    }
    await upstream.books.end(job.id, 'succeeded');
    const record = await waitForRecord(api, taskId);
    assert.equal(record['state'], 'success', String(record['failMsg']));
    for (const link of links) assert.notEqual((await fetch(link)).status, 200);
  });

  test('a clip that is too long for the model fails the task, with its field and a full refund, before the upstream gets a job', async () => {
    const prompt = 'a boat as in the long film';
    const videoUrls = [await uploaded('three-seconds.mp4', 'video/mp4')];
    const record = await waitForRecord(
      api,
      await createdTask(api, { prompt, duration: 4, videoUrls }, { model: 'clips' }),
    );
    assert.deepEqual(
      [record['state'], record['failCode'], record['failMsg']],
      ['fail', 'media_invalid', 'input.videoUrls[0] is longer than 2 seconds.'],
    );
    assert.equal(record['creditsRefunded'], record['creditsCharged']);
    assert.deepEqual(await upstream.books.jobsFor(prompt), []);
  });
});
