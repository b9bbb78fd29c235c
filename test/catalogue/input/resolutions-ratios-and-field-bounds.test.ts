import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  defaultChoice,
  defaultDuration,
  type DurationBounds,
  durationSchema,
  durationsOf,
  urlsSchema,
} from '../../../src/catalogue/input/resolutions-ratios-and-field-bounds.ts';

const cases: readonly (readonly [DurationBounds, durations: readonly number[], standard: number])[] = [
  [{ values: [10, 5] }, [5, 10], 5],
  [{ values: [10, 8] }, [8, 10], 8],
  [{ values: [10, 5], default: 10 }, [5, 10], 10],
  [{ min: 4, max: 6 }, [4, 5, 6], 5],
  [{ min: 6, max: 7 }, [6, 7], 6],
  [{ min: 4, max: 6, default: 4 }, [4, 5, 6], 4],
];

for (const [bounds, durations, standard] of cases) {
  test(`${JSON.stringify(bounds)} sells ${durations.join(', ')} seconds, by default ${standard}`, () => {
    assert.deepEqual([durationsOf(bounds), defaultDuration(bounds)], [durations, standard]);
  });
}

test('a requested duration is rounded, and then one of those that are sold', () => {
  const sent = [3.49, 3.5, 4.49, 5, 6.49, 6.5];
  const read = (bounds: DurationBounds) => sent.map((value) => durationSchema(bounds).safeParse(value).data);
  assert.deepEqual(read({ min: 4, max: 6 }), [undefined, 4, 4, 5, 6, undefined]);
  assert.deepEqual(read({ values: [4, 6] }), [undefined, 4, 4, undefined, 6, undefined]);
});

test('the default is the declared one, else the usual one, else the first', () => {
  const values = ['480p', '720p', '1080p'];
  assert.equal(defaultChoice({ values, default: '1080p' }, '720p'), '1080p');
  assert.equal(defaultChoice({ values }, '720p'), '720p');
  assert.equal(defaultChoice({ values: ['480p', '1080p'] }, '720p'), '480p');
});

test('a list of addresses has as many as the model takes, and may be left out where it may be empty', () => {
  const url = 'https://media.example/a.png';
  const taken = (bounds: { readonly min?: number; readonly max: number }) => {
    const schema = urlsSchema(bounds, { refuseMediaUrl: () => undefined }, 'image', 'Images.');
    const counts = [0, 1, 2, 3].filter((count) => schema.safeParse(Array<string>(count).fill(url)).success);
    return [counts, schema.safeParse(undefined).success, schema.safeParse(null).success];
  };
  assert.deepEqual(taken({ max: 2 }), [[0, 1, 2], true, true]);
  assert.deepEqual(taken({ min: 1, max: 2 }), [[1, 2], false, false]);
  assert.deepEqual(taken({ min: 2, max: 2 }), [[2], false, false]);
  assert.deepEqual(taken({ max: 0 }), [[0], true, true]);
});

test('the message about a list names its limit, and that a model without such a list accepts no items', () => {
  const url = 'https://media.example/a.png';
  const messageFor = (bounds: { readonly min?: number; readonly max: number }, count: number) =>
    urlsSchema(bounds, { refuseMediaUrl: () => undefined }, 'image', 'Images.')
      .safeParse(Array<string>(count).fill(url))
      .error?.issues.map(({ message }) => message);
  assert.deepEqual(messageFor({ max: 0 }, 1), ['is not supported by this model; leave it out']);
  assert.deepEqual(messageFor({ max: 2 }, 3), ['must hold at most 2 URLs']);
  assert.deepEqual(messageFor({ min: 1, max: 2 }, 0), ['must hold 1 to 2 URLs']);
  assert.deepEqual(messageFor({ min: 2, max: 2 }, 3), ['must hold 2 URLs']);
});
