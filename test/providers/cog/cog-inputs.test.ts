import assert from 'node:assert/strict';
import { truncate } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { describe, test, type TestContext } from 'node:test';
import { createCogProvider } from '../../../src/providers/cog/cog-provider.ts';
import type { JsonObject } from '../../../src/platform/text/json.ts';
import { noMedia } from '../../../src/catalogue/media/media-by-role.ts';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { serve } from '../../support/servers/serve.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { allFields, allMedia, contents, dataUrl } from '../contract/all-fields.ts';
import { jobRequest, type JobChanges, signal } from '../contract/job-request.ts';
import { providerDeps } from '../loopback-client.ts';

/** Runs a prediction at a server that has no model, and returns the inputs that it received. */
async function receivedInputs(t: TestContext, template: JsonObject, changes: JobChanges) {
  const bodies: string[] = [];
  const baseUrl = await serve(t, (request, response) => {
    void text(request).then((body) => {
      if (request.method === 'PUT') bodies.push(body);
      response.end('{"status":"failed","error":"no model"}');
    });
  });
  const options = { parameters: { input: template, fps: 16 } };
  const provider = createCogProvider(providerDeps({ kind: 'cog', baseUrl, options }));
  const to = { workFolder: await temporaryFolder(t), signal, onStarted: () => undefined };
  const end = await provider.run(jobRequest(changes), () => undefined, to);
  const [body] = bodies;
  return { end, inputs: body === undefined ? undefined : (JSON.parse(body) as { readonly input: unknown }).input };
}

describe('the inputs of a model', () => {
  test('can have every field of a request', async (t) => {
    const media = await allMedia(t);
    const template = {
      prompt: '{{prompt}}',
      negative_prompt: '{{negativePrompt}}',
      resolution: '{{resolution}}',
      num_frames: '{{frames:4}}',
      seconds: '{{seconds}}',
      aspect_ratio: '{{ratio}}',
      sound: '{{generateAudio}}',
      seed: '{{seed}}',
      steps: '{{option:steps}}',
      image: '{{image}}',
      first: '{{firstFrame}}',
      last: '{{lastFrame}}',
      video: '{{video:1}}',
      audio: '{{audio:1}}',
      missing: '{{audio:2}}',
    };
    const { inputs } = await receivedInputs(t, template, { input: allFields, media: async () => media });
    assert.deepEqual(inputs, {
      prompt: 'a lighthouse',
      negative_prompt: 'fog',
      resolution: '1080p',
      num_frames: 81,
      seconds: 5,
      aspect_ratio: '4:3',
      sound: true,
      seed: 42,
      steps: 30,
      image: dataUrl('image/jpeg', contents.image),
      first: dataUrl('image/jpeg', contents.firstFrame),
      last: dataUrl('image/jpeg', contents.lastFrame),
      video: dataUrl('video/mp4', contents.video),
      audio: dataUrl('audio/mpeg', contents.audio),
    });
  });

  test('have no media that they do not name, which are not even fetched', async (t) => {
    const media = () => Promise.reject(new Error('media were fetched'));
    const { inputs } = await receivedInputs(t, { prompt: '{{prompt}}' }, { input: allFields, media });
    assert.deepEqual(inputs, { prompt: 'a lighthouse' });
  });

  test('have the shape of the first frame when the ratio is adaptive', async (t) => {
    const media = await allMedia(t);
    const upright = { ...media, firstFrame: { ...media.firstFrame, widthPx: 720, heightPx: 1280 } };
    const input = withDefaults({ prompt: 'a fox', ratio: 'adaptive' });
    const { inputs } = await receivedInputs(t, { width: '{{width}}' }, { input, media: async () => upright });
    assert.deepEqual(inputs, { width: 720 });
  });

  test('have the shape of a last frame without another image when the ratio is adaptive', async (t) => {
    const { lastFrame } = await allMedia(t);
    const upright = { ...noMedia, lastFrame: { ...lastFrame, widthPx: 720, heightPx: 1280 } };
    const input = withDefaults({ prompt: 'a fox', ratio: 'adaptive' });
    const { inputs } = await receivedInputs(t, { width: '{{width}}' }, { input, media: async () => upright });
    assert.deepEqual(inputs, { width: 720 });
  });

  test('are not sent with a clip that is too large, so that another provider may take the task', async (t) => {
    const media = await allMedia(t);
    await truncate(media.videos[0]?.path ?? '', 22_500_001);
    const { end, inputs } = await receivedInputs(t, { video: '{{video}}' }, { media: async () => media });
    assert.ok(end.kind === 'refused' && end.error.kind === 'input');
    assert.equal(inputs, undefined);
  });
});
