import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type * as provider2 from '@openrouter/ai-sdk-provider';
import type * as sdk6 from 'ai';
import { type FinishingService, startFinishingService } from '../../api/dialects/finishing-service.ts';
import { nodeModulesWith } from '../../support/processes/installed-packages.ts';
import { mergeRepeats } from '../../support/service/repeat-merging.ts';
import { lostCreates } from '../../support/tier.ts';

// The AI SDK 7 and its provider ask for Node.js 22, which not every machine of contributors has; they run on 20, too.

const model = 'bytedance/seedance-2-fast';
const price = 4 * 33;

let stage: FinishingService;
let sdk: Pick<typeof sdk6, 'experimental_generateVideo'>;
let provider: Pick<typeof provider2, 'createOpenRouter'>;
before(async () => {
  stage = await startFinishingService();
  const folder = await nodeModulesWith('ai@7.0.173', '@openrouter/ai-sdk-provider@3.1.0', 'zod@4.6.7');
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(folder, path)).href);
  // The functions used here have the same types as in version 6, which is a dependency.
  sdk = (await load('ai/dist/index.js')) as typeof sdk;
  provider = (await load('@openrouter/ai-sdk-provider/dist/index.js')) as typeof provider;
});
after(() => stage.close());

function generate(key: string, prompt: string) {
  const { createOpenRouter } = provider;
  const openRouter = createOpenRouter({ apiKey: key, baseURL: `${stage.publicUrl}/api/v1` });
  return sdk.experimental_generateVideo({
    model: openRouter.videoModel(model, { pollIntervalMs: 100, generateAudio: false }),
    prompt,
    resolution: '1280x720',
    duration: 4,
    download: async ({ url }) => {
      const response = await fetch(url);
      return { data: new Uint8Array(await response.arrayBuffer()), mediaType: 'video/mp4' };
    },
  });
}

test('the AI SDK 7 generates a video', async () => {
  const { accountId, key } = await stage.newAccount(1000);
  const { video } = await generate(key, 'A lighthouse');
  assert.deepEqual(Buffer.from(video.uint8Array), stage.video);
  assert.deepEqual(await stage.booksOf(accountId), { tasks: 1, balance: 1000 - price });
});

test(`the AI SDK 7, given an API key that merges repeats, gets a video for each of ${lostCreates} creates and is charged for no second one`, async () => {
  const { accountId, key } = await stage.newAccount(lostCreates * price);
  await mergeRepeats(stage.service.database.db, accountId);
  stage.proxy.loseFirst('POST', '/api/v1/videos');
  const prompts = Array.from({ length: lostCreates }, (_, index) => `A lighthouse, view ${index}`);
  await Promise.all(prompts.map((prompt) => generate(key, prompt)));
  assert.equal(stage.proxy.lost(), lostCreates);
  assert.deepEqual(await stage.booksOf(accountId), { tasks: lostCreates, balance: 0 });
});

test('the AI SDK 7 sends no Idempotency-Key of its own here, so that a lost create becomes two tasks', async () => {
  const { accountId, key } = await stage.newAccount(1000);
  stage.proxy.loseFirst('POST', '/api/v1/videos');
  await generate(key, 'A lighthouse');
  const keys = stage.proxy.requests.slice(-10).map(({ headers }) => headers['idempotency-key']);
  assert.ok(keys.every((one) => one === undefined));
  assert.deepEqual(await stage.booksOf(accountId), { tasks: 2, balance: 1000 - 2 * price });
});
