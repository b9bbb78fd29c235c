import assert from 'node:assert/strict';
import { test } from 'node:test';
import { input, last, resolve, silentInput, type Table } from '../file/price-table.ts';

const always = 'which applies to every other input';

const high = { when: { resolution: '1080p' }, creditsPerSecond: 20 };
const low = { when: { resolution: '480p' }, creditsPerSecond: 5 };
const first = 'can never apply, because prices[0] always applies first';

const invalid: readonly (readonly [title: string, prices: Table, problems: readonly string[], of?: object])[] = [
  ['no price for other inputs', [high], [`prices: must end with a price without when, ${always}`]],
  [
    'a price behind the last one',
    [last, high],
    [`prices[1]: must come before the price without when, which applies to every input`],
  ],
  [
    'no last price in force',
    [high, { ...last, from: '2999-01-01T00:00:00Z' }],
    ['prices: must have a price without when in force'],
  ],
  [
    'two amounts from the same instant',
    [high, { ...high, creditsPerSecond: 21 }, last],
    ['prices[1]: begins at the same instant as prices[0], which has the same when'],
  ],
  [
    'the same conditions in another spelling',
    [
      { when: { options: { tier: 'pro', fast: true } }, creditsPerSecond: 1 },
      { when: { options: { fast: true, tier: 'pro' } }, creditsPerSecond: 2 },
      last,
    ],
    ['prices[1]: begins at the same instant as prices[0], which has the same when'],
  ],
  [
    'nothing to pay',
    [{ creditsPerSecond: 0 }],
    ['prices[0]: must have creditsPerSecond or creditsPerVideo of at least 1'],
  ],
  ['part of a credit', [{ creditsPerVideo: 1.5 }], ['prices[0].creditsPerVideo: must be a whole number']],
  ['too much', [{ creditsPerVideo: 1_000_001 }], ['prices[0].creditsPerVideo: must be at most 1000000']],
  [
    'a time before 1970',
    [{ ...last, from: '1969-12-31T23:59:59Z' }],
    ['prices[0].from: must be an instant, such as 2027-01-01T00:00:00Z'],
  ],
  [
    'two names of one price',
    [{ ...high, name: 'a' }, { ...high, name: 'b', from: '2027-01-01T00:00:00Z' }, last],
    ['prices[1].name: must be that of prices[0], which has the same when'],
  ],
  [
    'one name of two prices',
    [{ ...high, name: 'standard' }, last],
    ['prices[1]: has the name of prices[0], which has another when; add a name of its own'],
  ],
  [
    'a name on two lines',
    [{ ...last, name: 'a\nb' }],
    ['prices[0].name: must be 1 to 100 characters on one line, without white space at its ends'],
  ],
  [
    'a name with white space at its ends',
    [
      { ...high, name: ' a' },
      { ...last, name: 'b ' },
    ],
    [0, 1].map(
      (row) => `prices[${row}].name: must be 1 to 100 characters on one line, without white space at its ends`,
    ),
  ],
  [
    'several problems of one kind, each of which is reported',
    [
      high,
      high,
      high,
      low,
      low,
      last,
      { ...high, when: { generateAudio: true } },
      { ...high, when: { imageUrls: 'absent' } },
    ],
    [
      ...[1, 2].map((row) => `prices[${row}]: begins at the same instant as prices[0], which has the same when`),
      'prices[4]: begins at the same instant as prices[3], which has the same when',
      ...[6, 7].map((row) => `prices[${row}]: must come before the price without when, which applies to every input`),
    ],
  ],
  [
    'one name of three prices',
    [
      { ...high, name: 'x' },
      { ...low, name: 'x' },
      { ...last, name: 'x' },
    ],
    [1, 2].map((row) => `prices[${row}]: has the name of prices[0], which has another when; add a name of its own`),
  ],
  [
    'conditions that are too long for a name',
    [{ when: { options: { note: 'x'.repeat(100) } }, creditsPerSecond: 1 }, last],
    ['prices[0]: needs a name, because its conditions are too long for one'],
  ],
  [
    'a resolution that is not sold',
    [{ when: { resolution: '2160p' }, creditsPerSecond: 1 }, last],
    ['prices[0].when.resolution: must be sold by this model, which has 480p, 720p, 1080p'],
  ],
  [
    'an unknown condition',
    [{ when: { resolutions: '720p' }, creditsPerSecond: 1 }, last],
    ['prices[0].when.resolutions: unknown field, did you mean resolution?'],
  ],
  [
    'sound of a silent model',
    [{ when: { generateAudio: true }, creditsPerSecond: 1 }, last],
    ['prices[0].when.generateAudio: must be false, which the input of this model fixes'],
    silentInput,
  ],
  [
    'media that the model does not take',
    [
      { when: { videoUrls: 'present' }, creditsPerSecond: 1 },
      { when: { imageUrls: 'absent' }, creditsPerSecond: 1 },
      last,
    ],
    [
      'prices[0].when.videoUrls: must be a field of this model, which does not take it',
      'prices[1].when.imageUrls: must be a field of this model, which does not take it',
    ],
    silentInput,
  ],
  [
    'options that the model does not have, or not with this value',
    [
      { when: { options: { stepps: 'pro' } }, creditsPerSecond: 1 },
      { when: { options: { tier: 'max' } }, creditsPerSecond: 1 },
      { when: { options: { steps: 51 } }, creditsPerSecond: 1 },
      last,
    ],
    [
      'prices[0].when.options.stepps: unknown option of this model, did you mean steps?',
      'prices[1].when.options.tier: must be one of std, pro',
      'prices[2].when.options.steps: must be a whole number from 1 to 50',
    ],
  ],
  [
    'fewer conditions before more',
    [high, { when: { resolution: '1080p', generateAudio: false }, creditsPerSecond: 15 }, last],
    [`prices[1]: ${first}`],
  ],
  [
    'a rate that begins behind a price that covers it',
    [
      { ...high, from: '2027-01-01T00:00:00Z' },
      { when: { resolution: '1080p', generateAudio: false }, creditsPerSecond: 15 },
      { when: { resolution: '1080p', generateAudio: false }, creditsPerSecond: 16, from: '2028-01-01T00:00:00Z' },
      last,
    ],
    [`prices[2]: ${first}`],
  ],
  [
    'a price behind one that covers it since its earliest row, which is not the first',
    [
      { ...high, from: '2027-01-01T00:00:00Z' },
      { ...high, creditsPerSecond: 19 },
      { when: { resolution: '1080p', generateAudio: false }, creditsPerSecond: 15 },
      last,
    ],
    [`prices[2]: ${first}`],
  ],
  [
    'several prices that cover everything together',
    [
      { when: { generateAudio: true }, creditsPerSecond: 1 },
      { when: { generateAudio: false }, creditsPerSecond: 2 },
      last,
    ],
    ['prices[2]: can never apply, because earlier prices cover every input; leave out the when of the last of them'],
  ],
  [
    'several prices that cover another one together',
    [
      { when: { options: { tier: 'pro' } }, creditsPerSecond: 1 },
      { when: { options: { tier: 'std' }, resolution: '1080p' }, creditsPerSecond: 1 },
      high,
      last,
    ],
    ['prices[2]: can never apply, because earlier prices cover every input that meets its when'],
  ],
  [
    'fields that exclude or require each other',
    [
      { when: { imageUrls: 'present', firstFrameUrl: 'present' }, creditsPerSecond: 1 },
      { when: { firstFrameUrl: 'absent', lastFrameUrl: 'present' }, creditsPerSecond: 1 },
      last,
    ],
    [
      'prices[0]: can never apply, because this model takes no input that meets its when',
      'prices[1]: can never apply, because this model takes no input that meets its when',
    ],
  ],
  [
    'a field that is never absent',
    [{ when: { imageUrls: 'absent' }, creditsPerSecond: 1 }, last],
    ['prices[0]: can never apply, because this model takes no input that meets its when'],
    { ...input, imageUrls: { min: 1, max: 2 }, exclusive: [] },
  ],
  [
    'a frame that is never absent',
    [{ when: { firstFrameUrl: 'absent' }, creditsPerSecond: 1 }, last],
    ['prices[0]: can never apply, because this model takes no input that meets its when'],
    { ...input, firstFrameUrl: { required: true }, lastFrameUrl: {}, exclusive: [] },
  ],
];

