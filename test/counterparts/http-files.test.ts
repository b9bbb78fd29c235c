import assert from 'node:assert/strict';
import { createFalClient } from '@fal-ai/client';
import { OpenRouter } from '@openrouter/sdk';
import RunwayML from '@runwayml/sdk';
import { test } from 'node:test';
import Replicate from 'replicate';
import { jobRequest, signal } from '../providers/contract/job-request.ts';
import { stage } from './files-stage.ts';

// The vendors' own clients against the fakes that the tests of two files use: what they understand, the fakes say rightly.

test("Replicate's own client and the file understand the same jobs", async (t) => {
  const { file, upstream, baseUrl, provider, statusOf } = await stage(t, 'replicate-seedance');
  const client = new Replicate({ auth: 'test-key', baseUrl });
  const theirs = await client.predictions.create({ model: file.example.model, input: { prompt: 'a job of theirs' } });
  assert.equal(theirs.status, 'starting');
  assert.equal((await upstream.books.jobsFor('a job of theirs')).length, 1);
  assert.equal((await statusOf(theirs.id)).state, 'running');

  const request = jobRequest();
  const ours = await provider.submit(request, signal);
  assert.ok(ours.kind === 'accepted');
  assert.equal((await client.predictions.get(ours.id)).status, 'processing');
  const listed = (await client.predictions.list()).results;
  assert.deepEqual(
    listed.map(({ id, input }) => [id, input]),
    [
      [ours.id, { prompt: request.input.prompt }],
      [theirs.id, { prompt: 'a job of theirs' }],
    ],
  );

  await upstream.books.end(ours.id, 'succeeded');
  const done = await client.predictions.get(ours.id);
  assert.deepEqual(await statusOf(ours.id), { state: 'succeeded', result: { url: done.output as unknown } });
  assert.equal((await client.predictions.cancel(theirs.id)).status, 'canceled');
  assert.equal((await statusOf(theirs.id)).state, 'failed');
});

test("fal's own client and the file understand the same jobs", async (t) => {
  const { file, upstream, baseUrl, provider, statusOf } = await stage(t, 'fal-seedance');
  const client = createFalClient({
    credentials: 'test-key',
    requestMiddleware: async (request) => ({ ...request, url: request.url.replace('https://queue.fal.run', baseUrl) }),
  });
  const endpoint = `${file.example.model}/text-to-video`;
  const theirs = await client.queue.submit(endpoint, { input: { prompt: 'a job of theirs' } });
  const { request_id: id, status_url, response_url, cancel_url } = theirs;
  assert.equal((await upstream.books.jobsFor('a job of theirs')).length, 1);
  assert.equal((await statusOf(id, { status_url, response_url, cancel_url })).state, 'running');

  const ours = await provider.submit(jobRequest(), signal);
  assert.ok(ours.kind === 'accepted');
  assert.equal((await client.queue.status(endpoint, { requestId: ours.id })).status, 'IN_PROGRESS');
  await upstream.books.end(ours.id, 'succeeded');
  assert.equal((await client.queue.status(endpoint, { requestId: ours.id })).status, 'COMPLETED');
  const data: unknown = (await client.queue.result(endpoint, { requestId: ours.id })).data;
  const status = await statusOf(ours.id, ours.handle);
  assert.ok(status?.state === 'succeeded');
  // The client leaves the shape of a result to the model.
  assert.deepEqual((data as { readonly video: object }).video, { ...status.result, content_type: 'video/mp4' });
  await client.queue.cancel(endpoint, { requestId: id });
  assert.deepEqual(
    (await upstream.books.jobsFor('a job of theirs')).map(({ state }) => state),
    ['canceled'],
  );
});

test("Runway's own client and the file understand the same jobs", async (t) => {
  const { upstream, baseUrl, provider, statusOf } = await stage(t, 'runway');
  const client = new RunwayML({ apiKey: 'test-key', baseURL: baseUrl, maxRetries: 0 });
  const theirs = await client.imageToVideo.create({
    model: 'gen4_turbo',
    promptText: 'a job of theirs',
    promptImage: 'https://example.com/boat.jpg',
    ratio: '1280:720',
    duration: 5,
  });
  assert.equal((await upstream.books.jobsFor('a job of theirs')).length, 1);
  assert.equal((await statusOf(theirs.id)).state, 'running');

  const ours = await provider.submit(jobRequest(), signal);
  assert.ok(ours.kind === 'accepted');
  assert.equal((await client.tasks.retrieve(ours.id)).status, 'RUNNING');
  await upstream.books.end(ours.id, 'succeeded');
  const done = await client.tasks.retrieve(ours.id);
  assert.ok(done.status === 'SUCCEEDED');
  assert.deepEqual(await statusOf(ours.id), { state: 'succeeded', result: { url: done.output[0] } });
  await client.tasks.delete(theirs.id);
  assert.equal((await statusOf(theirs.id)).state, 'failed');
});

test("OpenRouter's own client and the file understand the same jobs", async (t) => {
  const { file, upstream, baseUrl, provider, statusOf } = await stage(t, 'openrouter');
  const client = new OpenRouter({ apiKey: 'test-key', serverURL: baseUrl, retryConfig: { strategy: 'none' } });
  // The client checks every answer against the shapes of OpenRouter's description.
  const theirs = await client.videoGeneration.generate({
    videoGenerationRequest: { model: file.example.model, prompt: 'a job of theirs', duration: 5 },
  });
  assert.equal(theirs.status, 'pending');
  assert.equal((await upstream.books.jobsFor('a job of theirs')).length, 1);
  assert.equal((await statusOf(theirs.id)).state, 'running');

  const ours = await provider.submit(jobRequest(), signal);
  assert.ok(ours.kind === 'accepted');
  const jobOfOurs = { jobId: ours.id };
  assert.equal((await client.videoGeneration.getGeneration(jobOfOurs)).status, 'in_progress');
  await upstream.books.end(ours.id, 'succeeded');
  const { status, unsignedUrls = [], usage } = await client.videoGeneration.getGeneration(jobOfOurs);
  assert.equal(status, 'completed');
  const cost = { micros: Math.round((usage?.cost ?? 0) * 1_000_000), currency: 'USD', basis: 'reported' };
  assert.deepEqual(await statusOf(ours.id), { state: 'succeeded', result: { url: unsignedUrls[0] }, cost });
});
