import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ffmpegCachePath, findOrDownloadFfmpeg } from '../../../src/run/embedded/find-or-download-ffmpeg.ts';
import { awkwardFolder, endProcessesAfterTests } from '../../support/processes/embedded-processes.ts';

endProcessesAfterTests();

const silent = () => undefined;

test('the pinned ffmpeg comes from PyPI once, and is the version that the image has', async () => {
  const cacheFolder = await awkwardFolder();
  const search = { explicitPath: undefined, cacheFolder, log: silent };
  const path = await findOrDownloadFfmpeg(search);
  assert.equal(path, ffmpegCachePath(cacheFolder));
  const { stdout } = await promisify(execFile)(path, ['-version']);
  assert.ok(stdout.startsWith(`ffmpeg version n${basename(path).replace('ffmpeg-', '')}`), stdout.slice(0, 60));
  const { ino } = await stat(path);
  assert.equal(await findOrDownloadFfmpeg({ ...search, files: 'http://127.0.0.1:9/' }), path);
  assert.equal((await stat(path)).ino, ino);
  assert.deepEqual(await readdir(cacheFolder), [basename(path)]);
  const [source, dockerfile] = await Promise.all([
    readFile('src/run/embedded/find-or-download-ffmpeg.ts', 'utf8'),
    readFile('Dockerfile', 'utf8'),
  ]);
  const pinned = [...dockerfile.matchAll(/sha256:([0-9a-f]{64})/g)].map(([, digest]) => digest);
  assert.equal(pinned.length, 2);
  for (const digest of pinned) assert.ok(source.includes(`${digest}`), `the Dockerfile pins another ffmpeg: ${digest}`);
});

test('an explicit path is the only candidate', async () => {
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  const explicitPath = join(folder, 'mine');
  const search = { explicitPath, cacheFolder: folder, log: silent };
  await assert.rejects(findOrDownloadFfmpeg(search), /^SetupError: FFMPEG_PATH: .*mine cannot be run as ffmpeg/);
  await writeFile(explicitPath, '#!/bin/sh\n', { mode: 0o755 });
  assert.equal(await findOrDownloadFfmpeg(search), explicitPath);
});

test('without access to PyPI the one on the PATH is used, else the error names both remedies', async (t) => {
  const server = createServer((_request, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  const program = `import { findOrDownloadFfmpeg } from ${JSON.stringify(new URL('../../../src/run/embedded/find-or-download-ffmpeg.js', import.meta.url).href)};
    const search = { explicitPath: undefined, cacheFolder: ${JSON.stringify(folder)}, log: console.log };
    await findOrDownloadFfmpeg({ ...search, files: 'http://127.0.0.1:${address.port}/' }).then(console.log, ({ name, message }) => console.log(name, message));`;
  const search = async (path: string) => {
    const args = ['--input-type=module', '--eval', program];
    return (await promisify(execFile)(process.execPath, args, { env: { PATH: path } })).stdout;
  };
  assert.match(
    await search(folder),
    /SetupError ffmpeg could not be downloaded \(127\.0\.0\.1:\d+ is unreachable: status 503\)\. Install ffmpeg on the PATH, or set FFMPEG_PATH\.\n$/,
  );
  await writeFile(join(folder, 'ffmpeg'), '#!/bin/sh\n', { mode: 0o755 });
  assert.match(await search(`${folder}:/bin`), /Using the one on the PATH\.\nffmpeg\n$/);
});
