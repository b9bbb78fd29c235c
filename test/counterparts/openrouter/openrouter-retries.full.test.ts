import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import { experimental_generateVideo as generateVideo } from 'ai';
import { type FinishingService, startFinishingService } from '../../api/dialects/finishing-service.ts';
import { mergeRepeats } from '../../support/service/repeat-merging.ts';
import { lostCreates } from '../../support/tier.ts';

// These clients repeat a create whose response was lost, and neither marks the repeat nor sends an Idempotency-Key of its own. The service
// knows that it is a repeat by an Idempotency-Key of the caller, or by an API key that merges repeats.

const model = 'bytedance/seedance-2-fast';
const price = 4 * 33;

let stage: FinishingService;
beforeEach(async () => {
  stage = await startFinishingService();
  stage.proxy.loseFirst('POST', '/api/v1/videos');
});
afterEach(() => stage.close());

type Create = (prompt: string, headers: Readonly<Record<string, string>>) => Promise<unknown>;

/** Each returns what identifies the video that the client got. */
const clients: Readonly<Record<string, (key: string) => Create>> = {
  '@openrouter/sdk': (apiKey) => {
    const { videoGeneration } = new OpenRouter({ apiKey, serverURL: `${stage.publicUrl}/api/v1` });
    return async (prompt, headers) => {
      const request = { videoGenerationRequest: { model, prompt, duration: 4 } };
      return (await videoGeneration.generate(request, { headers })).id;
    };
  },
  '@openrouter/ai-sdk-provider': (apiKey) => {
    const provider = createOpenRouter({ apiKey, baseURL: `${stage.publicUrl}/api/v1` });
    return async (prompt, headers) => {
      let link = '';
      const download = ({ url }: { readonly url: URL }) => {
        link = url.pathname;
        return Promise.resolve({ data: new Uint8Array(1), mediaType: 'video/mp4' });
      };
      await generateVideo({
        model: provider.videoModel(model, { pollIntervalMs: 100 }),
        prompt,
        duration: 4,
        headers,
        download,
      });
      return link;
    };
  },
};

for (const [name, clientOf] of Object.entries(clients)) {
  for (const means of ['an Idempotency-Key', 'an API key that merges repeats']) {
    test(`${name}, given ${means}, gets a video for each of ${lostCreates} creates and is charged for no second one`, async () => {
      const { accountId, key } = await stage.newAccount(lostCreates * price);
      const isKeyed = means === 'an Idempotency-Key';
      if (!isKeyed) await mergeRepeats(stage.service.database.db, accountId);
      const create = clientOf(key);
      const prompts = Array.from({ length: lostCreates }, (_, index) => `A lighthouse, view ${index}`);
      const headers = () => (isKeyed ? { 'Idempotency-Key': randomUUID() } : {});
      const videos = await Promise.all(prompts.map((prompt) => create(prompt, headers())));
      assert.equal(stage.proxy.lost(), lostCreates);
      assert.equal(new Set(videos).size, lostCreates);
      assert.deepEqual(await stage.booksOf(accountId), { tasks: lostCreates, balance: 0 });
    });
  }

  test(`${name} without either repeats a lost create with the same request, which is a second task`, async () => {
    const { accountId, key } = await stage.newAccount(lostCreates * price);
    await clientOf(key)('A lighthouse', {});
    assert.deepEqual(await stage.booksOf(accountId), { tasks: 2, balance: (lostCreates - 2) * price });
    const [first, second] = stage.proxy.requests.filter(({ method }) => method === 'POST');
    assert.deepEqual(second, first);
  });
}

test('the AI SDK creates a video again when it stops polling; with an Idempotency-Key that is the same task', async () => {
  const tasksWith = async (headers: Readonly<Record<string, string>>) => {
    const { accountId, key } = await stage.newAccount(lostCreates * price);
    const provider = createOpenRouter({ apiKey: key, baseURL: `${stage.publicUrl}/api/v1` });
    const video = provider.videoModel(model, { maxPollTimeMs: 0 });
    await assert.rejects(generateVideo({ model: video, prompt: 'A lighthouse', headers }), /timed out after 0ms/);
    return (await stage.booksOf(accountId)).tasks;
  };
  stage.proxy.loseFirst('GET', '/nothing');
  assert.deepEqual(await Promise.all([tasksWith({}), tasksWith({ 'Idempotency-Key': 'k' })]), [3, 1]);
});
