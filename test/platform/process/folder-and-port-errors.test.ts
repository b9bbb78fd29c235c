import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SetupError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import { explainFolderError, explainListenError } from '../../../src/platform/process/folder-and-port-errors.ts';
import { makePrivateFolder } from '../../../src/platform/process/make-private-folder.ts';
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

const failed = (code: string) => Object.assign(new Error(code), { code });

for (const [code, words] of [
  ['EADDRINUSE', /Port 3000 of 10\.0\.0\.9 .*set API_PORT/],
  ['EACCES', /port 3000\. Set API_PORT/],
  ['EADDRNOTAVAIL', /^10\.0\.0\.9 is not an address of this machine\. Set HOST/],
  ['ENOTFOUND', /^10\.0\.0\.9 is not an address of this machine\. Set HOST/],
  ['EMFILE', undefined],
] as const) {
  test(`an address that cannot be listened on for ${code} is ${words === undefined ? 'not ' : ''}explained`, () => {
    const cause = failed(code);
    const error = explainListenError(cause, { host: '10.0.0.9', port: 3000 }, 'API_PORT');
    if (words === undefined) return assert.equal(error, cause);
    assert.ok(error instanceof SetupError);
    assert.match(error.message, words);
    assert.equal(error.cause, cause);
  });
}

const [space, mount, owner] = ['Free some space', 'Mount its disk for writing', 'as the account that owns it'];
for (const [code, advice] of [
  ['ENOSPC', space],
  ['EDQUOT', space],
  ['EROFS', mount],
  ['EACCES', owner],
  ['EPERM', owner],
  ['ENOENT', owner],
  ['ENOTDIR', owner],
  ['EEXIST', owner],
  ['EMFILE', undefined],
] as const) {
  test(`a folder that is unusable for ${code} is ${advice === undefined ? 'not ' : ''}explained`, () => {
    const cause = failed(code);
    const error = explainFolderError(cause, '/data', 'VIDEOGEN_DATA');
    if (advice === undefined) return assert.equal(error, cause);
    assert.ok(error instanceof SetupError);
    for (const part of ['/data', `(${code})`, advice, 'set VIDEOGEN_DATA to another folder'])
      assert.ok(error.message.includes(part), error.message);
    assert.equal(error.cause, cause);
  });
}
