import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutContent } from '../../src/tasks/deleted-content.ts';
import { inputFieldNames, type TaskInput } from '../../src/tasks/task-input.ts';

test('no field of a deleted request keeps a text or an address of the client', () => {
  const input: Required<TaskInput> = {
    prompt: 'secret',
    negativePrompt: 'secret',
    resolution: '1080p',
    duration: 8,
    ratio: '9:16',
    generateAudio: false,
    imageUrls: ['https://secret.example/1'],
    firstFrameUrl: 'https://secret.example/2',
    lastFrameUrl: 'https://secret.example/3',
    videoUrls: ['https://secret.example/4'],
    audioUrls: ['https://secret.example/5'],
    seed: 7,
    options: { note: 'secret' },
  };
  assert.deepEqual(Object.keys(input).toSorted(), inputFieldNames.toSorted());
  assert.deepEqual(withoutContent({ model: 'm', input }), {
    model: 'm',
    input: {
      prompt: '(deleted)',
      resolution: '1080p',
      duration: 8,
      ratio: '9:16',
      generateAudio: false,
      imageUrls: [],
      seed: 7,
    },
  });
});
