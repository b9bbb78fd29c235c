import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  notBooleanMessage,
  ratioSpelling,
  resolutionSpelling,
  type Spelling,
} from '../../../src/catalogue/input/spelling-suggestions.ts';

const spellings: readonly (readonly [spelling: Spelling, meanings: Readonly<Record<string, readonly string[]>>])[] = [
  [
    resolutionSpelling,
    {
      '480p': ['sd', '480', '854:480'],
      '720p': ['hd', '720', '1280:720', '720:1280'],
      '1080p': ['fhd', 'fullhd', '1080', '1920:1080'],
      '1440p': ['qhd', '2k', '2560:1440'],
      '2160p': ['uhd', '4k', '3840:2160'],
    },
  ],
  [
    ratioSpelling,
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
  for (const text of ['', 'large', '12', '12345', '72:12', '12345:720'])
    assert.equal(resolutionSpelling(text), undefined);
  for (const text of ['', 'round', '16', '12345:1']) assert.equal(ratioSpelling(text), undefined);
});
