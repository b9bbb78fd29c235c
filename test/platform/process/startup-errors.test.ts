import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SetupError } from '../../../src/platform/errors.ts';
import { makePrivateFolder } from '../../../src/platform/process/startup-errors.ts';
import { mountSmallDisk, skipsWithoutMount } from '../../support/servers/small-disk.ts';

async function refusalOf(path: string): Promise<string> {
  const error = await makePrivateFolder(path, 'VIDEOGEN_DATA').then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof SetupError, String(error));
  return error.message;
}

test(
  'a folder that cannot be created below a disk that can only be read has the same sentence as an existing one',
  {
    skip: skipsWithoutMount,
  },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'videogen-read-only-'));
    const disk = await mountSmallDisk(folder, { megabytes: 1 });
    try {
      disk.makeReadOnly();
      for (const path of [join(folder, 'data'), join(folder, 'a', 'b', 'data')])
        assert.equal(
          await refusalOf(path),
          `The folder ${path} cannot be written: its disk can only be read (EROFS). Mount its disk for writing, or set VIDEOGEN_DATA ` +
            'to another folder.',
        );
    } finally {
      disk.unmount();
      await rm(folder, { recursive: true });
    }
  },
);

test('a file in place of a parent folder is named as such', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-file-'));
  await writeFile(join(folder, 'file'), '');
  assert.match(await refusalOf(join(folder, 'file', 'data')), /there is a file of that name \(ENOTDIR\)/);
  await rm(folder, { recursive: true });
});

test('a folder is private, whether it is created or was open to others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-private-'));
  try {
    const [created, open] = [join(folder, 'created'), join(folder, 'open')];
    await mkdir(open, { mode: 0o755 });
    for (const path of [created, open]) {
      await makePrivateFolder(path, 'VIDEOGEN_DATA');
      assert.equal((await stat(path)).mode & 0o777, 0o700, path);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
