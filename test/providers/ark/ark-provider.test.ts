import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { costRuleSchema } from '../../../src/catalogue/prices/upstream-cost.ts';
import { spellImageReferences } from '../../../src/providers/requests/placeholder-values-and-template-media.ts';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { dataUrl, imageFiles } from '../contract/all-fields.ts';
import { jobOf, jobRequest, signal, statusOf } from '../contract/job-request.ts';
import { answering, clientFor } from '../loopback-client.ts';
import { arkProvider, key, stage } from './ark-stage.ts';

const cost = costRuleSchema.parse({ perMillionTokens: '5.60' });

describe('the request for a job', () => {
  test('has all of the input, and the images in order as references', async (t) => {
    const { upstream, begin } = await stage(t, { parameters: { resolution: '480p', priority: 1 } });
    const images = ['1.jpg', '2.jpg'].map(await imageFiles(t));
    const { request } = await begin({
      input: withDefaults({
        prompt: spellImageReferences('[Image 1] meets @image2', 2, '@Image{n}'),
        ratio: '9:16',
        duration: 8,
        generateAudio: false,
      }),
      images,
      deadlineMs: 7_200_500,
    });
    const image = (name: string) => ({
      type: 'image_url',
      image_url: { url: dataUrl('image/jpeg', name) },
      role: 'reference_image',
    });
    assert.deepEqual(upstream.creates, [
      {
        model: 'seedance',
        content: [{ type: 'text', text: '@Image1 meets @Image2' }, ...['1.jpg', '2.jpg'].map(image)],
        ratio: '9:16',
        resolution: '480p',
        duration: 8,
        generate_audio: false,
        watermark: false,
        priority: 1,
        safety_identifier: request.accountHash,
        execution_expires_after: 7201,
      },
    ]);
  });

  test('has the roles of the frames, and everything else that the client chose', async (t) => {
    const { upstream, begin } = await stage(t, { parameters: { seed: 1, camera_fixed: false, priority: 1 } });
    const frame = await imageFiles(t);
    const input = withDefaults({
      prompt: 'a fox',
      resolution: '1080p',
      duration: 12,
      ratio: '21:9',
      generateAudio: false,
      firstFrameUrl: 'https://client.example/first.png',
      lastFrameUrl: 'https://client.example/last.png',
      seed: 0,
      options: { cameraFixed: true, returnLastFrame: true, callbackUrl: 'https://client.example/', model: 'other' },
    });
    const { request } = await begin({ input, frames: { firstFrame: frame('first'), lastFrame: frame('last') } });
    const url = (name: string) => ({ url: dataUrl('image/jpeg', name) });
    assert.deepEqual(upstream.creates, [
      {
        model: 'seedance',
        content: [
          { type: 'text', text: 'a fox' },
          { type: 'image_url', image_url: url('first'), role: 'first_frame' },
          { type: 'image_url', image_url: url('last'), role: 'last_frame' },
        ],
        ratio: '21:9',
        resolution: '1080p',
        duration: 12,
        generate_audio: false,
        watermark: false,
        seed: 0,
        camera_fixed: true,
        return_last_frame: true,
        priority: 1,
        safety_identifier: request.accountHash,
        execution_expires_after: 3600,
      },
    ]);
  });

  test('has links to copies of reference videos and sounds, after the images', async (t) => {
    const { upstream, provider, begin } = await stage(t);
    assert.equal(provider.clips, 'link');
    const image = (await imageFiles(t))('image');
    const store = 'https://media.example';
    const links = { videos: [`${store}/1.mp4`, `${store}/2.mp4`], audios: [`${store}/3.m4a`] };
    const input = withDefaults({
      prompt: 'a fox',
      imageUrls: ['https://client.example/1.png'],
      videoUrls: ['https://client.example/1.mp4', 'https://client.example/2.mp4'],
      audioUrls: ['https://client.example/1.mp3'],
    });
    await begin({ input, images: [image], links });
    const { content = [], ...fields } = upstream.creates[0] ?? {};
    assert.deepEqual(content.slice(1), [
      { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,aW1hZ2U=' }, role: 'reference_image' },
      { type: 'video_url', video_url: { url: `${store}/1.mp4` }, role: 'reference_video' },
      { type: 'video_url', video_url: { url: `${store}/2.mp4` }, role: 'reference_video' },
      { type: 'audio_url', audio_url: { url: `${store}/3.m4a` }, role: 'reference_audio' },
    ]);
    assert.equal('seed' in fields, false);
    assert.doesNotMatch(JSON.stringify(upstream.creates), /client\.example/);
  });

  test('has the name of Ark for 2160p', async (t) => {
    const { upstream, begin } = await stage(t);
    await begin({ input: withDefaults({ prompt: 'a fox', resolution: '2160p' }) });
    assert.equal(upstream.creates[0]?.resolution, '4k');
  });

  test('gives a job an hour in the queue at least, and three days at most', async (t) => {
    const { upstream, begin } = await stage(t);
    await begin({ deadlineMs: 10_000 });
    await begin({ deadlineMs: 6 * 86_400_000 });
    assert.deepEqual(
      upstream.creates.map((create) => create.execution_expires_after),
      [3600, 259_200],
    );
  });
});

describe('the state of jobs', () => {
  test('of many jobs is one request', async (t) => {
    const { upstream, provider, begin } = await stage(t);
    const jobs = [];
    for (let count = 0; count < 12; count += 1) jobs.push((await begin()).job);
    const [queued, started, done, failed] = jobs;
    assert.ok(queued && started && done && failed);
    upstream.start(started.id);
    await upstream.books.end(done.id, 'succeeded');
    await upstream.books.end(failed.id, 'failed');
    upstream.requests.splice(0);
    const statuses = await provider.status(jobs, signal);
    assert.deepEqual(upstream.requests, ['GET /contents/generations/tasks']);
    const states = [queued, started, done, failed].map(({ jobKey }) => statuses.get(jobKey)?.state);
    assert.deepEqual(states, ['queued', 'running', 'succeeded', 'failed']);
    assert.equal(statuses.size, 12);
  });

  test('of a job that a list does not mention is read by itself, and only then the job is missing', async (t) => {
    const { upstream, provider, begin } = await stage(t);
    const { job: listed } = await begin();
    upstream.lag(true);
    const { job: unlisted } = await begin();
    const never = jobOf(jobRequest(), 'cgt-never');
    const statuses = await provider.status([listed, unlisted, never], signal);
    assert.deepEqual(
      [listed, unlisted, never].map(({ jobKey }) => statuses.get(jobKey)?.state),
      ['queued', 'queued', 'missing'],
    );
  });

  test('when a list mentions none of a hundred, costs five more requests and no verdict about the others', async (t) => {
    const { upstream, provider } = await stage(t);
    const jobs = Array.from({ length: 100 }, (_, index) => jobOf(jobRequest(), `cgt-${index}`));
    const statuses = await provider.status(jobs, signal);
    assert.equal(upstream.requests.length, 6);
    assert.equal(statuses.size, 5);
  });
});

describe('the cost of a job', () => {
  test('is that of the tokens which the upstream bills', async (t) => {
    const { upstream, provider, begin } = await stage(t, { cost });
    const { job } = await begin();
    await upstream.books.end(job.id, 'succeeded');
    const status = await statusOf(provider, job);
    // 5 s of 1280 × 720 are 108,000 tokens.
    assert.deepEqual(status.state === 'succeeded' && status.cost, {
      micros: 604_800,
      currency: 'USD',
      basis: 'reported',
    });
  });

  test('counts all tokens, and those of the video where a server reports no others', async () => {
    const job = jobOf(jobRequest(), 'cgt-1');
    for (const [usage, micros] of [
      [{ completion_tokens: 1, total_tokens: 100_000 }, 560_000],
      [{ completion_tokens: 50_000 }, 280_000],
    ] as const) {
      const client = answering(200, { id: job.id, status: 'succeeded', usage });
      const status = await statusOf(arkProvider('http://ark.example', { client, cost }), job);
      assert.equal(status.state === 'succeeded' && status.cost?.micros, micros);
    }
  });

  test('is reported for a failed job that is billed', async () => {
    const job = jobOf(jobRequest(), 'cgt-1');
    const client = answering(200, { id: job.id, status: 'failed', usage: { total_tokens: 100_000 } });
    assert.deepEqual(await statusOf(arkProvider('http://ark.example', { client, cost }), job), {
      state: 'failed',
      error: { kind: 'upstream', code: 'failed', detail: '' },
      cost: { micros: 560_000, currency: 'USD', basis: 'reported' },
    });
  });

  test('is not reported for a failed job without usage, or without a price of tokens', async (t) => {
    const { upstream, provider, begin } = await stage(t, { cost });
    const [failed, done] = [(await begin()).job, (await begin()).job];
    await upstream.books.end(failed.id, 'failed');
    await upstream.books.end(done.id, 'succeeded');
    const priceless = arkProvider(`http://${upstream.address}`, { cost: costRuleSchema.parse({ perSecond: 1 }) });
    for (const status of [await statusOf(provider, failed), await statusOf(priceless, done)]) {
      assert.equal('cost' in status, false);
    }
  });
});

describe('a cancellation', () => {
  test('takes a job out of the queue', async (t) => {
    const { upstream, provider, begin } = await stage(t);
    const { job } = await begin();
    assert.equal(await provider.cancel(job, signal), 'cancelled');
    assert.equal(upstream.books.find(job.id)?.state, 'canceled');
    assert.equal(await provider.cancel(job, signal), 'cancelled');
  });

  test('leaves a running job alone, and never removes the record of one that has ended', async (t) => {
    const { upstream, provider, begin } = await stage(t);
    const { job } = await begin();
    upstream.start(job.id);
    assert.equal(await provider.cancel(job, signal), 'runs_on');
    await upstream.books.end(job.id, 'succeeded');
    assert.equal(await provider.cancel(job, signal), 'ended');
    assert.equal((await statusOf(provider, job)).state, 'succeeded');
    assert.ok(!upstream.requests.some((request) => request.startsWith('DELETE')));
    assert.equal(await provider.cancel(jobOf(jobRequest(), 'cgt-never'), signal), 'ended');
  });
});

test('a video whose address has expired is fetched from a fresh one', async (t) => {
  const { upstream, provider, begin } = await stage(t);
  const { job } = await begin();
  await upstream.books.end(job.id, 'succeeded');
  const workFolder = await temporaryFolder(t);
  const known = { url: `http://${upstream.address}/expired` };
  const { path } = await provider.result(job, known, { workFolder, signal });
  assert.deepEqual(await readFile(path), await readFile(upstream.videoPath));
});

test('a server with other paths, which wraps its records, works as well', async (t) => {
  const { upstream, provider, begin } = await stage(t, { isWrapped: true });
  const { job } = await begin();
  await upstream.books.end(job.id, 'succeeded');
  const url = `http://${upstream.address}/video/${job.id}.mp4?X-Tos-Signature=x`;
  assert.deepEqual(await statusOf(provider, job), { state: 'succeeded', result: { url } });
  assert.deepEqual(upstream.requests, ['POST /v2/video_generation', 'GET /v2/query/video_generation/{id}']);
});

test('an id is a part of a path, whatever it contains', async (t) => {
  const { upstream, baseUrl } = await stage(t);
  const asked: string[] = [];
  const plain = clientFor(baseUrl, key);
  const client = {
    ...plain,
    call: async (...args: Parameters<typeof plain.call>) => (asked.push(args[1]), await plain.call(...args)),
  };
  await statusOf(arkProvider(baseUrl, { client }), jobOf(jobRequest(), '../a?b'));
  assert.deepEqual(asked, ['/contents/generations/tasks/..%2Fa%3Fb']);
  assert.equal(upstream.requests.length, 1);
});

test('a task without a prompt has no text in its content', async (t) => {
  const { upstream, begin } = await stage(t);
  const frame = await imageFiles(t);
  await begin({ input: withDefaults({ prompt: '' }), frames: { firstFrame: frame('1.jpg'), lastFrame: undefined } });
  assert.deepEqual(
    upstream.creates[0]?.content.map(({ type }) => type),
    ['image_url'],
  );
});
