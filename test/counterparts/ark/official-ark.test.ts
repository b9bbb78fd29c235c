import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createByteDance } from '@ai-sdk/bytedance';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { JobChanges } from '../../providers/contract/job-request.ts';
import { key, stage } from '../../providers/ark/ark-stage.ts';

// The fake is no better than our reading of Ark's documents, so a client that others wrote for Ark has to get along with it, too.

const prompt = 'a lighthouse';
const quick = { bytedance: { pollIntervalMs: 10, referenceImages: ['https://client.example/a.png'] } };

/** All options that the client's interface has. */
const noOptions = {
  aspectRatio: undefined,
  resolution: undefined,
  duration: undefined,
  fps: undefined,
  seed: undefined,
  image: undefined,
  frameImages: undefined,
  inputReferences: undefined,
  generateAudio: undefined,
} as const;

async function generate(baseUrl: string, options: { apiKey?: string; words?: string } = {}) {
  const model = createByteDance({ apiKey: options.apiKey ?? key, baseURL: baseUrl }).video('seedance');
  const wanted = { aspectRatio: '16:9', duration: 5, resolution: '1280x720' } as const;
  const words = options.words ?? prompt;
  return await model.doGenerate({ ...noOptions, ...wanted, prompt: words, n: 1, providerOptions: quick });
}

test('a client of others makes a job at the fake, follows it and gets its video', async (t) => {
  const { upstream, baseUrl } = await stage(t);
  const generating = generate(baseUrl);
  const job = await waitFor('the job', async () => (await upstream.books.jobsFor(prompt))[0]);
  upstream.start(job.id);
  await upstream.books.end(job.id, 'succeeded');
  const { videos, providerMetadata } = await generating;
  const url = `${baseUrl}/video/${job.id}.mp4?X-Tos-Signature=x`;
  assert.deepEqual(videos, [{ type: 'url', url, mediaType: 'video/mp4' }]);
  const usage = { completion_tokens: 108_000 };
  assert.deepEqual(providerMetadata?.['bytedance'], { taskId: job.id, usage });
  const { content, ratio, duration, resolution } = upstream.creates[0] ?? {};
  assert.deepEqual(content, [
    { type: 'text', text: prompt },
    { type: 'image_url', image_url: { url: 'https://client.example/a.png' }, role: 'reference_image' },
  ]);
  assert.deepEqual([ratio, duration, resolution], ['16:9', 5, '720p']);
});

test('it reads the words of a refusal, and that a job failed', async (t) => {
  const { upstream, baseUrl } = await stage(t);
  await assert.rejects(generate(baseUrl, { words: 'forbidden' }), /The input text may be sensitive/);
  await assert.rejects(generate(baseUrl, { apiKey: 'wrong' }), /The API key in the request is missing or invalid/);
  const failing = assert.rejects(generate(baseUrl), /Video generation failed/);
  const job = await waitFor('the job', async () => (await upstream.books.jobsFor(prompt))[0]);
  await upstream.books.end(job.id, 'failed');
  await failing;
});

type Options = Parameters<ReturnType<ReturnType<typeof createByteDance>['video']>['doGenerate']>[0];

/** The fields of the creates of both clients; ours adds what the service decides. */
async function createsOfBoth(t: TestContext, ours: (path: string) => JobChanges, theirs: Partial<Options>) {
  const { upstream, baseUrl, begin } = await stage(t);
  const folder = await mkdtemp(join(tmpdir(), 'videogen-ark-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'image.jpg');
  await writeFile(path, image);
  await begin(ours(path));
  const model = createByteDance({ apiKey: key, baseURL: baseUrl }).video('seedance');
  const stop = new AbortController();
  const generating = Promise.resolve(
    model.doGenerate({ ...noOptions, providerOptions: {}, ...theirs, prompt, n: 1, abortSignal: stop.signal }),
  );
  await waitFor('the second job', async () => (await upstream.books.jobsFor(prompt))[1]);
  stop.abort();
  await assert.rejects(generating);
  const decided = ['watermark', 'safety_identifier', 'execution_expires_after'];
  return upstream.creates.map((create) =>
    Object.fromEntries(Object.entries(create).filter(([name]) => !decided.includes(name))),
  );
}

const image = 'any bytes';
const base64 = Buffer.from(image).toString('base64');

test('ours sends frames, seed, sound and camera as it does', async (t) => {
  const input = { prompt, ratio: '9:16', duration: 12, resolution: '1080p', generateAudio: false, seed: 7 } as const;
  const frame = { type: 'file', data: base64, mediaType: 'image/jpeg' } as const;
  const [ours, theirs] = await createsOfBoth(
    t,
    (path) => ({
      input: withDefaults({ ...input, options: { cameraFixed: true, returnLastFrame: true } }),
      frames: { firstFrame: { path, widthPx: 9, heightPx: 16 }, lastFrame: { path, widthPx: 9, heightPx: 16 } },
    }),
    {
      aspectRatio: '9:16',
      duration: 12,
      resolution: '1080x1920',
      seed: 7,
      generateAudio: false,
      frameImages: (['first_frame', 'last_frame'] as const).map((frameType) => ({ frameType, image: frame })),
      providerOptions: { bytedance: { cameraFixed: true, returnLastFrame: true } },
    },
  );
  assert.deepEqual(ours, theirs);
});

test('ours sends reference images, videos and audio as it does', async (t) => {
  const [video, audio] = ['https://media.example/1.mp4', 'https://media.example/2.m4a'];
  const referenceImages = [`data:image/jpeg;base64,${base64}`];
  const [ours, theirs] = await createsOfBoth(
    t,
    (path) => ({
      input: withDefaults({ prompt, duration: 5, ratio: '16:9' }),
      images: [{ path, widthPx: 900, heightPx: 1600 }],
      links: { videos: [video], audios: [audio] },
    }),
    {
      aspectRatio: '16:9',
      duration: 5,
      resolution: '1280x720',
      generateAudio: true,
      providerOptions: { bytedance: { referenceImages, referenceVideos: [video], referenceAudio: [audio] } },
    },
  );
  assert.deepEqual(ours, theirs);
});