for (const [title, prices, problems, of] of invalid) {
  test(`a table is refused for ${title}`, () => {
    assert.deepEqual(resolve(prices, of).problems, problems);
  });
}

const valid: readonly (readonly [title: string, prices: Table, of?: object])[] = [
  [
    'a price that is covered only later',
    [
      { ...high, from: '2999-01-01T00:00:00Z' },
      { ...high, name: 'x', when: { ...high.when, generateAudio: true } },
      last,
    ],
  ],
  [
    'values of an option besides those with a price',
    [
      { when: { options: { steps: 10 } }, creditsPerSecond: 1 },
      { when: { options: { steps: 20 } }, creditsPerSecond: 1 },
      last,
    ],
  ],
  [
    'an option that may be left out',
    [
      { when: { options: { fast: true } }, creditsPerSecond: 1 },
      { when: { options: { fast: false } }, creditsPerSecond: 1 },
      last,
    ],
  ],
  [
    'values of an option with a default besides those with a price',
    [
      { when: { options: { steps: 10 } }, creditsPerSecond: 1 },
      { when: { options: { steps: 20 } }, creditsPerSecond: 1 },
      last,
    ],
    { ...input, options: { steps: { type: 'integer', min: 1, max: 50, default: 10 } } },
  ],
  ['a field that requires another one of media', [{ when: { lastFrameUrl: 'present' }, creditsPerSecond: 1 }, last]],
  [
    'a field that takes a single image',
    [{ when: { imageUrls: 'present' }, creditsPerSecond: 1 }, last],
    { ...input, imageUrls: { max: 1 }, exclusive: [] },
  ],
  [
    'conditions that always hold',
    [{ when: { generateAudio: false, resolution: '480p' }, creditsPerSecond: 1 }, last],
    silentInput,
  ],
  [
    'a field that requires one which no price depends on',
    [{ when: { firstFrameUrl: 'present' }, creditsPerSecond: 1 }, last],
    { ...input, seed: {}, firstFrameUrl: { requires: 'seed' }, lastFrameUrl: undefined },
  ],
  ['empty conditions', [{ ...last, when: {} }]],
  ['the highest amounts', [{ creditsPerSecond: 1_000_000, creditsPerVideo: 1_000_000 }]],
];

for (const [title, prices, of] of valid) {
  test(`a table may have ${title}`, () => {
    assert.deepEqual(resolve(prices, of).problems, []);
  });
}

test('a table that distinguishes too many inputs is compared row by row', () => {
  const names = Array.from({ length: 13 }, (_, index) => `option${index}`);
  const options = Object.fromEntries(names.map((name) => [name, { type: 'boolean' }]));
  const of = { ...input, options };
  const rows = names.map((name) => ({ when: { options: { [name]: true } }, creditsPerSecond: 1 }));
  assert.deepEqual(resolve([...rows, last], of).problems, []);
  const covered = { when: { options: { option0: true }, resolution: '1080p' }, creditsPerSecond: 1 };
  assert.deepEqual(resolve([...rows, covered, last], of).problems, [`prices[13]: ${first}`]);
});
