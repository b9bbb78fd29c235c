import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  frameSize,
  frameSizesAt720p,
  isClearlyAboveResolution,
  isClearlyBelowResolution,
  lastFrameRefusal,
  frameSizeForUpstream,
} from '../../../src/catalogue/media/frame-size.ts';
import { ratios, resolutions } from '../../../src/catalogue/input/resolutions-ratios-and-field-bounds.ts';

test('16:9 has the usual size of every resolution', () => {
  const sizes = resolutions.map((resolution) => {
    const { widthPx, heightPx } = frameSize(resolution, '16:9', undefined);
    return `${resolution} ${widthPx}x${heightPx}`;
  });
  assert.deepEqual(sizes, [
    '480p 854x480',
    '540p 960x540',
    '720p 1280x720',
    '768p 1366x768',
    '1080p 1920x1080',
    '1440p 2560x1440',
    '2160p 3840x2160',
  ]);
});

test('720p has the sizes of the table, and every other resolution its shapes with even sides and the area of its 16:9', () => {
  for (const [ratio, size] of Object.entries(frameSizesAt720p))
    assert.deepEqual(frameSize('720p', ratio as keyof typeof frameSizesAt720p, undefined), size); // the keys of the table
  for (const resolution of resolutions) {
    const whole = frameSize(resolution, '16:9', undefined);
    for (const ratio of ratios) {
      const { widthPx, heightPx } = frameSize(resolution, ratio, undefined);
      assert.deepEqual([widthPx % 2, heightPx % 2], [0, 0], `${resolution} ${ratio}`);
      const share = (widthPx * heightPx) / (whole.widthPx * whole.heightPx);
      assert.ok(Math.abs(share - 1) < 0.02, `${resolution} ${ratio}: ${share}`);
      const [wide = 16, tall = 9] = ratio === 'adaptive' ? [] : ratio.split(':').map(Number);
      assert.ok(Math.abs(widthPx / heightPx / (wide / tall) - 1) < 0.01, `${resolution} ${ratio}`);
    }
  }
});

test('adaptive takes the ratio nearest to the first image, among those that every model has', () => {
  const nearest = (widthPx: number, heightPx: number) => frameSize('1080p', 'adaptive', { widthPx, heightPx });
  assert.deepEqual(nearest(90, 160), { widthPx: 1080, heightPx: 1920 });
  assert.deepEqual(nearest(100, 99), { widthPx: 1440, heightPx: 1440 });
  assert.deepEqual(nearest(3000, 2000), frameSize('1080p', '4:3', undefined));
  assert.deepEqual(nearest(1000, 3000), { widthPx: 1080, heightPx: 1920 });
  const others = { '9:21': '9:16', '3:2': '4:3', '2:3': '3:4', '5:4': '4:3', '4:5': '3:4' } as const;
  for (const [ratio, size] of Object.entries(frameSizesAt720p)) {
    const chosen = ratio in others ? others[ratio as keyof typeof others] : (ratio as keyof typeof frameSizesAt720p); // its keys
    assert.deepEqual(frameSize('720p', 'adaptive', size), frameSizesAt720p[chosen], ratio);
  }
});

test('sizes that vendors document for a resolution have it, and those of the next lower one do not', () => {
  const isSold = (resolution: (typeof resolutions)[number], size: string) => {
    const [widthPx = 0, heightPx = 0] = size.split('x').map(Number);
    return !isClearlyBelowResolution(resolution, { widthPx, heightPx });
  };
  for (const [resolution, sizes] of [
    ['480p', ['864x496', '832x480', '752x560', '640x640', '992x432', '960x416']],
    ['720p', ['1280x720', '1248x704', '1504x640', '1470x630', '720x720', '704x1280', '1216x704', '1584x672']],
    ['768p', ['1366x768', '1344x768']],
    ['1080p', ['1920x1080', '1088x1920', '2176x928', '1664x1248', '1440x1440', '1792x1024']],
  ] as const) {
    for (const size of sizes) assert.equal(isSold(resolution, size), true, `${size} is ${resolution}`);
  }
  for (const [resolution, sizes] of [
    ['720p', ['864x496', '832x480', '640x640', '992x432', '960x540', '1024x576']],
    ['1080p', ['1280x720', '1248x704', '1504x640', '960x960', '1366x768']],
    ['1440p', ['1920x1080', '2176x928', '1440x1080']],
    ['2160p', ['2560x1440', '1920x1080', '1920x1920']],
  ] as const) {
    for (const size of sizes) assert.equal(isSold(resolution, size), false, `${size} is not ${resolution}`);
  }
  for (const resolution of resolutions)
    for (const ratio of ratios)
      assert.equal(isClearlyBelowResolution(resolution, frameSize(resolution, ratio, undefined)), false);
});

