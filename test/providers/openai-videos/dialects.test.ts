import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withDefaults } from '../../../src/tasks/task-input.ts';
import { jobRequest } from '../job-request.ts';
import { images, signal, stage } from './videos-stage.ts';

const input = withDefaults({ prompt: 'a lighthouse', duration: 8, generateAudio: false });

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

  test('for OpenRouter as JSON with data URLs, and without a ratio where the model may choose', async (t) => {
    const { upstream, begin } = await stage(t, 'openrouter', { extra: { provider: { order: ['x'] } } });
    const { jpeg, images: references } = await images(t, 2);
    await begin({ input });
    await begin({ input: { ...input, ratio: 'adaptive' }, images: references });
    const [first, second] = upstream.creates.map(({ fields: { seed, ...fields } }) => [typeof seed, fields]);
    const common = {
      provider: { order: ['x'] },
      model: 'model',
      prompt: 'a lighthouse',
      duration: 8,
      resolution: '720p',
      generate_audio: false,
    };
    assert.deepEqual(first, ['number', { ...common, aspect_ratio: '16:9' }]);
    const url = `data:image/jpeg;base64,${jpeg.toString('base64')}`;
    const reference = { type: 'image_url', image_url: { url } };
    assert.deepEqual(second, ['number', { ...common, input_references: [reference, reference] }]);
  });

  for (const dialect of ['sglang', 'generic'] as const) {
    test(`for ${dialect} as JSON, and with an image as a form`, async (t) => {
      const { upstream, begin } = await stage(t, dialect, { fps: 16, extra: { negative_prompt: 'rain' } });
      const { jpeg, images: reference } = await images(t, 1);
      await begin({ input });
      await begin({ input: { ...input, ratio: 'adaptive' }, images: reference });
      const [text, image] = upstream.creates.map(({ contentType, fields: { seed: _seed, ...fields } }) => ({
        contentType,
        ...fields,
      }));
      const common = { model: 'model', prompt: 'a lighthouse', seconds: '8', negative_prompt: 'rain' };
      const json = { contentType: 'application/json', size: '1280x720', fps: 16, num_frames: 128 };
      assert.deepEqual(text, { ...common, ...json });
      const form = { contentType: 'multipart/form-data', size: '720x1280', fps: '16', num_frames: '128' };
      assert.deepEqual(image, { ...common, ...form, input_reference: jpeg.length });
    });
  }

  test('twice for the same name with the same seed, and otherwise for another name', async (t) => {
    const { upstream, provider, begin } = await stage(t, 'generic');
    const { request } = await begin({ input });
    await provider.submit(request, signal);
    await begin({ input });
    const [first, again, other] = upstream.creates.map(({ fields }) => fields['seed']);
    assert.equal(first, again);
    assert.notEqual(first, other);
  });
});
