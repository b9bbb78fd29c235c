import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convertColorToSdr } from '../../../src/media/ffmpeg/hdr.ts';
import { convertToSrgb, heifColorsOf } from '../../../src/media/pictures/heif-colors-to-srgb.ts';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';
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

const isNear = (actual: number, expected: number) => Math.abs(actual - expected) <= 1;

test('colors are converted where they are, each by its neighbors in the table, and a gray stays as it is', async () => {
  const codes = [0, 85, 170, 255];
  const colors = codes.flatMap((red) => codes.flatMap((green) => codes.map((blue) => [red, green, blue] as const)));
  const grays = Array.from({ length: 256 }, (_, gray) => [gray, gray, gray] as const);
  const between = [
    [200, 120, 80],
    [60, 190, 130],
  ] as const;
  const data = Uint8Array.from([...colors, ...grays, ...between].flat());
  await convertToSrgb({ data, channels: 3 }, { wide });
  const found = Array.from({ length: data.length / 3 }, (_, index) => [...data.subarray(3 * index, 3 * index + 3)]);
  const sdr = ([red, green, blue]: readonly [number, number, number]) =>
    convertColorToSdr(wide, [red / 255, green / 255, blue / 255]).map((value) => value * 255);
  // The table has these colors themselves.
  assert.deepEqual(
    found.slice(0, 64),
    colors.map((color) => sdr(color).map(Math.round)),
  );
  for (const [index, expected] of [...grays, ...between.map(sdr)].entries()) {
    const color = found[64 + index] ?? [];
    assert.ok(
      color.every((value, channel) => isNear(value, expected[channel] ?? NaN)),
      `${color.join()} for ${expected.join()}`,
    );
  }
});

test('transparency stays', async () => {
  const data = Uint8Array.from([255, 170, 85, 7, 0, 85, 255, 9]);
  const opaque = Uint8Array.from([255, 170, 85, 0, 85, 255]);
  await convertToSrgb({ data, channels: 4 }, { wide });
  await convertToSrgb({ data: opaque, channels: 3 }, { wide });
  const [red, green, blue, otherRed, otherGreen, otherBlue] = opaque;
  assert.deepEqual([...data], [red, green, blue, 7, otherRed, otherGreen, otherBlue, 9]);
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
