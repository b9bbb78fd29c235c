import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toSdr } from '../../../src/media/ffmpeg/hdr.ts';
import { convertToSrgb, heifColorsOf } from '../../../src/media/pictures/heif-colors.ts';
import { sharp } from '../../../src/media/pictures/image-library.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { box } from '../boxes.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const numbers = (primaries: number, transfer: number) =>
  box('colr', latin1('nclx'), Buffer.from([0, primaries, 0, transfer, 0, 9, 0x80]));
const profile = (kind: string, content: string) => box('colr', latin1(kind), latin1(content));
const fileWith = (...properties: readonly Buffer[]) =>
  Buffer.concat([
    box('ftyp', latin1('heic\0\0\0\0mif1')),
    box('meta', Buffer.alloc(4), box('hdlr'), box('iprp', box('ipco', box('ispe', Buffer.alloc(12)), ...properties))),
  ]);

test('the colors of a photo are those of its profile, or else of its numbers', () => {
  for (const [primaries, transfer, curve, gamut] of [
    [9, 16, 'pq', 'bt2020'],
    [9, 18, 'hlg', 'bt2020'],
    [12, 16, 'pq', 'smpte432'],
    [1, 18, 'hlg', 'bt709'],
    [2, 16, 'pq', 'bt2020'],
    [12, 13, 'sdr', 'smpte432'],
    [9, 1, 'sdr', 'bt2020'],
  ] as const)
    assert.deepEqual(heifColorsOf(fileWith(numbers(primaries, transfer))), {
      wide: { curve, gamut, needsMatrix: false },
    });
  for (const [primaries, transfer] of [
    [1, 13],
    [2, 2],
    [11, 17],
  ] as const)
    assert.deepEqual(heifColorsOf(fileWith(numbers(primaries, transfer))), { wide: undefined });
  for (const kind of ['prof', 'rICC'])
    assert.deepEqual(heifColorsOf(fileWith(numbers(9, 16), profile(kind, 'first'), profile(kind, 'second'))), {
      profile: latin1('first'),
    });
  assert.deepEqual(heifColorsOf(fileWith(numbers(9, 18), numbers(9, 16))).wide?.curve, 'hlg');
});

test('a file that names no colors, or that is damaged, is taken for sRGB', () => {
  const whole = fileWith(numbers(9, 16));
  for (const bytes of [
    fileWith(),
    fileWith(profile('other', 'x')),
    fileWith(box('colr', latin1('nclx\0'))),
    box('ftyp', latin1('heic')),
    box('meta', Buffer.alloc(4), box('iinf')),
    whole.subarray(0, -1),
    Buffer.alloc(0),
  ])
    assert.deepEqual(heifColorsOf(bytes), {});
});

const wide = { curve: 'sdr', gamut: 'smpte432', needsMatrix: false } as const;

test('pixels are converted where they are, each color by its neighbors in the table, and transparency stays', async () => {
  for (const channels of [3, 4] as const) {
    const codes = [0, 85, 170, 255];
    const colors = codes.flatMap((red) => codes.flatMap((green) => codes.map((blue) => [red, green, blue] as const)));
    const data = Uint8Array.from(colors.flatMap((color, index) => (channels === 4 ? [...color, index] : [...color])));
    await convertToSrgb({ data, channels }, { wide });
    const expected = colors.flatMap(([red, green, blue], index) => {
      const color = toSdr(wide, [red / 255, green / 255, blue / 255]).map((value) => Math.round(value * 255));
      return channels === 4 ? [...color, index] : color;
    });
    assert.deepEqual([...data], expected);
  }
});

test('a gray stays the gray that it is, and a color between the points of the table is near its own', async () => {
  const grays = Array.from({ length: 256 }, (_, gray) => gray);
  const data = Uint8Array.from([...grays.flatMap((gray) => [gray, gray, gray]), 200, 120, 80, 60, 190, 130]);
  await convertToSrgb({ data, channels: 3 }, { wide });
  const isNear = (actual: number, expected: number) => Math.abs(actual - expected) <= 1;
  for (const gray of grays) assert.ok(data.subarray(3 * gray, 3 * gray + 3).every((value) => isNear(value, gray)));
  for (const [at, color] of [
    [3 * 256, [200, 120, 80]],
    [3 * 257, [60, 190, 130]],
  ] as const) {
    const exact = toSdr(wide, [color[0] / 255, color[1] / 255, color[2] / 255]).map((value) => value * 255);
    const found = [...data.subarray(at, at + 3)];
    assert.ok(
      found.every((value, index) => isNear(value, exact[index] ?? NaN)),
      `${found.join()} for ${exact.join()}`,
    );
  }
});

test('pixels with a profile have its colors, and without one they stay', async () => {
  const { icc } = await sharp(await plainImage(300, 300).withIccProfile('p3').png().toBuffer()).metadata();
  assert.ok(icc);
  const data = Uint8Array.from([200, 120, 80, 128, 128, 128]);
  await convertToSrgb({ data, channels: 3 }, {});
  assert.deepEqual([...data], [200, 120, 80, 128, 128, 128]);
  await convertToSrgb({ data, channels: 3 }, { profile: icc });
  // By the matrices of the two standards.
  for (const [index, expected] of [212, 115, 70, 128, 128, 128].entries())
    assert.ok(Math.abs((data[index] ?? 0) - expected) <= 4, [...data].join());
});
