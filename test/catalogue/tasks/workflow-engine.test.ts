import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generationHeartbeatSchema } from '../../../src/catalogue/tasks/workflow-engine.ts';

test('a heartbeat has the progress as a number', () => {
  assert.deepEqual(generationHeartbeatSchema.safeParse({ progress: 40, of: 'a later release' }).data, { progress: 40 });
  for (const heartbeat of [undefined, {}, { progress: '40' }, 40])
    assert.equal(generationHeartbeatSchema.safeParse(heartbeat).success, false);
});
