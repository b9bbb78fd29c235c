import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLowerCaseUuid, uuidPattern } from '../../../src/platform/text/uuid.ts';

const uuid = '0199a1b2-c3d4-7e5f-8a9b-0123456789ab';

test('a UUID in lower case is one, and nothing shorter, longer or written otherwise is', () => {
  assert.equal(isLowerCaseUuid(uuid), true);
  for (const other of [
    '',
    uuid.toUpperCase(),
    uuid.slice(1),
    uuid.slice(0, -1),
    `0${uuid}`,
    `${uuid}0`,
    `${uuid}\n`,
    uuid.replaceAll('-', ''),
    uuid.replace('a', 'g'),
    uuid.replace('-7e5f', ''),
  ])
    assert.equal(isLowerCaseUuid(other), false, other);
});

test('the pattern finds a UUID within a longer text', () => {
  assert.equal(new RegExp(uuidPattern).exec(`tasks/${uuid}/video.mp4`)?.[0], uuid);
});
