import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  notAmongMessage,
  notBooleanMessage,
  notListMessage,
  notNumberMessage,
  notSeedMessage,
  ratioFromSpelling,
  resolutionFromSpelling,
  type SpellingResolver,
  unknownModelMessage,
} from '../../../src/catalogue/input/spelling-suggestions.ts';

const spellings: readonly (readonly [
  spelling: SpellingResolver,
  meanings: Readonly<Record<string, readonly string[]>>,
])[] = [
  [
    resolutionFromSpelling,
    {
      '480p': ['sd', '480', '854:480'],
      '720p': ['hd', '720', '1280:720', '720:1280'],
      '1080p': ['fhd', 'fullhd', '1080', '1920:1080'],
      '1440p': ['qhd', '2k', '2560:1440'],
      '2160p': ['uhd', '4k', '3840:2160'],
    },
  ],
  [
    ratioFromSpelling,
    {
      adaptive: ['auto', 'automatic', 'original', 'keep', 'keepratio'],
      '16:9': ['landscape', 'horizontal', 'wide', 'widescreen', '1280:720', '16:9'],
      '9:16': ['portrait', 'vertical', '720:1280'],
      '1:1': ['square', '960:960'],
      '21:9': ['ultrawide'],
      '7:3': ['21:9'],
    },
  ],
];

for (const [spelling, meanings] of spellings) {
  for (const [meant, spelled] of Object.entries(meanings)) {
    test(`${spelled.join(', ')} stand for ${meant}`, () => {
      assert.deepEqual(
        spelled.map(spelling),
        spelled.map(() => meant),
      );
    });
  }
}

test('a word for true or false is named only where that value is allowed', () => {
  const said = (input: unknown, must?: string) => notBooleanMessage(must)({ input });
  for (const [meant, words] of [
    ['true', ['true', 'Yes', 'ON', '1', 1]],
    ['false', [' False ', 'no', 'off', '0', 0]],
  ] as const)
    for (const word of words) assert.equal(said(word), `must be true or false; did you mean ${meant}?`);
  assert.equal(said('no', 'must be false'), 'must be false; did you mean false?');
  assert.equal(said('yes', 'must be false'), 'must be false');
  assert.equal(said('maybe'), 'must be true or false');
});

test('other words and numbers stand for nothing', () => {
  for (const text of ['', 'large', '12', '12345', '72:12', '720:72', '72:720', '12345:720', '720:12345', '1280:720p'])
    assert.equal(resolutionFromSpelling(text), undefined);
  for (const text of ['', 'round', '16', '12345:1', '1:12345', ':1', '1:'])
    assert.equal(ratioFromSpelling(text), undefined);
});

test('a value is suggested only if it is allowed, and a number only if it has the same digits', () => {
  const said = notAmongMessage(['720p', '1080p'], resolutionFromSpelling);
  const ratio = notAmongMessage(['16:9', 'adaptive'], ratioFromSpelling);
  const must = 'must be one of 720p, 1080p';
  for (const [message, input, expected] of [
    [said, undefined, 'is required'],
    [said, '720P', `${must}; did you mean 720p?`],
    [said, ' 720_p ', `${must}; did you mean 720p?`],
    [said, 1080, `${must}; did you mean 1080p?`],
    [said, '4k', must],
    [said, '721p', must],
    [said, ['720p'], must],
    [said, `${' '.repeat(96)}720p`, `${must}; did you mean 720p?`],
    [said, `${' '.repeat(97)}720p`, must],
    [ratio, '16x9', 'must be one of 16:9, adaptive; did you mean 16:9?'],
    ...['16*9', '16/9', '16-9', '16X9'].map(
      (other) => [ratio, other, 'must be one of 16:9, adaptive; did you mean 16:9?'] as const,
    ),
    [ratio, '16 × 9', 'must be one of 16:9, adaptive; did you mean 16:9?'],
    [ratio, 'adaptiv', 'must be one of 16:9, adaptive; did you mean adaptive?'],
    [notAmongMessage(['720p']), '720P', 'must be 720p'],
    [notAmongMessage([5, 10]), '5', 'must be one of 5, 10; did you mean 5?'],
  ] as const)
    assert.equal(message({ input }), expected);
});

test('a model is suggested by its name in any case, or by the nearest one', () => {
  const names = ['wan-2.2', 'videogen-2.0'];
  const must = 'must be one of wan-2.2, videogen-2.0';
  assert.equal(unknownModelMessage(' WAN-2.2 ', names), `${must}; did you mean wan-2.2?`);
  assert.equal(unknownModelMessage('videogen-2', names), `${must}; did you mean videogen-2.0?`);
  for (const input of [7, 'sora', `wan-2.2${' '.repeat(194)}`]) assert.equal(unknownModelMessage(input, names), must);
  assert.equal(unknownModelMessage(`wan-2.2${' '.repeat(193)}`, names), `${must}; did you mean wan-2.2?`);
});

test('a number in a text is suggested, and a fraction only where it is allowed', () => {
  const [any, whole] = [notNumberMessage('must be a number'), notNumberMessage('must be a number', true)];
  for (const text of ['5', ' 5s ', '5 sec', '5secs', '5 second', '5 seconds', '5 S', '05'])
    for (const said of [any, whole]) assert.equal(said({ input: text }), 'must be a number; did you mean 5?');
  assert.equal(any({ input: '5.50' }), 'must be a number; did you mean 5.5?');
  assert.equal(any({ input: '1234567890.123456' }), 'must be a number; did you mean 1234567890.123456?');
  for (const input of ['12345678901', '5.1234567', 'a5', '5 seconds ago'])
    assert.equal(any({ input }), 'must be a number');
  for (const input of ['5.5', 'five', '5m', '', [5]]) assert.equal(whole({ input }), 'must be a number');
  const seed = notSeedMessage(9);
  const must = 'must be a whole number from 0 to 9';
  assert.deepEqual(
    [-1, -2, '7', 1.5].map((input) => seed({ input })),
    [`${must}; leave it out for a random one`, must, `${must}; did you mean 7?`, must],
  );
});

test('an address alone is to be put into a list', () => {
  const said = notListMessage('must be a list');
  assert.equal(said({ input: ' HTTPS://a.example' }), 'must be a list; put the URL into an array');
  for (const input of ['a.example', 'see https://a.example', {}, 5]) assert.equal(said({ input }), 'must be a list');
});
