import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutContent } from '../../../src/tasks/end/content-placeholders.ts';
import { inputFieldNames } from '../../../src/catalogue/input/task-input.ts';
import { allFields } from '../../providers/contract/all-fields.ts';

test('no field of a deleted request keeps a text or an address of the client', () => {
  assert.deepEqual(Object.keys(allFields).toSorted(), inputFieldNames.toSorted());
  const { resolution, duration, ratio, generateAudio, seed } = allFields;
  assert.deepEqual(withoutContent({ model: 'm', input: allFields }), {
    model: 'm',
    input: { prompt: '(deleted)', imageUrls: [], resolution, duration, ratio, generateAudio, seed },
  });
});
