import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createByteDance } from '@ai-sdk/bytedance';
import { waitFor } from '../support/wait-for.ts';
import { key, stage } from '../providers/ark/ark-stage.ts';

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
