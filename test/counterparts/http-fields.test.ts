import assert from 'node:assert/strict';
import { createFalClient } from '@fal-ai/client';
import type { Seedance2I2VInput, Seedance2R2VInput, Seedance2T2VInput } from '@fal-ai/client/endpoints';
import RunwayML from '@runwayml/sdk';
import { describe, test, type TestContext } from 'node:test';
import Replicate from 'replicate';
import { withDefaults } from '../../src/catalogue/input/task-input.ts';
import { allFields, allMedia, contents, dataUrl } from '../providers/contract/all-fields.ts';
import { stage } from './files-stage.ts';

// The vendors' own clients send what their types allow, so the bodies show whether ours have the names and forms of those fields.

const prompt = 'a lighthouse';
const { firstFrameUrl, lastFrameUrl, imageUrls, videoUrls, audioUrls } = allFields;
const frameUrls = { firstFrameUrl, lastFrameUrl };
const referenceUrls = { imageUrls, videoUrls, audioUrls };
const firstUrl = dataUrl('image/jpeg', contents.firstFrame);
const lastUrl = dataUrl('image/jpeg', contents.lastFrame);

/** The files of the frames alone, or of the references alone: no task has both. */
async function mediaOf(t: TestContext) {
  const { firstFrame, lastFrame, ...references } = await allMedia(t);
  const first = { images: [], videos: [], audios: [], firstFrame };
  return {
    first: async () => first,
    frames: async () => ({ ...first, lastFrame }),
    references: async () => references,
  };
}

describe('our requests to Runway are those of its own client', () => {
  async function runwayStage(t: TestContext, model: string) {
    const { upstream, baseUrl, begin } = await stage(t, 'runway', model);
    const client = new RunwayML({ apiKey: 'test-key', baseURL: baseUrl, maxRetries: 0 });
    return { upstream, begin, client, media: await mediaOf(t) };
  }

  test('with both frames, a seed and no sound', async (t) => {
    const model = 'veo3.1';
    const { upstream, begin, client, media } = await runwayStage(t, model);
    const common = { prompt, negativePrompt: 'fog', resolution: '1080p', ratio: '9:16', duration: 8, seed: 7 } as const;
    await begin({ input: withDefaults({ ...common, ...frameUrls, generateAudio: false }), media: media.frames });
    await client.imageToVideo.create({
      model,
      promptText: prompt,
      negativePrompt: 'fog',
      promptImage: [
        { uri: firstUrl, position: 'first' },
        { uri: lastUrl, position: 'last' },
      ],
      ratio: '1080:1920',
      duration: 8,
      audio: false,
      seed: 7,
    });
    const [ours, theirs] = upstream.creates;
    assert.deepEqual(ours, theirs);
  });

  test('with a first frame alone', async (t) => {
    const model = 'gen4.5';
    const { upstream, begin, client, media } = await runwayStage(t, model);
    const common = { prompt, ratio: '21:9', duration: 10, seed: 7, firstFrameUrl } as const;
    await begin({ input: withDefaults(common), media: media.first });
    await client.imageToVideo.create({
      model,
      promptText: prompt,
      promptImage: firstUrl,
      ratio: '1584:672',
      duration: 10,
      seed: 7,
    });
    const [ours, theirs] = upstream.creates;
    assert.deepEqual(ours, theirs);
  });

  for (const model of ['seedance2', 'seedance2_fast', 'seedance2_mini'] as const) {
    test(`with words alone, at 480p, to ${model}`, async (t) => {
      const { upstream, begin, client } = await runwayStage(t, model);
      await begin({ input: withDefaults({ prompt, resolution: '480p', ratio: '16:9', duration: 5, seed: 7 }) });
      const theirFields = { promptText: prompt, ratio: '864:496', duration: 5, audio: true, seed: 7 } as const;
      await client.textToVideo.create({ model, ...theirFields });
      const [ours, theirs] = upstream.creates;
      assert.deepEqual(ours, theirs);
    });
  }

  for (const [ratio, size] of [
    ['16:9', '854:480'],
    ['9:16', '480:854'],
    ['4:3', '752:560'],
  ] as const) {
    test(`with words alone, at 480p and ${ratio}, to seedance2_5`, async (t) => {
      const model = 'seedance2_5';
      const { upstream, begin, client } = await runwayStage(t, model);
      await begin({ input: withDefaults({ prompt, resolution: '480p', ratio, duration: 5, seed: 7 }) });
      await client.textToVideo.create({ model, promptText: prompt, ratio: size, duration: 5, audio: true, seed: 7 });
      const [ours, theirs] = upstream.creates;
      assert.deepEqual(ours, theirs);
    });
  }
});

