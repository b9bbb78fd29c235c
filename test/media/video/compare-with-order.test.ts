import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Task } from '../../../src/catalogue/tasks/task.ts';
import {
  compareWithOrder,
  describeDifferences,
  differencesOfTask,
} from '../../../src/media/video/compare-with-order.ts';

const order = { duration: 5, generateAudio: true, ratio: '16:9', resolution: '720p' } as const;
const video = { durationSeconds: 5, hasAudio: true, widthPx: 1280, heightPx: 720 };

const seconds = (kind: string, delivered: string) => [{ aspect: 'seconds', kind, ordered: '5 s', delivered }];
const pixels = (aspect: string, kind: string, ordered: string, delivered: string) => [
  { aspect, kind, ordered, delivered: `${delivered} pixels` },
];
const url = 'https://client.example/1';

describe('a video that differs from its order', () => {
  const cases: readonly (readonly [string, object, object, readonly object[]])[] = [
    ['in nothing', {}, {}, []],
    ['by half a second less', {}, { durationSeconds: 4.5 }, []],
    ['by more than half a second', {}, { durationSeconds: 4.4 }, seconds('short', '4.4 s')],
    ['by almost half a second more', {}, { durationSeconds: 5.49 }, []],
    ['by half a second more', {}, { durationSeconds: 5.5 }, seconds('more', '5.5 s')],
    [
      'in its sound',
      {},
      { hasAudio: false },
      [{ aspect: 'sound', kind: 'short', ordered: 'sound', delivered: 'no sound' }],
    ],
    ['in sound that was not ordered', { generateAudio: false }, {}, []],
    ['in no sound that was not ordered', { generateAudio: false }, { hasAudio: false }, []],
    ['by 5 % of its width', {}, { widthPx: 1343 }, []],
    ['by more than 5 % of its width', {}, { widthPx: 1346 }, pixels('ratio', 'short', '16:9', '1346 × 720')],
    ['by 5 % less of its width', {}, { widthPx: 1220 }, []],
    ['by more than 5 % less', {}, { widthPx: 1217 }, pixels('ratio', 'short', '16:9', '1217 × 720')],
    ['in the ratio, which was adaptive', { ratio: 'adaptive' }, { widthPx: 720, heightPx: 1280 }, []],
    ...[{ imageUrls: [url] }, { videoUrls: [url] }, { firstFrameUrl: url }, { lastFrameUrl: url }].map(
      (picture) => ['in the ratio, beside a picture', picture, { widthPx: 720, heightPx: 1280 }, []] as const,
    ),
    [
      'in the ratio, beside sounds alone',
      { imageUrls: [], audioUrls: [url] },
      { widthPx: 720, heightPx: 1280 },
      pixels('ratio', 'short', '16:9', '720 × 1280'),
    ],
    ['by a size below it', {}, { widthPx: 1140, heightPx: 641 }, pixels('size', 'short', '720p', '1140 × 641')],
    ['by a size above it', {}, { widthPx: 1424, heightPx: 801 }, pixels('size', 'more', '720p', '1424 × 801')],
  ];
  for (const [what, ordered, delivered, differences] of cases)
    test(`${what}: ${JSON.stringify({ ...ordered, ...delivered })}`, () => {
      assert.deepEqual(compareWithOrder({ ...order, ...ordered }, { ...video, ...delivered }), differences);
    });

  test('in several aspects is described in their order', () => {
    const short = { durationSeconds: 1.2, hasAudio: false, widthPx: 480, heightPx: 480 };
    const differences = compareWithOrder(order, short);
    assert.equal(
      describeDifferences(differences),
      '1.2 s instead of 5 s, no sound instead of sound, 480 × 480 pixels instead of 16:9, 480 × 480 pixels instead of 720p',
    );
  });
});

test('a task is compared once it has its video, and until its content is deleted', () => {
  const result = { ...video, durationSeconds: 4 };
  const task = { param: { input: order }, result } as Task; // the fields that are read
  assert.deepEqual(differencesOfTask(task), seconds('short', '4.0 s'));
  assert.deepEqual(differencesOfTask({ ...task, contentDeletedAt: 1_800_000_000_000 }), []);
  assert.deepEqual(differencesOfTask({ ...task, result: undefined }), []);
});
