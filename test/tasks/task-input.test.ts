import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { z } from 'zod';
import { fingerprint, inputFieldNames, inputFields } from '../../src/tasks/task-input.ts';
import { taskParam } from '../support/tasks.ts';

const seed = {
  request: () => z.int().nullish(),
  record: z.int(),
  standard: 0,
  fingerprint: 'unless default',
  kie: 'seed',
} as const;

/** The table of a later release, which has one more field. */
const laterFields = { ...inputFields, seed };

function withSeed(value: number) {
  const { input, ...rest } = taskParam('A lighthouse');
  return { ...rest, input: { ...input, seed: value } };
}

test('a request from before a field was added is recognised by the release that adds it with its default', () => {
  const earlier = fingerprint(taskParam('A lighthouse'));
  assert.deepEqual(fingerprint(withSeed(0), laterFields), earlier);
  assert.notDeepEqual(fingerprint(withSeed(7), laterFields), earlier);
});

test('fingerprints are those of the first release: stored ones are compared with them', () => {
  const { model, input, callBackUrl } = taskParam('A lighthouse', {}, 'https://example.com/a');
  const { prompt, resolution, duration, ratio, generateAudio, imageUrls } = input;
  const canonical = JSON.stringify([
    model,
    prompt,
    resolution,
    duration,
    ratio,
    generateAudio,
    imageUrls,
    callBackUrl ?? null,
  ]);
  assert.deepEqual(
    fingerprint(taskParam('A lighthouse', {}, 'https://example.com/a')),
    createHash('sha256').update(canonical).digest(),
  );
});

for (const name of inputFieldNames) {
  test(`two requests that differ in ${name} alone have different fingerprints`, () => {
    const param = taskParam('A lighthouse');
    const other = { ...param, input: { ...param.input, [name]: ['another value'] } };
    assert.notDeepEqual(fingerprint(other), fingerprint(param));
  });
}
