import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { taskFailureFor, providerFailures } from '../../../src/tasks/jobs/task-failures-of-jobs.ts';

const [image, video, audio] = ['https://client.example/a', 'https://client.example/b', 'https://client.example/c'];
const silent = withDefaults({ prompt: 'a pier', generateAudio: false });
const loud = withDefaults({ prompt: 'a pier', generateAudio: true });
const images = { ...silent, imageUrls: [image] };
const clips = { ...silent, videoUrls: [video], audioUrls: [audio] };

test('each failure of all providers has its code', () => {
  const codes = Object.entries(providerFailures).map(([name, { failCode }]) => [name, failCode]);
  assert.deepEqual(Object.fromEntries(codes), {
    rejected: 'provider_rejected',
    failed: 'provider_rejected',
    unavailable: 'provider_unavailable',
    tooLarge: 'result_invalid',
    unreachable: 'result_invalid',
    timeout: 'timeout',
    cancelled: 'cancelled',
  });
});

for (const [about, input, named] of [
  [undefined, loud, /^The request was/],
  ['prompt', loud, /^The prompt was/],
  ['image', loud, /^An image was/],
  ['video', loud, /^A reference video was/],
  ['audio', loud, /^A reference audio file was/],
  ['output', loud, /^The generated video was [^.]*\.$/],
  ['sound', loud, /^The generated sound was .* generateAudio: false/],
  ['sound', silent, /^The generated sound was [^.]*\.$/],
] as const)
  test(`content rejected in ${about ?? 'any part'} fails the task, which is ${input.generateAudio ? '' : 'not '}to have sound`, () => {
    const { failCode, failMsg } =
      taskFailureFor({ kind: 'content', detail: 'secret', ...(about !== undefined && { about }) }, input) ??
      assert.fail();
    assert.equal(failCode, 'content_rejected');
    assert.match(failMsg, named);
    assert.ok(!failMsg.includes('secret'));
  });

for (const [what, input, code, named] of [
  ['no medium', silent, 'image_invalid', /^An image was/],
  ['an image', images, 'image_invalid', /^An image was/],
  ['clips', clips, 'media_invalid', /^A reference video or a reference audio file was/],
  [
    'all',
    { ...images, ...clips, imageUrls: [image] },
    'image_invalid',
    /^An image, a reference video, or a reference audio file was/,
  ],
] as const)
  test(`media rejected of a request with ${what} fail the task with ${code}`, () => {
    const { failCode, failMsg } = taskFailureFor({ kind: 'image', detail: 'secret' }, input) ?? assert.fail();
    assert.equal(failCode, code);
    assert.match(failMsg, named);
  });

test('any other error is of one provider', () => {
  for (const kind of ['input', 'upstream'] as const)
    assert.equal(taskFailureFor({ kind, detail: 'x' }, loud), undefined);
});
