import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import { readBalanceAndEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { generate } from './ark-sdk.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';

// The AI SDK with its provider for Ark, in front of our shape of Ark.

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
    const { balance, entries } = await readBalanceAndEntries(service.database.db, {
      accountId,
      before: undefined,
      limit: 10,
    });
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
