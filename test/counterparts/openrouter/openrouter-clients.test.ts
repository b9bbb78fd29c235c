import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import { OpenRouterError, PaymentRequiredResponseError } from '@openrouter/sdk/models/errors';
import { APICallError, experimental_generateVideo as generateVideo } from 'ai';
import { type FinishingService, startFinishingService } from '../../api/dialects/finishing-service.ts';
import { dataUrl } from '../../api/dialects/data-url.ts';

const model = 'bytedance/seedance-2-fast';
let stage: FinishingService;
before(async () => {
  stage = await startFinishingService();
});
after(() => stage.close());

describe('@openrouter/sdk, given another server URL and key', () => {
  const client = async (credits = 1000) => {
    const { accountId, key } = await stage.newAccount(credits);
    const openRouter = new OpenRouter({ apiKey: key, serverURL: `${stage.publicUrl}/api/v1` });
    return { accountId, videos: openRouter.videoGeneration };
  };

  test('creates a video, polls it, and downloads it by its link and through its content', async () => {
    const { accountId, videos } = await client();
    const url = await dataUrl();
    const created = await videos.generate({
      videoGenerationRequest: {
        model,
        prompt: 'A lighthouse',
        duration: 4,
        resolution: '720p',
        aspectRatio: '9:16',
        generateAudio: false,
        inputReferences: [{ type: 'image_url', imageUrl: { url } }],
        user: 'user-1',
      },
    });
    assert.equal(created.pollingUrl, `${stage.publicUrl}/api/v1/videos/${created.id}`);
    let polled = created;
    while (polled.status !== 'completed') polled = await videos.getGeneration({ jobId: created.id });
    assert.deepEqual(polled.usage, { isByok: false });
    const [link = ''] = polled.unsignedUrls ?? [];
    assert.deepEqual(Buffer.from(await (await fetch(link)).arrayBuffer()), stage.video);
    const content = await videos.getVideoContent({ jobId: created.id, index: 0 });
    assert.deepEqual(await buffer(content), stage.video);
    assert.deepEqual(await stage.booksOf(accountId), { tasks: 1, balance: 1000 - 4 * 33 });
  });

  test('lists the models with what they take', async () => {
    const { videos } = await client();
    const { data } = await videos.listVideosModels();
    const [first] = data;
    assert.equal(first?.id, 'bytedance/seedance-2');
    assert.deepEqual(first?.supportedResolutions, ['720p']);
    assert.ok(first?.supportedSizes?.includes('1280x720'));
    assert.deepEqual(first?.pricingSkus, { credits_per_second: '41' });
  });

  test('throws its own errors, with our code in the metadata', async () => {
    const { videos } = await client(10);
    const generate = (prompt: string) => videos.generate({ videoGenerationRequest: { model, prompt } });
    await assert.rejects(generate('A lighthouse'), (error) => {
      assert.ok(error instanceof PaymentRequiredResponseError);
      assert.equal(error.error.metadata?.['error_code'], 'insufficient_credits');
      return true;
    });
    await assert.rejects(generate(' '), (error) => {
      assert.ok(error instanceof OpenRouterError);
      assert.equal(error.statusCode, 422);
      assert.match(error.message, /prompt: must not be empty/);
      return true;
    });
  });
});

describe('@openrouter/ai-sdk-provider with the AI SDK, given another base URL and key', () => {
  const videoModel = async (credits = 1000) => {
    const { accountId, key } = await stage.newAccount(credits);
    const provider = createOpenRouter({ apiKey: key, baseURL: `${stage.publicUrl}/api/v1` });
    return { accountId, video: provider.videoModel(model, { pollIntervalMs: 1, generateAudio: false }) };
  };

  /** The AI SDK refuses to download from a private address, so an installation in a private network is downloaded from by this. */
  const download = async ({ url }: { readonly url: URL }) => {
    const response = await fetch(url);
    return { data: new Uint8Array(await response.arrayBuffer()), mediaType: 'video/mp4' };
  };

  test('generates a video', async () => {
    const { accountId, video } = await videoModel();
    const { video: made, providerMetadata } = await generateVideo({
      model: video,
      prompt: { text: 'A lighthouse', image: await dataUrl() },
      aspectRatio: '16:9',
      resolution: '1280x720',
      duration: 4,
      download,
      providerOptions: { openrouter: { frame_images: [], input_references: [reference(await dataUrl())] } },
    });
    assert.deepEqual([made.mediaType, Buffer.from(made.uint8Array)], ['video/mp4', stage.video]);
    assert.deepEqual(providerMetadata['openrouter'], { generationId: null, cost: null });
    assert.deepEqual(await stage.booksOf(accountId), { tasks: 1, balance: 1000 - 4 * 33 });
  });

  test('is charged once also if it then refuses to download from a private address', async () => {
    const { accountId, video } = await videoModel();
    await assert.rejects(generateVideo({ model: video, prompt: 'A lighthouse', duration: 4 }), /AI_DownloadError/);
    assert.deepEqual(await stage.booksOf(accountId), { tasks: 1, balance: 1000 - 4 * 33 });
  });

  test('throws its own errors, once, with our message', async () => {
    const { accountId, video } = await videoModel(10);
    const refused = async (prompt: string, more: object) => {
      let thrown: unknown;
      await generateVideo({ model: video, prompt, ...more }).catch((error: unknown) => (thrown = error));
      assert.ok(APICallError.isInstance(thrown), String(thrown));
      return thrown;
    };
    const poor = await refused('A lighthouse', {});
    assert.deepEqual([poor.statusCode, poor.isRetryable], [402, false]);
    assert.match(poor.message, /^the balance is too low/);
    assert.match((await refused('A lighthouse', { seed: 7 })).message, /^seed: is not supported by this model/);
    assert.deepEqual(await stage.booksOf(accountId), { tasks: 0, balance: 10 });
  });
});

/** Returns a reference of a request. */
function reference(url: string) {
  return { type: 'image_url', image_url: { url } };
}
