import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultCacheFolder } from '../../../src/run/config/default-cache-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('downloads are cached in the home folder if it can be written, else in the checkout', async (t) => {
  const folder = await temporaryFolder(t);
  const other = join(folder, 'checkout');
  assert.equal(defaultCacheFolder(folder, other), join(folder, '.cache'));
  await mkdir(join(folder, '.cache'));
  assert.equal(defaultCacheFolder(folder, other), join(folder, '.cache'), 'also if the cache exists');
  assert.equal(defaultCacheFolder(join(folder, 'new', 'home'), other), join(folder, 'new', 'home', '.cache'));
  await writeFile(join(folder, 'file'), '');
  assert.equal(defaultCacheFolder(join(folder, 'file'), other), other, 'a home that is a file');
  const readOnly = join(folder, 'read-only');
  await mkdir(readOnly);
  await chmod(readOnly, 0o555);
  // Permissions do not restrict root.
  if (process.getuid?.() !== 0)
    assert.equal(defaultCacheFolder(readOnly, other), other, 'a home that can only be read');
});