describe('our requests to fal are those of its own client', () => {
  type Inputs = {
    readonly 'text-to-video': Seedance2T2VInput;
    readonly 'image-to-video': Seedance2I2VInput;
    readonly 'reference-to-video': Seedance2R2VInput;
  };

  async function falStage(t: TestContext) {
    const { file, upstream, baseUrl, begin } = await stage(t, 'fal-seedance');
    const client = createFalClient({
      credentials: 'test-key',
      requestMiddleware: async (request) => ({
        ...request,
        url: request.url.replace('https://queue.fal.run', baseUrl),
      }),
    });
    // The client's types name no endpoint of this model, but the input of each.
    const submit = async <Name extends keyof Inputs>(name: Name, input: Inputs[Name]) => {
      const endpoint: string = `${file.example.model}/${name}`;
      await client.queue.submit(endpoint, { input });
    };
    return { upstream, begin, submit, media: await mediaOf(t) };
  }

  const common = { prompt, resolution: '480p', duration: 12, generateAudio: false, seed: 7 } as const;
  const theirFields = { prompt, resolution: '480p', duration: '12', generate_audio: false, seed: 7 } as const;

  test('with words alone', async (t) => {
    const { upstream, begin, submit } = await falStage(t);
    await begin({ input: withDefaults({ ...common, ratio: '9:16' }) });
    await submit('text-to-video', { ...theirFields, aspect_ratio: '9:16' });
    const [ours, theirs] = upstream.creates;
    assert.deepEqual(ours, theirs);
  });

  test('with frames', async (t) => {
    const { upstream, begin, submit, media } = await falStage(t);
    await begin({ input: withDefaults({ ...common, ...frameUrls, ratio: 'adaptive' }), media: media.frames });
    await submit('image-to-video', {
      ...theirFields,
      image_url: firstUrl,
      end_image_url: lastUrl,
      aspect_ratio: 'auto',
    });
    const [ours, theirs] = upstream.creates;
    assert.deepEqual(ours, theirs);
  });

  test('with references', async (t) => {
    const { upstream, begin, submit, media } = await falStage(t);
    const input = withDefaults({ ...common, ...referenceUrls, ratio: '21:9' });
    await begin({ input, media: media.references });
    await submit('reference-to-video', {
      ...theirFields,
      aspect_ratio: '21:9',
      image_urls: [dataUrl('image/jpeg', contents.image)],
      video_urls: [dataUrl('video/mp4', contents.video)],
      audio_urls: [dataUrl('audio/mpeg', contents.audio)],
    });
    const [ours, theirs] = upstream.creates;
    assert.deepEqual(ours, theirs);
  });
});

// Its client has no types of a model's input, so this shows the frame of the request, not the names of the fields.
describe('our requests to Replicate are those of its own client', () => {
  const common = { prompt, resolution: '1080p', ratio: '9:16', duration: 12, generateAudio: false, seed: 7 } as const;
  const theirFields = {
    prompt,
    resolution: '1080p',
    aspect_ratio: '9:16',
    duration: 12,
    generate_audio: false,
    seed: 7,
  };
  const link = (name: string) => `https://videogen.example/${name}`;

  async function replicateStage(t: TestContext) {
    const { file, upstream, baseUrl, begin } = await stage(t, 'replicate-seedance');
    const client = new Replicate({ auth: 'test-key', baseUrl });
    const create = async (input: object) => await client.predictions.create({ model: file.example.model, input });
    return { upstream, begin, create };
  }

  test('with frames', async (t) => {
    const { upstream, begin, create } = await replicateStage(t);
    const links = { firstFrame: link('first.jpg'), lastFrame: link('last.jpg') };
    await begin({ input: withDefaults({ ...common, ...frameUrls }), links });
    await create({ ...theirFields, image: links.firstFrame, last_frame_image: links.lastFrame });
    const [ours, theirs] = upstream.creates;
    assert.deepEqual(ours, theirs);
  });

  test('with references', async (t) => {
    const { upstream, begin, create } = await replicateStage(t);
    const [images, videos, audios] = [[link('1.jpg')], [link('1.mp4')], [link('1.m4a')]];
    await begin({ input: withDefaults({ ...common, ...referenceUrls }), links: { images, videos, audios } });
    await create({ ...theirFields, reference_images: images, reference_videos: videos, reference_audios: audios });
    const [ours, theirs] = upstream.creates;
    assert.deepEqual(ours, theirs);
  });
});
