import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMedia } from '../../../src/catalogue/media/media-by-role.ts';
import { fetchMediaOfTemplate } from '../../../src/providers/requests/task-values.ts';
import { allMedia } from '../contract/all-fields.ts';
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
