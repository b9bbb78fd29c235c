import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { diskProblemOfCode, diskReserveBytes, readDisk, spaceProblem } from '../../../src/platform/process/disk.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('an error of a file is one of its disk if the disk is full, read-only or broken', () => {
  const problems = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'].map(diskProblemOfCode);
  assert.deepEqual(problems, ['disk full', 'disk quota used up', 'disk read-only', 'disk fails']);
  for (const code of ['ENOENT', 'EACCES', 'EMFILE', undefined]) assert.equal(diskProblemOfCode(code), undefined);
});

test('a disk is full below 128 MiB or a tenth of it, and below 1000 files or a tenth of them', () => {
  const megabyte = 1024 * 1024;
  assert.equal(diskReserveBytes, 128 * megabyte);
  const large = { freeBytes: 128 * megabyte, sizeBytes: 5000 * megabyte, files: 50_000, freeFiles: 1000 };
  const small = { freeBytes: 10 * megabyte, sizeBytes: 100 * megabyte, files: 500, freeFiles: 50 };
  for (const space of [large, small]) {
    assert.equal(spaceProblem(space), undefined);
    assert.equal(spaceProblem({ ...space, freeBytes: space.freeBytes - 1 }), 'disk full');
    assert.equal(spaceProblem({ ...space, freeFiles: space.freeFiles - 1 }), 'disk full (no free inodes)');
  }
  assert.equal(spaceProblem({ ...large, freeBytes: 0, freeFiles: 0 }), 'disk full');
  assert.equal(spaceProblem({ ...large, files: 0, freeFiles: 0 }), undefined, 'without a limit of files');
});

test('the disk of a folder has its number and its space for this process, and a missing folder has none', async (t) => {
  const folder = await temporaryFolder(t);
  const { dev } = await fs.stat(folder);
  const space = {
    type: 0,
    bsize: 4096,
    blocks: 1_000_000,
    bfree: 900_000,
    bavail: 800_000,
    files: 50_000,
    ffree: 1000,
  };
  t.mock.method(fs, 'statfs', async () => space);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const sizes = { freeBytes: 800_000 * 4096, sizeBytes: 1_000_000 * 4096 };
  assert.deepEqual(await readDisk(folder), { device: dev, ...sizes, problem: undefined });
  space.ffree = 999;
  assert.deepEqual(await readDisk(folder), { device: dev, ...sizes, problem: 'disk full (no free inodes)' });
  space.ffree = 1000;
  const refuse = (code: string) =>
    t.mock.method(fs, 'access', async () => Promise.reject(Object.assign(new Error(code), { code })));
  for (const [code, problem] of [
    ['EROFS', 'disk read-only'],
    ['EACCES', undefined],
  ] as const) {
    refuse(code);
    syncBuiltinESMExports();
    assert.equal((await readDisk(folder))?.problem, problem, code);
  }
  assert.equal(await readDisk(join(folder, 'missing')), undefined);
});

test('an error other than that of a missing folder is not taken for one', async (t) => {
  const folder = await temporaryFolder(t);
  await fs.writeFile(join(folder, 'file'), '');
  await assert.rejects(readDisk(join(folder, 'file', 'below')), { code: 'ENOTDIR' });
});
