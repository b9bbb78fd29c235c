import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { jobRequest, signal } from '../contract/job-request.ts';
import { dialects } from '../../../src/providers/openai-videos/videos-dialects.ts';
import { images, stage } from './videos-stage.ts';

const input = withDefaults({ prompt: 'a lighthouse', duration: 8, generateAudio: false });

const everything = withDefaults({
  prompt: 'a lighthouse',
  negativePrompt: 'rain',
  resolution: '1080p',
  duration: 12,
  ratio: '9:16',
  generateAudio: false,
  seed: 7,
  options: {},
});

describe('a create is spelled as its server reads it', () => {
  test('for vLLM-Omni as a form, with frames, seconds and sound', async (t) => {
    const { upstream, begin } = await stage(t, 'vllm-omni', {
      width: 1344,
      height: 768,
      fps: 24,
      steps: 50,
      extra: { task: 't2va' },
    });
    await begin({ input });
    const [{ contentType, fields } = { contentType: '', fields: {} }] = upstream.creates;
    const { seed, ...others } = fields;
    assert.equal(contentType, 'multipart/form-data');
    assert.match(String(seed), /^\d{1,10}$/);
    assert.deepEqual(others, {
      model: 'model',
      prompt: 'a lighthouse',
      seconds: '8',
      width: '1344',
      height: '768',
      fps: '24',
      num_frames: '192',
      num_inference_steps: '50',
      generate_sound: 'false',
      extra_params: '{"duration":8,"task":"t2va"}',
    });
  });

  test('for vLLM-Omni with one reference or several', async (t) => {
    const { upstream, begin } = await stage(t, 'vllm-omni');
    const [one, three] = [await images(t, 1), await images(t, 3)];
    await begin({ images: one.images });
    await begin({ images: three.images });
    const { length } = one.jpeg;
    assert.equal(upstream.creates[0]?.fields['input_reference'], length);
    assert.deepEqual(upstream.creates[1]?.fields['input_references'], [length, length, length]);
  });

  test('for MiniMax-H3 on vLLM-Omni with its word for references, which would be key frames without it', async (t) => {
    const { upstream, begin } = await stage(t, 'vllm-omni', {}, 'MiniMaxAI/MiniMax-H3');
    await begin({ input });
    await begin({ input, images: (await images(t, 9)).images });
    assert.deepEqual(
      upstream.creates.map(({ fields }) => fields['extra_params']),
      ['{"duration":8}', '{"duration":8,"task":"ref2va"}'],
    );
    const keyFrames = await stage(t, 'vllm-omni', { extra: { task: 'fl2va' } }, 'MiniMaxAI/MiniMax-H3');
    await keyFrames.begin({ input, images: (await images(t, 2)).images });
    const refused = await keyFrames.provider.submit(jobRequest({ images: (await images(t, 3)).images }), signal);
    assert.equal(refused.kind, 'refused');
  });

  test('for vLLM-Omni with everything that a client can choose', async (t) => {
    const parameters = { fps: 24, steps: 50, extra: { quality: 'high' } };
    const { upstream, begin } = await stage(t, 'vllm-omni', parameters, 'MiniMaxAI/MiniMax-H3');
    const options = {
      fps: 16,
      steps: 20,
      guidanceScale2: 3.5,
      flowShift: 5,
      shotType: 'multi',
      duration: 99,
      lora: 'x',
    };
    await begin({ input: { ...everything, options }, frames: (await images(t, 2)).frames });
    const fields: Readonly<Record<string, unknown>> = upstream.creates[0]?.fields ?? {};
    const { input_references: files, ...others } = fields;
    assert.deepEqual(others, {
      model: 'MiniMaxAI/MiniMax-H3',
      prompt: 'a lighthouse',
      negative_prompt: 'rain',
      seconds: '12',
      width: '1080',
      height: '1920',
      fps: '16',
      num_frames: '192',
      num_inference_steps: '20',
      guidance_scale_2: '3.5',
      flow_shift: '5',
      seed: '7',
      generate_sound: 'false',
      extra_params: '{"duration":12,"quality":"high","shot_type":"multi","task":"fl2va"}',
    });
    assert.equal(Array.isArray(files) && files.length, 2);
  });

  test('for vLLM-Omni with a first frame as the only image', async (t) => {
    const { upstream, begin } = await stage(t, 'vllm-omni');
    const { jpeg, frames } = await images(t, 1);
    await begin({ input, frames });
    assert.equal(upstream.creates[0]?.fields['input_reference'], jpeg.length);
    assert.equal(upstream.creates[0]?.fields['extra_params'], '{"duration":8}');
  });

  test('for OpenRouter with everything that a client can choose', async (t) => {
    const { upstream, provider, begin } = await stage(t, 'openrouter', {
      extra: { seed: 1, provider: { order: ['x'] } },
    });
    assert.equal(provider.clips, 'link');
    const { jpeg, frames, images: references } = await images(t, 2);
    const links = { videos: ['https://media.example/1.mp4'], audios: ['https://media.example/2.m4a'] };
    await begin({ input: everything, frames });
    await begin({ input: { ...everything, resolution: '2160p', ratio: 'adaptive' }, images: references, links });
    await begin({ input: { ...everything, resolution: '1440p' } });
    const common = {
      provider: { order: ['x'] },
      model: 'model',
      prompt: 'a lighthouse',
      duration: 12,
      resolution: '1080p',
      generate_audio: false,
      seed: 7,
    };
    const image = { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${jpeg.toString('base64')}` } };
    const frame = (name: string) => ({ ...image, frame_type: name });
    assert.deepEqual(
      upstream.creates.map(({ fields }) => fields),
      [
        { ...common, aspect_ratio: '9:16', frame_images: [frame('first_frame'), frame('last_frame')] },
        {
          ...common,
          resolution: '4K',
          input_references: [
            image,
            image,
            { type: 'video_url', video_url: { url: 'https://media.example/1.mp4' } },
            { type: 'audio_url', audio_url: { url: 'https://media.example/2.m4a' } },
          ],
        },
        { ...common, resolution: '2K', aspect_ratio: '9:16' },
      ],
    );
  });

  for (const dialect of ['sglang', 'generic'] as const) {
    test(`for ${dialect} as JSON, and with an image as a form, with everything that a client can choose`, async (t) => {
      const extra = { seed: 1, guidance_scale: 4, negative_prompt: 'fog' };
      const { upstream, begin } = await stage(t, dialect, { fps: 24, steps: 50, extra });
      const options = { fps: 16, guidanceScale: 3.5, promptExtend: true, videoPath: '/etc/passwd', seed: 8 };
      const { jpeg, frames, images: references } = await images(t, 1);
      await begin({ input: { ...everything, options } });
      await begin({ input: { ...everything, options }, frames });
      await begin({ input: { ...input, seed: 7, ratio: 'adaptive' }, images: references });
      const common = { model: 'model', prompt: 'a lighthouse' };
      const chosen = { ...common, seconds: '12', size: '1080x1920' };
      // The task's seed and negative prompt replace the operator's; the generic dialect has none.
      const isGeneric = dialect === 'generic';
      const seed = isGeneric ? 1 : 7;
      const negative = { negative_prompt: isGeneric ? 'fog' : 'rain' };
      const numbers = {
        fps: 16,
        num_frames: 192,
        num_inference_steps: 50,
        guidance_scale: 3.5,
        prompt_extend: true,
        seed,
      };
      const least = { fps: 24, num_frames: 192, num_inference_steps: 50, guidance_scale: 4, seed };
      const inForm = (values: object) => ({
        ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])),
        input_reference: jpeg.length,
      });
      assert.deepEqual(
        upstream.creates.map(({ contentType, fields }) => [contentType, fields]),
        [
          ['application/json', { ...chosen, ...negative, ...numbers }],
          ['multipart/form-data', { ...chosen, ...negative, ...inForm(numbers) }],
          [
            'multipart/form-data',
            { ...common, seconds: '8', size: '720x1280', negative_prompt: 'fog', ...inForm(least) },
          ],
        ],
      );
    });
  }

  test('for vLLM-Omni with 24 frames per second unless the catalogue or the client chooses', async (t) => {
    const { upstream, begin } = await stage(t, 'vllm-omni');
    await begin({ input: { ...input, seed: 7 } });
    assert.deepEqual(upstream.creates[0]?.fields, {
      model: 'model',
      prompt: 'a lighthouse',
      seconds: '8',
      width: '1280',
      height: '720',
      fps: '24',
      num_frames: '192',
      seed: '7',
      generate_sound: 'false',
      extra_params: '{"duration":8}',
    });
  });

  test('for MiniMax-H3 with its word for frames, for the first or the last alone, too', async (t) => {
    const { upstream, begin } = await stage(t, 'vllm-omni', {}, 'MiniMaxAI/MiniMax-H3');
    const { jpeg, frames } = await images(t, 2);
    for (const one of ['firstFrame', 'lastFrame'] as const)
      await begin({ input, frames: { firstFrame: undefined, lastFrame: undefined, [one]: frames[one] } });
    assert.deepEqual(
      upstream.creates.map(({ fields }) => [fields['input_reference'], fields['extra_params']]),
      Array.from({ length: 2 }, () => [jpeg.length, '{"duration":8,"task":"fl2va"}']),
    );
  });

  test('for the generic dialect with the chosen fields only, and with the fixed fields of its form', async (t) => {
    const { upstream, begin } = await stage(t, 'generic', { form: { tenant: 'studio-7', seconds: 4, draft: true } });
    const { jpeg, frames } = await images(t, 2);
    await begin({ input });
    await begin({ input, frames });
    const least = { model: 'model', prompt: 'a lighthouse', size: '1280x720' };
    assert.deepEqual(
      upstream.creates.map(({ fields }) => fields),
      [
        { ...least, seconds: '8' },
        { ...least, seconds: '4', tenant: 'studio-7', draft: 'true', input_reference: jpeg.length },
      ],
    );
  });

  for (const dialect of ['sglang', 'openrouter'] as const) {
    test(`twice for ${dialect} for the same name with the same seed, and otherwise for another name`, async (t) => {
      const { upstream, provider, begin } = await stage(t, dialect);
      const { request } = await begin({ input });
      await provider.submit(request, signal);
      await begin({ input });
      const [first, again, other] = upstream.creates.map(({ fields }) => fields['seed']);
      assert.equal(typeof first, 'number');
      assert.equal(first, again);
      assert.notEqual(first, other);
    });
  }
});

test('the video of a job is at its content, or where the record says', () => {
  const id = 'job-1';
  const [own, storage] = ['/videos/job-1/content', 'https://storage.example/1.mp4'];
  const urls = Object.entries(dialects).map(([name, { videoUrl }]) => [
    name,
    [videoUrl({ id }), videoUrl({ id, url: storage }), videoUrl({ id, url: '/data/1.mp4' })],
  ]);
  assert.deepEqual(Object.fromEntries(urls), {
    'vllm-omni': [own, own, own],
    sglang: [own, storage, own],
    openrouter: [own, own, own].map((path) => `${path}?index=0`),
    generic: [own, own, own],
  });
});
