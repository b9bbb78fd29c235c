import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestFingerprint } from '../../../src/tasks/accept/task-terms-and-request-fingerprint.ts';
import {
  inputFieldNames,
  isPresent,
  isNumberOrBooleanField,
  mediaUrlsOf,
  type ModelInput,
  fieldsRequiredWith,
  standardModelInput,
  withDefaults,
} from '../../../src/catalogue/input/task-input.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

const withSeed: ModelInput = { ...standardModelInput, fields: { ...standardModelInput.fields, seed: { max: 9 } } };

test('a request that leaves a field out matches itself after the model gained that field', () => {
  const earlier = requestFingerprint(taskParam('A lighthouse'), standardModelInput);
  assert.deepEqual(requestFingerprint(taskParam('A lighthouse'), withSeed), earlier);
  assert.notDeepEqual(requestFingerprint(taskParam('A lighthouse', { seed: 7 }), withSeed), earlier);
});

test('options mean the same in any order', () => {
  const one = requestFingerprint(
    taskParam('A lighthouse', { options: { style: 'anime', steps: 4 } }),
    standardModelInput,
  );
  assert.deepEqual(
    requestFingerprint(taskParam('A lighthouse', { options: { steps: 4, style: 'anime' } }), standardModelInput),
    one,
  );
});

for (const name of inputFieldNames) {
  test(`two requests that differ in ${name} alone have different fingerprints`, () => {
    const param = taskParam('A lighthouse');
    const other = { ...param, input: { ...param.input, [name]: ['another value'] } };
    assert.notDeepEqual(requestFingerprint(other, standardModelInput), requestFingerprint(param, standardModelInput));
  });
}

const url = 'https://media.example/a';

test('a request without a value gets the default of its model, and null is no value', () => {
  const options: ModelInput['fields']['options'] = {
    style: { type: 'string', maxCharacters: 9, default: 'natural' },
    fast: { type: 'boolean' },
  };
  const ratio: ModelInput['fields']['ratio'] = { values: ['16:9', '9:16'], default: '9:16' };
  const input: ModelInput = { ...standardModelInput, fields: { ...standardModelInput.fields, ratio, options } };
  const least = { prompt: 'a fox', resolution: '720p', duration: 5, generateAudio: true, imageUrls: [] };
  assert.deepEqual(withDefaults({ prompt: 'a fox', duration: null }), { ...least, ratio: '16:9' });
  const chosen = { resolution: '480p', duration: 8, ratio: '1:1', generateAudio: false, imageUrls: [url] } as const;
  assert.deepEqual(withDefaults({ prompt: 'a fox', ...chosen }), { prompt: 'a fox', ...chosen });
  assert.deepEqual(withDefaults({ prompt: 'a fox' }, input), {
    ...least,
    ratio: '9:16',
    options: { style: 'natural' },
  });
  const given = withDefaults({ prompt: 'a fox', options: { fast: true } }, input);
  assert.deepEqual(given.options, { style: 'natural', fast: true });
  assert.deepEqual(withDefaults({ prompt: 'a fox', options: { style: 'anime' } }, input).options, { style: 'anime' });
});

test('the video follows a frame if the model can and neither it nor the request names a ratio', () => {
  const { ratio: standard } = standardModelInput.fields;
  const ratioFor = (given: object, ratio: ModelInput['fields']['ratio'] = standard) =>
    withDefaults(
      { prompt: 'a fox', ...given },
      { ...standardModelInput, fields: { ...standardModelInput.fields, ratio } },
    ).ratio;
  for (const frame of [{ firstFrameUrl: url }, { lastFrameUrl: url }, { firstFrameUrl: null, lastFrameUrl: url }]) {
    assert.equal(ratioFor(frame), 'adaptive');
    assert.equal(ratioFor({ ...frame, ratio: '1:1' }), '1:1');
    assert.equal(ratioFor(frame, { values: ['16:9', 'adaptive'], default: '16:9' }), '16:9');
    assert.equal(ratioFor(frame, { values: ['16:9', '9:16'] }), '16:9');
  }
  for (const none of [{}, { firstFrameUrl: null, lastFrameUrl: null }, { imageUrls: [url] }])
    assert.equal(ratioFor(none), '16:9');
});

test('the media of a request are listed with their places, and an empty list is left out', () => {
  const input = withDefaults({
    prompt: 'a fox',
    imageUrls: [url, `${url}2`],
    lastFrameUrl: `${url}3`,
    videoUrls: [],
    audioUrls: [`${url}4`],
  });
  assert.deepEqual(mediaUrlsOf(input), [
    { field: 'imageUrls', path: 'input.imageUrls[0]', kind: 'image', url },
    { field: 'imageUrls', path: 'input.imageUrls[1]', kind: 'image', url: `${url}2` },
    { field: 'lastFrameUrl', path: 'input.lastFrameUrl', kind: 'image', url: `${url}3` },
    { field: 'audioUrls', path: 'input.audioUrls[0]', kind: 'audio', url: `${url}4` },
  ]);
  const names = ['imageUrls', 'firstFrameUrl', 'lastFrameUrl', 'videoUrls', 'audioUrls'] as const;
  assert.deepEqual(
    names.filter((name) => isPresent(input, name)),
    ['imageUrls', 'lastFrameUrl', 'audioUrls'],
  );
});

test('numbers and booleans, which forms send as text, are distinguished from texts, lists and other names', () => {
  assert.deepEqual([...inputFieldNames, 'other'].filter(isNumberOrBooleanField), ['duration', 'generateAudio', 'seed']);
});

test('a field requires those that it declares, and an option named requires declares nothing', () => {
  const options = { requires: { type: 'boolean' } } as const;
  const fields = { ...standardModelInput.fields, options, lastFrameUrl: { requires: ['firstFrameUrl'] } };
  const input: ModelInput = { ...standardModelInput, fields };
  const required = (['lastFrameUrl', 'firstFrameUrl', 'options', 'ratio'] as const).map((name) =>
    fieldsRequiredWith(input, name),
  );
  assert.deepEqual(required, [['firstFrameUrl'], [], [], []]);
});
