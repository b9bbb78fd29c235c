import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { ruleErrors } from '../../../src/catalogue/models/input-rules.ts';
import { ConfigError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';

// What files of the kind `http` say about the inputs that their vendors refuse.

const model = { model: 'm', title: 'M', prices: [{ creditsPerSecond: 7 }] };

/** Reads a catalogue, beside which a file of the kind stands as ./p.yaml. */
function read(catalogue: object, file = '') {
  const readText = (path: string) => (path.endsWith('p.yaml') ? file : JSON.stringify(catalogue));
  return readCatalogueOrThrow({ path: '/etc/videogen/catalogue', readText });
}

test('what a vendor is known to refuse is refused before it is charged, without a word of it in the catalogue', () => {
  const refusedAt = (file: string, upstreamModel: string, input: Parameters<typeof withDefaults>[0]) => {
    const providers = { p: { kind: 'http', baseUrl: 'https://x.example', file: `builtin:${file}` } };
    const { models } = read({ providers, models: [{ ...model, tiers: [[{ provider: 'p', model: upstreamModel }]] }] });
    const sold = models.get('m');
    const [rules] = sold?.tiers.flat() ?? [];
    assert.ok(sold && rules);
    // A model whose provider makes silent videos is sold without sound.
    const { fixed = true } = sold.input.fields.generateAudio;
    return ruleErrors(rules.rules, 'm', withDefaults({ generateAudio: fixed, ...input })).map(({ path }) => path);
  };
  const [image, prompt] = ['https://x.example/1.jpg', 'a fox'];
  const [one, two] = [[image], [image, image]];
  const cases: readonly (readonly [...Parameters<typeof refusedAt>, readonly string[]])[] = [
    // It only animates an image.
    ['runway', 'gen4_turbo', { prompt, duration: 5 }, ['input.imageUrls']],
    ['runway', 'gen4_turbo', { prompt, duration: 5, imageUrls: one }, []],
    ['runway', 'gen4_turbo', { prompt, duration: 11, imageUrls: two }, ['input.duration', 'input.imageUrls']],
    ['runway', 'gen4.5', { prompt, duration: 10 }, []],
    ['runway', 'gen4.5', { prompt: 'x'.repeat(1001), ratio: '21:9' }, ['input.prompt', 'input.ratio']],
    ['runway', 'veo3.1_fast', { prompt, duration: 5, ratio: 'adaptive' }, ['input.duration', 'input.ratio']],
    ['runway', 'seedance2', { prompt: 'x'.repeat(1001), duration: 15, ratio: '21:9' }, []],
    // An image is its first frame, without which it takes no last one.
    ['runway', 'seedance2', { prompt, imageUrls: one, firstFrameUrl: image }, ['input.firstFrameUrl']],
    ['runway', 'seedance2', { prompt, lastFrameUrl: image }, ['input.lastFrameUrl']],
    ['runway', 'seedance2', { prompt, firstFrameUrl: image, lastFrameUrl: image }, []],
    ['kling', 'kling-v2-6', { prompt, duration: 5 }, []],
    ['kling', 'kling-v2-6', { prompt, duration: 5, lastFrameUrl: image }, ['input.lastFrameUrl']],
    ['vidu', 'viduq3-pro', { prompt, lastFrameUrl: image }, ['input.lastFrameUrl']],
    ['pixverse', 'v6', { prompt, lastFrameUrl: image }, ['input.lastFrameUrl']],
    ...(
      [
        ['kling', 'kling-v2-6'],
        ['luma', 'ray-3.2'],
        ['minimax', 'MiniMax-Hailuo-02'],
        ['pixverse', 'v6'],
        ['vidu', 'viduq3-pro'],
        ['xai', 'grok-imagine-video'],
        ['openrouter', 'google/veo-3.1'],
      ] as const
    ).map(
      ([file, name]) =>
        [file, name, { prompt, duration: 10, imageUrls: one, firstFrameUrl: image }, ['input.firstFrameUrl']] as const,
    ),
    ['kling', 'kling-v2-6', { prompt, duration: 6, ratio: '4:3' }, ['input.duration', 'input.ratio']],
    ['kling', 'kling-v3', { prompt: 'x'.repeat(2501), duration: 15 }, ['input.prompt']],
    ['kling', 'kling-v3', { prompt, imageUrls: two }, ['input.imageUrls']],
    ['minimax', 'MiniMax-Hailuo-2.3', { prompt, duration: 6, imageUrls: one }, []],
    ['minimax', 'MiniMax-Hailuo-2.3', { prompt, duration: 5, ratio: '9:16' }, ['input.duration', 'input.ratio']],
    ['fal-seedance', 'bytedance/seedance-2.0', { prompt, duration: 15, ratio: '21:9', imageUrls: two }, []],
    [
      'fal-seedance',
      'bytedance/seedance-2.0',
      { prompt, firstFrameUrl: image, audioUrls: one },
      ['input.firstFrameUrl'],
    ],
    ['fal-seedance', 'bytedance/seedance-2.0', { prompt, lastFrameUrl: image }, ['input.lastFrameUrl']],
    ['fal-seedance', 'bytedance/seedance-2.0', { prompt, firstFrameUrl: image, lastFrameUrl: image }, []],
    ['luma', 'ray-3.2', { prompt, duration: 6, imageUrls: two }, ['input.duration', 'input.imageUrls']],
    ['veo', 'veo-3.1-generate-preview', { prompt, duration: 8, ratio: '1:1' }, ['input.ratio']],
    ['veo', 'veo-3.1-generate-preview', { prompt, duration: 5, imageUrls: two }, ['input.duration']],
    ['pixverse', 'v5', { prompt, duration: 6, ratio: '21:9' }, ['input.duration', 'input.ratio']],
    ['pixverse', 'v6', { prompt, duration: 15, ratio: '21:9', imageUrls: one }, []],
    ['vidu', 'viduq2-pro', { prompt, duration: 11 }, ['input.duration']],
    ['wan', 'wan2.7', { prompt, duration: 15, ratio: '21:9' }, ['input.ratio']],
  ];
  for (const [file, upstreamModel, input, refused] of cases)
    assert.deepEqual(refusedAt(file, upstreamModel, input), refused, `${upstreamModel} ${JSON.stringify(input)}`);
});

test('the rules of a file of the kind http are checked as those of the catalogue are, and its entries narrow them', () => {
  const file = readFileSync('assets/providers/runway.yaml', 'utf8');
  const providers = { p: { kind: 'http', baseUrl: 'https://x.example', file: './p.yaml' } };
  const entry = { provider: 'p', model: 'gen4_turbo', rules: { durations: { min: 8 } } };
  const catalogue = { providers, models: [{ ...model, tiers: [[entry]] }] };
  assert.deepEqual(read(catalogue, file).models.get('m')?.tiers[0]?.[0]?.rules.durations, [8, 9, 10]);
  const typo = file.replace('images: { max: 1 }', 'imags: { max: 1 }');
  assert.throws(
    () => read(catalogue, typo),
    (error) =>
      error instanceof ConfigError &&
      /rules\[0\]\.imags: unknown field, did you mean images\?/.test(error.problems.join()),
  );
});

test('sound is not sold for the models of Kling that have none', () => {
  const input = {
    resolution: { values: ['720p'] },
    duration: { values: [5] },
    ratio: { values: ['16:9'] },
    generateAudio: { default: true },
  };
  const providers = { p: { kind: 'http', baseUrl: 'https://x.example', file: 'builtin:kling' } };
  const sold = (name: string) =>
    read({ providers, models: [{ ...model, input, tiers: [[{ provider: 'p', model: name }]] }] });
  for (const name of ['kling-v1-6', 'kling-v2-master', 'kling-v2-1-master', 'kling-v2-5-turbo'])
    assert.throws(() => sold(name), /input\.generateAudio: generateAudio is passed on by no provider/, name);
  for (const name of ['kling-v2-6', 'kling-v3']) assert.ok(sold(name).models.has('m'), name);
});
