import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  sdrColorTable,
  generateCubeFile,
  sdrFilters,
  sdrTags,
  convertColorToSdr,
  type WideColors,
  wideColorsOf,
} from '../../../src/media/ffmpeg/hdr.ts';

test('colors are converted by the tags that name a wider range or a wider gamut', () => {
  for (const [transfer, primaries, matrix, expected] of [
    ['pq', 'bt2020', 'bt2020-ncl', ['pq', 'bt2020', false]],
    ['hlg', 'bt2020', undefined, ['hlg', 'bt2020', true]],
    ['pq', undefined, undefined, ['pq', 'bt2020', true]],
    ['hlg', 'other', 'bt709', ['hlg', 'bt2020', false]],
    ['pq', 'bt709', 'bt709', ['pq', 'bt709', false]],
    ['bt709', 'smpte432', 'bt709', ['sdr', 'smpte432', false]],
    [undefined, 'bt2020', undefined, ['sdr', 'bt2020', true]],
    ['bt709', 'bt709', 'bt709', undefined],
    ['linear', 'other', undefined, undefined],
    [undefined, undefined, undefined, undefined],
  ] as const) {
    const [curve, gamut, needsMatrix] = expected ?? [];
    const wide = expected && { curve, gamut, needsMatrix };
    assert.deepEqual(wideColorsOf({ transfer, primaries, matrix }), wide, `${transfer} ${primaries}`);
  }
});

const gray = (curve: WideColors['curve'], value: number, gamut: WideColors['gamut'] = 'bt2020') =>
  convertColorToSdr({ curve, gamut, needsMatrix: false }, [value, value, value]);

function assertColor(actual: readonly number[], expected: readonly number[], what: string): void {
  const isNear = actual.length === 3 && actual.every((value, i) => Math.abs(value - (expected[i] ?? NaN)) < 2e-4);
  assert.ok(isNear, `${what}: ${actual.join()} is not ${expected.join()}`);
}

test('a gray has the luminance of its standard, of which 203 nits are white, and what is brighter keeps its order', () => {
  const displayed = (nits: number) => (nits / 203) ** (1 / 2.4);
  for (const gamut of ['bt2020', 'smpte432', 'bt709'] as const) {
    for (const [curve, code, nits] of [
      // By the tables of SMPTE ST 2084 and ITU-R BT.2100.
      ['pq', 0, 0],
      ['pq', 0.5, 92.2457],
      ['pq', 0.25, 5.1546],
      ['hlg', 0, 0],
      ['hlg', 0.5, 1000 * (1 / 12) ** 1.2],
      ['hlg', 0.25, 1000 * (0.25 ** 2 / 3) ** 1.2],
    ] as const) {
      const value = displayed(nits);
      assertColor(gray(curve, code, gamut), [value, value, value], `${curve} ${code} ${gamut}`);
    }
  }
  // A white page.
  for (const [curve, code] of [
    ['pq', 0.580_689],
    ['hlg', 0.75],
  ] as const)
    assert.deepEqual(
      gray(curve, code).map((value) => Math.round(value * 255)),
      [252, 252, 252],
    );
  const brighter = [0.581, 0.62, 0.66, 0.7, 0.74, 0.7518].map((code) => gray('pq', code)[0]);
  assert.deepEqual(
    brighter,
    [...new Set(brighter)].toSorted((a, b) => a - b),
  );
  assert.ok((brighter.at(-2) ?? 1) < 1);
  for (const code of [0.7519, 0.9, 1]) assertColor(gray('pq', code), [1, 1, 1], `pq ${code}`);
  assertColor(gray('hlg', 1), [1, 1, 1], 'hlg 1');
});

test('a color of a wider gamut is the same color in BT.709, as far as it has it', () => {
  const sdr = (gamut: WideColors['gamut'], ...color: readonly [number, number, number]) =>
    convertColorToSdr({ curve: 'sdr', gamut, needsMatrix: false }, color);
  const eight = (color: readonly number[]) => color.map((value) => Math.round(value * 255));
  assert.deepEqual(eight(sdr('smpte432', 200 / 255, 120 / 255, 80 / 255)), [213, 115, 69]);
  assertColor(sdr('bt709', 0.9, 0.5, 0.1), [0.9, 0.5, 0.1], 'BT.709');
  for (const gamut of ['bt2020', 'smpte432'] as const) {
    assertColor(sdr(gamut, 1, 0, 0), [1, 0, 0], 'red');
    assertColor(sdr(gamut, 0, 1, 0), [0, 1, 0], 'green');
    assertColor(sdr(gamut, 0, 0, 1), [0, 0, 1], 'blue');
  }
});

test('a table has its colors with red changing fastest', () => {
  const same: WideColors = { curve: 'sdr', gamut: 'bt709', needsMatrix: false };
  const corners = [0, 1].flatMap((blue) => [0, 1].flatMap((green) => [0, 1].flatMap((red) => [red, green, blue])));
  assert.deepEqual([...sdrColorTable(same, 2)], corners);
  assert.deepEqual(
    [...sdrColorTable(same, 3)].slice(0, 9).map((value) => Math.round(value * 1000)),
    [0, 0, 0, 500, 0, 0, 1000, 0, 0],
  );
  const [head, ...lines] = [...generateCubeFile(same)].join('').trimEnd().split('\n');
  assert.deepEqual([head, lines.length, lines[0]], ['LUT_3D_SIZE 64', 64 ** 3, '0.00000 0.00000 0.00000']);
  assert.deepEqual(
    [lines[63], lines[64 * 63], lines[64 * 64 * 63], lines.at(-1)],
    ['1.00000 0.00000 0.00000', '0.00000 1.00000 0.00000', '0.00000 0.00000 1.00000', '1.00000 1.00000 1.00000'],
  );
});

test('the filters convert by the table, and the file says that it is BT.709', () => {
  for (const [needsMatrix, matrix] of [
    [true, 'bt2020'],
    [false, 'auto'],
  ] as const)
    assert.deepEqual(sdrFilters({ curve: 'pq', gamut: 'bt2020', needsMatrix }, 'a.cube'), [
      `scale=in_color_matrix=${matrix}`,
      'format=gbrp10le',
      'lut3d=file=a.cube:interp=tetrahedral',
      'scale=out_color_matrix=bt709:out_range=tv',
      'format=yuv420p',
      'sidedata=mode=delete',
      'setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709',
    ]);
  const tags = ['-color_primaries', 'bt709', '-color_trc', 'bt709', '-colorspace', 'bt709', '-color_range', 'tv'];
  assert.deepEqual(sdrTags, tags);
});
