import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/platform/text/json.ts';
import { noMedia } from '../../../src/catalogue/media/media-by-role.ts';
import {
  fetchMediaOfTemplate,
  seedOf,
  taskPlaceholderValues,
  inputWithoutMediaUrls,
} from '../../../src/providers/requests/placeholder-values-and-template-media.ts';
import { allFields, allMedia } from '../contract/all-fields.ts';
import { jobRequest } from '../contract/job-request.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

const { input } = taskParam('a fox', { ratio: '16:9' });

test('a template fetches the media of its placeholders and no others; one without fetches none', async (t) => {
  const all = await allMedia(t);
  const usedBy = async (template: unknown) => {
    let fetches = 0;
    const media = async () => {
      fetches += 1;
      return all;
    };
    const { used } = await fetchMediaOfTemplate(template, { input, media });
    return { used, fetches };
  };
  for (const [placeholder, role] of [
    ['image', 'images'],
    ['images', 'images'],
    ['firstFrame', 'firstFrame'],
    ['lastFrame', 'lastFrame'],
    ['video', 'videos'],
    ['videos', 'videos'],
    ['audio:1', 'audios'],
    ['audios', 'audios'],
  ] as const) {
    const { used, fetches } = await usedBy({ field: `{{${placeholder}}}` });
    assert.equal(fetches, 1, placeholder);
    for (const one of ['images', 'firstFrame', 'lastFrame', 'videos', 'audios'] as const)
      assert.deepEqual(used[one] ?? [], one === role ? all[one] : [], `${one} for ${placeholder}`);
  }
  assert.deepEqual(await usedBy({ field: '{{prompt}} {{width}}' }), { used: noMedia, fetches: 0 });
});

test('a template with a size fetches the image that gives it, where the client left the ratio to the image', async (t) => {
  const all = await allMedia(t);
  const adaptive = { input: { ...input, ratio: 'adaptive' as const }, media: async () => all };
  for (const side of ['width', 'height']) {
    const { used, shape } = await fetchMediaOfTemplate({ field: `{{${side}}}` }, adaptive);
    assert.deepEqual([used.images, used.firstFrame, shape], [[], undefined, all]);
  }
  assert.deepEqual(await fetchMediaOfTemplate({ field: '{{ratio}}' }, adaptive), { used: noMedia, shape: noMedia });
});

test('a request without a seed has one by its name, which is the same in every release, and one with a seed keeps it', () => {
  const jobKey = '0193a5b0-7c1e-4000-8000-000000000001';
  const digest = createHash('sha256').update(jobKey).digest();
  assert.equal(seedOf({ input, jobKey }), Math.floor(digest.readUInt32BE() / 2));
  assert.notEqual(seedOf({ input, jobKey: jobKey.replace('1', '2') }), seedOf({ input, jobKey }));
  for (const seed of [0, 7]) assert.equal(seedOf({ input: { ...input, seed }, jobKey }), seed);
});

test('the values of a task have its input, its size by the parameters, and its name', () => {
  const request = jobRequest({ input: { ...input, seed: 7 } });
  const config = { kind: 'cog', baseUrl: 'http://cog.test', upstreamModel: 'm' } as const;
  const valuesOf = (parameters: JsonObject | undefined) =>
    taskPlaceholderValues(
      request,
      { ...config, options: parameters === undefined ? {} : { parameters } },
      noMedia,
      noMedia,
    );
  const common = { input: request.input, seed: 7, media: noMedia, prefix: `videogen/${request.jobKey}` };
  assert.deepEqual(valuesOf(undefined), { ...common, size: { widthPx: 1280, heightPx: 720 }, fps: 24 });
  assert.deepEqual(valuesOf({ width: 832, height: 480, fps: 16 }), {
    ...common,
    size: { widthPx: 832, heightPx: 480 },
    fps: 16,
  });
  // The size is that of 480p, and the task is one of 720p.
  const { size } = valuesOf({ width: 832, height: 480, resolution: '480p' });
  assert.deepEqual(size, { widthPx: 1248, heightPx: 736 });
});

test('an input without addresses has every other field', () => {
  const { imageUrls: _1, firstFrameUrl: _2, lastFrameUrl: _3, videoUrls: _4, audioUrls: _5, ...others } = allFields;
  assert.deepEqual(inputWithoutMediaUrls(allFields), others);
});
