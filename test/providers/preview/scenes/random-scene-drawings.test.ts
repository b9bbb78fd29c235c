import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { withDefaults } from '../../../../src/catalogue/input/task-input.ts';
import { layersFilterGraph } from '../../../../src/providers/preview/layers-filter-graph.ts';
import { between, choose, createRandom, filmSeed } from '../../../../src/providers/preview/film-random.ts';
import { layerTimeOfShot } from '../../../../src/providers/preview/photograph-layers.ts';
import { encoderArguments } from '../../../../src/providers/preview/render-film.ts';
import { choosePalette, svgGradient, colorOnScale } from '../../../../src/providers/preview/scenes/drawing.ts';
import { randomSceneDrawings } from '../../../../src/providers/preview/scenes/random-scene-drawings.ts';

// A request gives the same film in every release, so what is drawn for it is fixed here.

function drawnFor(seed: string) {
  const random = createRandom(seed, 'scenery');
  const palette = choosePalette(random);
  return randomSceneDrawings({ frame: { widthPx: 1280, heightPx: 720 }, filmFrames: 96, random, palette });
}

test('a seed draws the same scene in every release: hills that pass by, or waves that rise and fall', () => {
  const seen = ['a', 'b', 'c', 'd', 'e', 'f'].map((seed) => {
    const drawings = drawnFor(seed);
    // Two digits are enough to see a change, and few enough for every version of the engine.
    const rounded = JSON.stringify(drawings).replaceAll(/\d+\.\d+/g, (digits) => Number(digits).toFixed(2));
    const [, , nearest] = drawings;
    return `${drawings.length} ${nearest?.x} ${hash('sha256', rounded).slice(0, 16)}`;
  });
  assert.deepEqual(seen, [
    '6 1*n-96 1468901e81f93c14',
    '8 -1*n 6ec4d4ef2a7ae647',
    '6 1*n-96 8dc543fecfc751ee',
    '8 -1*n 0f316bcf653ba635',
    '8 -1*n 3a347823746b2fa3',
    '6 -1*n 3de697059f6a54a9',
  ]);
});

test('a sequence of numbers is fixed by its seed and its purpose, and its choices lie within their bounds', () => {
  const numbers = (seed: string, purpose: string) => {
    const random = createRandom(seed, purpose);
    return Array.from({ length: 4 }, () => Math.floor(random() * 1e6));
  };
  assert.deepEqual(
    [numbers('a', 'scenery'), numbers('a', 'sound'), numbers('b', 'scenery')],
    [
      [950_007, 259_721, 302_296, 489_787],
      [499_490, 463_593, 921_924, 600_301],
      [647_808, 847_134, 678_030, 678_755],
    ],
  );
  assert.deepEqual(
    [0, 0.5, 0.75].map((value) => between(() => value, 10, 20)),
    [10, 15, 17.5],
  );
  assert.deepEqual(
    [0, 0.4, 0.999].map((value) => choose(() => value, ['x', 'y', 'z'])),
    ['x', 'y', 'z'],
  );
});

test('the seed of a film is that of its model and its fields, in the order of the vocabulary', () => {
  const input = withDefaults({ prompt: 'a boat', seed: 7 });
  const { prompt, ...others } = input;
  assert.equal(filmSeed('m', { ...others, prompt }), filmSeed('m', input));
  for (const other of [
    filmSeed('n', input),
    filmSeed('m', { ...input, seed: 8 }),
    filmSeed('m', { ...input, prompt: 'x' }),
  ])
    assert.notEqual(other, filmSeed('m', input));
});

