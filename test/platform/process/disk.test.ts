import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diskProblemOfCode } from '../../../src/platform/process/disk.ts';

test('an error of a file is one of its disk if the disk is full, read-only or broken', () => {
  const problems = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'].map(diskProblemOfCode);
  assert.deepEqual(problems, ['disk full', 'disk quota used up', 'disk read-only', 'disk fails']);
  for (const code of ['ENOENT', 'EACCES', 'EMFILE', undefined]) assert.equal(diskProblemOfCode(code), undefined);
});
