import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelSummaryText, summarizeModel } from '../../../src/api/mcp/model-summary.ts';
import { modelInputDeclarationSchema } from '../../../src/catalogue/input/model-input-declaration-schema.ts';
import { defaultModels, type Model } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';

const [standard = assert.fail()] = defaultModels;
const model: Model = {
  ...standard,
  model: 'rich',
  title: 'Rich',
  description: 'Makes films.',
  providers: ['studio'],
  input: modelInputDeclarationSchema.parse({
    resolution: { values: ['720p', '1080p'] },
    duration: { min: 4, max: 15 },
    ratio: { values: ['16:9'] },
    generateAudio: { fixed: false },
    imageUrls: { max: 0 },
    firstFrameUrl: {},
    videoUrls: { max: 1 },
    options: { style: { type: 'string', values: ['natural', 'anime'] } },
    exclusive: [['videoUrls', 'firstFrameUrl']],
  }),
};
const rate = { creditsPerSecond: 41, creditsPerVideo: 0, fromTime: 0 };
const standardPrice = { name: 'standard', when: {}, rates: [rate] };

test('a model is described by its purpose, its prices in force and what it takes', () => {
  const prices: Parameters<typeof summarizeModel>[1] = [
    {
      name: '1080p',
      when: { resolution: '1080p', options: { style: 'anime' } },
      rates: [{ ...rate, creditsPerVideo: 5 }],
    },
    {
      name: 'framed',
      when: { firstFrameUrl: 'present', videoUrls: 'absent' },
      rates: [{ ...rate, creditsPerSecond: 0, creditsPerVideo: 7 }],
    },
    { name: 'later', when: {}, rates: [{ ...rate, fromTime: 1_001 }] },
    {
      name: 'rest',
      when: {},
      rates: [
        rate,
        { ...rate, creditsPerSecond: 50, fromTime: 1_000 },
        { ...rate, creditsPerSecond: 60, fromTime: 1_001 },
      ],
    },
  ];
  const summary = summarizeModel(model, [...prices, standardPrice], 1_000);
  const costs = [
    '41 credits per second and 5 credits per video with resolution 1080p and style anime',
    '7 credits per video with firstFrameUrl and no videoUrls',
    'later: nothing yet',
    '50 credits per second otherwise',
    '41 credits per second',
  ].join('; ');
  const takes = [
    'prompt: at most 5000 characters (required)',
    'resolution: 720p, 1080p, default 720p',
    'duration: 4 to 15, default 5',
    'ratio: 16:9, default 16:9',
    'generateAudio: always false, default false',
    'firstFrameUrl',
    'videoUrls: at most 1 item',
    'options.style: natural, anime',
    'at most one of videoUrls, firstFrameUrl',
  ];
  assert.deepEqual(summary, { model: 'rich', title: 'Rich', about: 'Makes films.', costs, takes });
  const text = `rich: Rich. Makes films.\n  Costs ${costs}.\n  Takes ${takes.join('; ')}.`;
  assert.equal(modelSummaryText(summary), text);
});

test('a model that only draws a preview says so, once, and a model without a description has its name alone', () => {
  const preview = 'It is not an AI model: it draws the prompt on a landscape, to try out the API.';
  for (const [description, providers, about] of [
    ['Makes films.', ['preview'], `Makes films. ${preview}`],
    [undefined, ['preview'], preview],
    ['This is not an AI model.', ['preview'], 'This is not an AI model.'],
    ['Makes films.', ['preview', 'studio'], 'Makes films.'],
    ['Makes films.', [], 'Makes films.'],
  ] as const)
    assert.equal(summarizeModel({ ...model, description, providers }, [standardPrice], 0).about, about);
  const named = summarizeModel({ ...model, description: undefined }, [standardPrice], 0);
  assert.match(modelSummaryText(named), /^rich: Rich\.\n {2}Costs 41 credits per second\.\n {2}Takes prompt/);
});
