import assert from 'node:assert/strict';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { withTempFolder } from '../../../src/media/store/with-temp-folder.ts';

test('work has a folder of its own, which is gone with its files after the work, also after an error', async () => {
  const folders: string[] = [];
  const work = async (folder: string) => {
    folders.push(folder);
    await mkdir(join(folder, 'frames'));
    await writeFile(join(folder, 'frames/1.png'), '');
    return folders.length;
  };
  assert.equal(await withTempFolder(work), 1);
  const failing = withTempFolder(async (folder) => {
    await work(folder);
    throw new Error('no disk');
  });
  await assert.rejects(failing, /no disk/);
  assert.equal(new Set(folders).size, 2);
  for (const folder of folders) {
    assert.equal(dirname(folder), tmpdir());
    await assert.rejects(stat(folder), { code: 'ENOENT' });
  }
});

test('work that has deleted its folder has its result', async () => {
  assert.equal(await withTempFolder(async (folder) => rm(folder, { recursive: true }).then(() => 'done')), 'done');
});
