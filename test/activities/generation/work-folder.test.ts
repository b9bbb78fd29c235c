import assert from 'node:assert/strict';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { sweepWorkFolder, withWorkFolder } from '../../../activities/generation/work-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('the folder of an attempt is empty, has the name of its task, and is deleted also after an error', async (t) => {
  const root = join(await temporaryFolder(t), 'work');
  const used = async (folder: string) => {
    assert.deepEqual(await readdir(folder), []);
    await writeFile(join(folder, 'video'), '');
    return basename(folder);
  };
  assert.match(await withWorkFolder(root, 'task', used), /^task-./);
  await assert.rejects(
    withWorkFolder(root, 'task', async (folder) => {
      await used(folder);
      throw new Error('no');
    }),
    /^Error: no$/,
  );
  assert.deepEqual(await readdir(root), []);
});

test('a folder that is already gone fails nothing', async (t) => {
  const root = await temporaryFolder(t);
  await withWorkFolder(root, 'task', (folder) => rm(folder, { recursive: true }));
});

test('only folders that have not changed for the given time are swept', async (t) => {
  const root = join(await temporaryFolder(t), 'work');
  await sweepWorkFolder(root, 60_000);
  const now = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now });
  for (const [name, ageSeconds] of [
    ['old', 61],
    ['new', 59],
  ] as const) {
    await mkdir(join(root, name));
    await writeFile(join(root, name, 'video'), '');
    const changed = now / 1_000 - ageSeconds;
    await utimes(join(root, name), changed, changed);
  }
  await sweepWorkFolder(root, 60_000);
  assert.deepEqual(await readdir(root), ['new']);
});
