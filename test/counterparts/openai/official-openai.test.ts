import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import sharp from 'sharp';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { startVideosUpstream } from '../../fakes/openai-videos-upstream.ts';
import { images, stage } from '../../providers/openai-videos/videos-stage.ts';

const key = 'test-key';

describe("the fake is as OpenAI's own client expects such a server", () => {
  for (const dialect of ['vllm-omni', 'sglang', 'generic'] as const) {
    test(dialect, async (t) => {
      const upstream = await startVideosUpstream(dialect, key);
      t.after(() => upstream.close());
      const baseUrl = `http://${upstream.address}/v1`;
      const openai = new OpenAI({ apiKey: key, baseURL: baseUrl, maxRetries: 0 });
      const jpeg = await sharp({ create: { width: 90, height: 160, channels: 3, background: 'red' } })
        .jpeg()
        .toBuffer();
      const input_reference = await toFile(jpeg, 'first.jpg', { type: 'image/jpeg' });
      // The client's type has only the models of OpenAI; other servers take any.
      const created = await openai.videos.create({
        model: 'sora-2',
        prompt: 'a lighthouse',
        seconds: '8',
        size: '1280x720',
        input_reference,
      });
      assert.equal((await openai.videos.retrieve(created.id)).status, 'in_progress');
      await upstream.books.end(created.id, 'succeeded');
      assert.equal((await openai.videos.retrieve(created.id)).status, 'completed');
      const content = await openai.videos.downloadContent(created.id);
      assert.deepEqual(Buffer.from(await content.arrayBuffer()), await readFile(upstream.videoPath));
      const deleted = await openai.videos.delete(created.id);
      assert.equal(deleted.id, created.id);
      await assert.rejects(openai.videos.retrieve(created.id), OpenAI.NotFoundError);
      await assert.rejects(
        new OpenAI({ apiKey: 'x', baseURL: baseUrl }).videos.retrieve('x'),
        OpenAI.AuthenticationError,
      );
    });
  }
});

describe("our requests to a server of OpenAI's API have the fields that its own client sends", () => {
  const input = withDefaults({ prompt: 'a lighthouse', duration: 8, ratio: '9:16' });
  const fields = { model: 'sora-2', prompt: 'a lighthouse', seconds: '8', size: '720x1280' } as const;

  for (const frames of [0, 1]) {
    test(frames === 0 ? 'with words alone' : 'with a first frame', async (t) => {
      const { upstream, baseUrl, begin } = await stage(t, 'generic', {}, fields.model);
      const made = await images(t, frames);
      await begin({ input, frames: made.frames });
      const openai = new OpenAI({ apiKey: key, baseURL: baseUrl, maxRetries: 0 });
      const file = await toFile(made.jpeg, 'first.jpg', { type: 'image/jpeg' });
      await openai.videos.create({ ...fields, ...(frames > 0 && { input_reference: file }) });
      const [ours, theirs] = upstream.creates;
      assert.deepEqual(ours?.fields, theirs?.fields);
    });
  }
});