test('colors are mixed along a scale, and a gradient has its stops', () => {
  assert.deepEqual(
    [-1, 0, 0.25, 0.5, 0.75].map((at) => colorOnScale(at, '#000000', '#ff8000', '#ffffff')),
    ['#000000', '#000000', '#804000', '#ff8000', '#ffc080'],
  );
  assert.match(colorOnScale(2, '#000000', '#ffffff'), /^#f[ef]f[ef]f[ef]$/);
  assert.equal(
    svgGradient('linear', 'g', '0 #000000', '1 #ffffff 0.5'),
    '<linearGradient id="g" x2="0" y2="1"><stop offset="0" stop-color="#000000" stop-opacity="1"/>' +
      '<stop offset="1" stop-color="#ffffff" stop-opacity="0.5"/></linearGradient>',
  );
});

test('shots divide a film, and each lasts until the next has covered it', () => {
  const times = [0, 1, 2].map((shot) => layerTimeOfShot(shot, 3, 120));
  assert.deepEqual(times, [
    { fromFrame: 0, frames: 52, fadeInFrames: 0, fadeOutFrames: 0 },
    { fromFrame: 40, frames: 52, fadeInFrames: 12, fadeOutFrames: 0 },
    { fromFrame: 80, frames: 40, fadeInFrames: 12, fadeOutFrames: 0 },
  ]);
  assert.deepEqual(layerTimeOfShot(1, 4, 24), { fromFrame: 6, frames: 8, fadeInFrames: 2, fadeOutFrames: 0 });
  assert.deepEqual(layerTimeOfShot(0, 1, 96), { fromFrame: 0, frames: 96, fadeInFrames: 0, fadeOutFrames: 0 });
});

test('layers are laid one over the other, those with a time only then, and the film has its length', () => {
  const still = { widthPx: 2, heightPx: 2, rgba: Buffer.alloc(16) };
  const time = { fromFrame: 7, frames: 50, fadeInFrames: 11, fadeOutFrames: 8 };
  const graph = layersFilterGraph(
    [
      { ...still, x: '0', y: '0' },
      { ...still, x: 'n', y: '1' },
      { ...still, x: '2', y: '3', time },
      { ...still, x: '4', y: '5', time: { ...time, fadeInFrames: 0, fadeOutFrames: 0 } },
    ],
    96,
  );
  const colors = 'scale=out_color_matrix=bt709:out_range=tv';
  const over = (at: number, x: string, y: string, end: string) =>
    `[laid${at - 1}][layer${at}]overlay=x='${x}':y='${y}':format=yuv444:eof_action=${end}[laid${at}]`;
  assert.deepEqual(graph.split(';'), [
    `[0:v]${colors},format=yuv444p,loop=loop=95:size=1:start=0,setpts=N[laid0]`,
    `[1:v]${colors},format=yuva444p[layer1]`,
    over(1, 'n', '1', 'repeat'),
    `[2:v]${colors},format=yuva444p,loop=loop=49:size=1:start=0,setpts=N,fade=t=in:s=0:n=11:alpha=1` +
      ',fade=t=out:s=42:n=8:alpha=1,setpts=N+7[layer2]',
    over(2, '2', '3', 'pass'),
    `[3:v]${colors},format=yuva444p,loop=loop=49:size=1:start=0,setpts=N,setpts=N+7[layer3]`,
    over(3, '4', '5', 'pass'),
    '[laid3]format=yuv420p,setsar=1,trim=end_frame=96[film]',
  ]);
});

test('a film is H.264 with 24 frames a second and AAC if it has sound, without a trace of the machine', () => {
  const picture = [
    '-map',
    '[film]',
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-crf',
    '20',
    '-profile:v',
    'high',
    '-pix_fmt',
    'yuv420p',
    '-r',
    '24',
    '-g',
    '48',
    '-threads',
    '3',
    '-flags:v',
    '+bitexact',
    '-colorspace',
    'bt709',
    '-color_primaries',
    'bt709',
    '-color_trc',
    'bt709',
    '-color_range',
    'tv',
  ];
  const sound = ['-map', '9:a', '-c:a', 'aac', '-b:a', '160k', '-ar', '48000', '-ac', '2', '-flags:a', '+bitexact'];
  const container = ['-f', 'mp4', '-movflags', '+faststart', '-map_metadata', '-1', '-fflags', '+bitexact'];
  assert.deepEqual(encoderArguments(true, 9), [...picture, ...sound, ...container]);
  assert.deepEqual(encoderArguments(false, 9), [...picture, '-an', ...container]);
});
