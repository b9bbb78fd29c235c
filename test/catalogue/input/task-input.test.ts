import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestFingerprint } from '../../../src/tasks/accept/task-terms.ts';
import { inputFieldNames, type ModelInput, standardInput } from '../../../src/catalogue/input/task-input.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

const withSeed: ModelInput = { ...standardInput, fields: { ...standardInput.fields, seed: { max: 9 } } };

test('a request that leaves a field out matches itself after the model gained that field', () => {
  const earlier = requestFingerprint(taskParam('A lighthouse'), standardInput);
  assert.deepEqual(requestFingerprint(taskParam('A lighthouse'), withSeed), earlier);
  assert.notDeepEqual(requestFingerprint(taskParam('A lighthouse', { seed: 7 }), withSeed), earlier);
});

test('options mean the same in any order', () => {
  const one = requestFingerprint(taskParam('A lighthouse', { options: { style: 'anime', steps: 4 } }), standardInput);
  assert.deepEqual(
    requestFingerprint(taskParam('A lighthouse', { options: { steps: 4, style: 'anime' } }), standardInput),
    one,
  );
});

for (const name of inputFieldNames) {
  test(`two requests that differ in ${name} alone have different fingerprints`, () => {
    const param = taskParam('A lighthouse');
    const other = { ...param, input: { ...param.input, [name]: ['another value'] } };
    assert.notDeepEqual(requestFingerprint(other, standardInput), requestFingerprint(param, standardInput));
  });
}
