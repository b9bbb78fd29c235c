import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { createByteDance } from '@ai-sdk/bytedance';
import { experimental_generateVideo as generateVideo } from 'ai';
import sharp from 'sharp';
import { readBooks } from '../../src/credits/credits.ts';
import { completeTask } from '../../src/tasks/tasks.ts';
import { startLosingProxy } from '../support/losing-proxy.ts';
import { startHttpService } from '../support/http-service.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { madeUpMeasures } from '../support/tasks.ts';

// The AI SDK with its provider for Ark, in front of our shape of Ark.

type Options = Partial<Parameters<typeof generateVideo>[0]>;

const bytes = async ({ url }: { readonly url: URL }) => {
  const response = await fetch(url);
  return { data: new Uint8Array(await response.arrayBuffer()), mediaType: response.headers.get('content-type') ?? '' };
};

/** The SDK downloads from public addresses only, so the tests pass their own `download`, which is an option of its. */
function generate(baseUrl: string, apiKey: string, options: Options = {}) {
  const model = createByteDance({ apiKey, baseURL: `${baseUrl}/api/v3` }).video('videogen-2.0-fast');
  const bytedance = { pollIntervalMs: 10, ...options.providerOptions?.['bytedance'] };
  return generateVideo({
    prompt: 'a lighthouse',
    duration: 4,
    download: bytes,
    ...options,
    model,
    providerOptions: { bytedance },
  });
}

describe('generateVideo, from the create to the bytes of the video', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  after(() => service.close());

  test('returns the video, charges it once, and sends a reference image as a data URL', async () => {
    const { accountId, key } = await createTestAccount(service.database, 1_000);
    const image = await sharp({ create: { width: 600, height: 600, channels: 3, background: 'teal' } })
      .png()
      .toBuffer();
    const { video, providerMetadata } = await generate(service.baseUrl, key, {
      prompt: '[[instant]] a lighthouse',
      aspectRatio: '1:1',
      resolution: '1280x720',
      providerOptions: {
        bytedance: { referenceImages: [`data:image/png;base64,${image.toString('base64')}`], watermark: false },
      },
    });
    assert.equal(video.mediaType, 'video/mp4');
    assert.equal(Buffer.from(video.uint8Array).toString('latin1', 4, 8), 'ftyp');
    const { taskId, usage } = providerMetadata['bytedance'] as { readonly taskId: string; readonly usage: unknown };
    assert.deepEqual(usage, { completion_tokens: 0 });
    const { balance, entries } = await readBooks(service.database.db, { accountId, before: undefined, limit: 10 });
    assert.deepEqual([balance, entries.filter((entry) => entry.taskId === taskId).length], [1_000 - 132, 1]);
  });

  test('throws our message for a refusal, and for a task that fails', async () => {
    const { key } = await createTestAccount(service.database, 1_000);
    await assert.rejects(generate(service.baseUrl, 'vg_invalid'), /a valid API key is required/);
    await assert.rejects(generate(service.baseUrl, key, { duration: 99 }), /duration: must be 4 to 15 seconds/);
    await assert.rejects(
      generate(service.baseUrl, key, { providerOptions: { bytedance: { cameraFixed: true } } }),
      /camera_fixed: is not supported by this model; leave it out or send false/,
    );
    await assert.rejects(generate(service.baseUrl, key, { prompt: '[[reject]]' }), /Video generation failed/);
  });
});

/** A service that ends each task immediately, behind a proxy that loses the first response to each create. */
async function lossy(t: TestContext) {
  const ended: Promise<unknown>[] = [];
  const service = await startHttpService({
    startTask: ({ taskId }) => {
      const files = { videoKey: `results/${taskId}/video.mp4`, posterKey: `results/${taskId}/poster.jpg` };
      ended.push(completeTask(service.database.db, taskId, { ...madeUpMeasures, ...files }));
    },
  });
  const proxy = await startLosingProxy();
  proxy.forwardTo(service.url);
  proxy.loseFirst('POST', '/api/v3/contents/generations/tasks');
  t.after(async () => {
    await Promise.all(ended);
    await proxy.close();
    await service.close();
  });
  const { accountId, key } = await service.newAccount(1_000_000);
  const download = async () => ({ data: new Uint8Array([1]), mediaType: 'video/mp4' });
  const create = (prompt: string, headers: Record<string, string> = {}) =>
    generate(proxy.url, key, { prompt, headers, download });
  const charges = async () => {
    const { balance } = await readBooks(service.database.db, { accountId, before: undefined, limit: 1 });
    return (1_000_000 - balance) / 132;
  };
  return { create, charges, proxy };
}

test('200 creates with an Idempotency-Key yield 200 videos and 200 charges, although each first response is lost', async (t) => {
  const { create, charges, proxy } = await lossy(t);
  const names = Array.from({ length: 200 }, (_, index) => `video-${index}`);
  const results = await Promise.all(names.map((name) => create(name, { 'Idempotency-Key': name })));
  assert.equal(new Set(results.map(({ providerMetadata }) => JSON.stringify(providerMetadata))).size, 200);
  assert.equal(await charges(), 200);
  assert.equal(proxy.lost(), 200);
});

// docs/clients.md warns of it. Nothing distinguishes its repeats from further creates of the same video.
test('the SDK does not mark its repeats, so without a key a lost response buys a second task', async (t) => {
  const { create, charges } = await lossy(t);
  await create('a lighthouse');
  assert.equal(await charges(), 2);
});
