import assert from 'node:assert/strict';
import { type VideoGenerationRequest, videoGenerationRequestToJSON } from '@openrouter/sdk/models';
import { test } from 'node:test';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { images, stage } from '../../providers/openai-videos/videos-stage.ts';

// OpenRouter's own client writes a request from typed fields, so its JSON shows whether ours has the fields of that API.

const input = withDefaults({
  prompt: 'a lighthouse',
  resolution: '1080p',
  duration: 12,
  ratio: '9:16',
  generateAudio: false,
  seed: 7,
});
const theirs: VideoGenerationRequest = {
  model: 'model',
  prompt: 'a lighthouse',
  resolution: '1080p',
  duration: 12,
  aspectRatio: '9:16',
  generateAudio: false,
  seed: 7,
};

test('the request with frames is what its own client sends', async (t) => {
  const { upstream, begin } = await stage(t, 'openrouter');
  const { jpeg, frames } = await images(t, 2);
  await begin({ input, frames });
  const imageUrl = { url: `data:image/jpeg;base64,${jpeg.toString('base64')}` };
  const frameImages = (['first_frame', 'last_frame'] as const).map(
    (frameType) => ({ type: 'image_url', imageUrl, frameType }) as const,
  );
  assert.deepEqual(upstream.creates[0]?.fields, JSON.parse(videoGenerationRequestToJSON({ ...theirs, frameImages })));
});

test('the request with references is what its own client sends', async (t) => {
  const { upstream, begin } = await stage(t, 'openrouter');
  const { jpeg, images: references } = await images(t, 1);
  const [video, audio] = ['https://media.example/1.mp4', 'https://media.example/2.m4a'];
  await begin({ input, images: references, links: { videos: [video], audios: [audio] } });
  const sent = videoGenerationRequestToJSON({
    ...theirs,
    inputReferences: [
      { type: 'image_url', imageUrl: { url: `data:image/jpeg;base64,${jpeg.toString('base64')}` } },
      { type: 'video_url', videoUrl: { url: video } },
      { type: 'audio_url', audioUrl: { url: audio } },
    ],
  });
  assert.deepEqual(upstream.creates[0]?.fields, JSON.parse(sent));
});
