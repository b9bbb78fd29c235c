import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileKeysOfResult, isFinalState, type TaskResult, taskStates } from '../../../src/catalogue/tasks/task.ts';

const result: TaskResult = {
  videoKey: 'v',
  posterKey: 'p',
  widthPx: 1,
  heightPx: 1,
  durationSeconds: 1,
  framesPerSecond: 1,
  hasAudio: false,
  bytes: 1,
  sha256: '',
};

test('a task is final once it has succeeded or failed', () => {
  const states = taskStates.map((state) => [state, isFinalState(state)] as const);
  assert.deepEqual(Object.fromEntries(states), {
    waiting: false,
    queuing: false,
    generating: false,
    success: true,
    fail: true,
  });
});

test('the files of a result are all that the store holds for it', () => {
  assert.deepEqual(fileKeysOfResult(result), ['v', 'p']);
  assert.deepEqual(fileKeysOfResult({ ...result, lastFrameKey: 'l' }), ['v', 'p', 'l']);
});