test('a video is above its resolution only if both its short side and its area are clearly larger', () => {
  for (const [resolution, widthPx, heightPx, expected] of [
    ['720p', 1280, 720, false],
    ['720p', 1366, 768, false],
    ['720p', 1920, 1080, true],
    ['720p', 1080, 1920, true],
    ['1080p', 1440, 1440, false],
    ['1080p', 3840, 1088, false],
    ['1080p', 2560, 1440, true],
  ] as const)
    assert.equal(
      isClearlyAboveResolution(resolution, { widthPx, heightPx }),
      expected,
      `${widthPx}x${heightPx} at ${resolution}`,
    );
});

test('a side or an area of nine tenths is that of the resolution, and one pixel less or more is not', () => {
  for (const [widthPx, heightPx, isBelow, isAbove] of [
    [1000, 648, false, false],
    [1000, 647, true, false],
    [1296, 640, false, false],
    [1295, 640, true, false],
    [1600, 800, false, false],
    [1600, 801, false, true],
    [1024, 1000, false, false],
    [1025, 1000, false, true],
  ] as const) {
    const size = { widthPx, heightPx };
    const found = [isClearlyBelowResolution('720p', size), isClearlyAboveResolution('720p', size)];
    assert.deepEqual(found, [isBelow, isAbove], `${widthPx}x${heightPx}`);
  }
});

test('the own size of a model is that of its resolution, rotated, shaped and scaled for every other order', () => {
  const own = { width: 832, height: 480, resolution: '480p' } as const;
  const upright = { widthPx: 720, heightPx: 1280 };
  for (const [resolution, ratio, size, expected, image] of [
    ['480p', '16:9', own, '832x480'],
    ['480p', '9:16', own, '480x832'],
    ['480p', '1:1', own, '640x640'],
    ['480p', '4:3', own, '736x544'],
    ['480p', 'adaptive', own, '480x832', upright],
    ['720p', '16:9', own, '1248x736'],
    ['720p', '9:16', own, '736x1248'],
    ['720p', 'adaptive', own, '736x1248', upright],
    ['720p', '16:9', { width: 1248, height: 704 }, '1248x704'],
    ['1080p', '3:4', { width: 1248, height: 704 }, '1216x1632'],
    ['480p', '16:9', { width: 832 }, '854x480'],
    ['480p', '9:16', { height: 480 }, '480x854'],
  ] as const) {
    const { widthPx, heightPx } = frameSizeForUpstream({ resolution, ratio }, image, size);
    assert.equal(`${widthPx}x${heightPx}`, expected, `${resolution} ${ratio} ${JSON.stringify(size)}`);
  }
});

test('two frames have the same shape if at most 30 % of one is cut off, whichever is wider', () => {
  const square = { widthPx: 1000, heightPx: 1000 };
  const [fitting, narrow] = [
    { widthPx: 700, heightPx: 1000 },
    { widthPx: 699, heightPx: 1000 },
  ];
  assert.deepEqual([lastFrameRefusal(square, fitting), lastFrameRefusal(fitting, square)], [undefined, undefined]);
  assert.match(lastFrameRefusal(square, narrow) ?? '', /^is 699×1000 px and the first frame is 1000×1000 px/);
  assert.match(lastFrameRefusal(narrow, square) ?? '', /^is 1000×1000 px and the first frame is 699×1000 px/);
});

const wan = { width: 832, height: 480, resolution: '480p' } as const;
const cosmos = { width: 1344, height: 768 };

for (const [model, resolution, ratio, widthPx, heightPx] of [
  [wan, '480p', '16:9', 832, 480],
  [wan, '720p', '16:9', 1248, 736],
  [cosmos, '720p', '16:9', 1344, 768],
  [cosmos, '720p', '9:16', 768, 1344],
  [cosmos, '720p', '1:1', 1024, 1024],
  [cosmos, '720p', '4:3', 1184, 864],
  [cosmos, '720p', 'adaptive', 768, 1344],
  [cosmos, '480p', '16:9', 896, 512],
  [cosmos, '1080p', '9:16', 1152, 2016],
  [{}, '720p', '1:1', 960, 960],
] as const) {
  test(`a model with ${JSON.stringify(model)} makes ${ratio} at ${resolution} as ${widthPx} × ${heightPx}`, () => {
    // The reference image is upright.
    const size = frameSizeForUpstream({ resolution, ratio }, { widthPx: 90, heightPx: 160 }, model);
    assert.deepEqual(size, { widthPx, heightPx });
  });
}
