import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { inspectFfmpeg, requireFfmpeg } from '../../../src/media/ffmpeg/ffmpeg-binary.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { signal } = new AbortController();

/** A FAKE: prints what ffmpeg prints for `-version` and `-encoders`. */
async function fakeFfmpeg(t: TestContext, version: string, encoders: readonly string[]): Promise<string> {
  const path = join(await temporaryFolder(t), 'ffmpeg');
  const listed = [' V..... = Video', ' ------', ...encoders].join('\n');
  const script = `#!/bin/sh
case "$*" in
  '-version') echo '${version}' ;;
  '-hide_banner -encoders') echo '${listed}' ;;
  *) exit 3 ;;
esac
`;
  await writeFile(path, script);
  await chmod(path, 0o755);
  return path;
}

test('an ffmpeg is reported with its version and the encoders that it lacks', async (t) => {
  const all = [' V....D libx264  H.264', ' A....D aac  AAC', ' A....D libmp3lame  MP3', ' VFS..D mjpeg  MJPEG'];
  const whole = await fakeFfmpeg(t, 'ffmpeg version 7.1-static Copyright', all);
  assert.deepEqual(await inspectFfmpeg(whole, signal), { path: whole, version: '7.1-static', missing: [] });
  const poor = await fakeFfmpeg(t, 'a program', [' V....D libx264rgb  aac', ' V....D mjpeg  MJPEG']);
  assert.deepEqual(await inspectFfmpeg(poor, signal), {
    path: poor,
    version: 'unknown',
    missing: ['libx264', 'aac', 'libmp3lame'],
  });
});

test('an ffmpeg that does not run is refused, and the error names its setting where it was set', async (t) => {
  const path = await fakeFfmpeg(t, 'ffmpeg version 7.1', []);
  assert.equal(requireFfmpeg(path), path);
  await writeFile(path, '#!/bin/sh\nexit 1\n');
  assert.throws(() => requireFfmpeg(path), { name: 'SetupError', message: /^FFMPEG_PATH: / });
  await assert.rejects(inspectFfmpeg(path, signal));
  const { PATH } = process.env;
  t.after(() => {
    process.env['PATH'] = PATH;
  });
  process.env['PATH'] = await temporaryFolder(t);
  assert.throws(() => requireFfmpeg(), { name: 'SetupError', message: /^No ffmpeg found: / });
  await assert.rejects(inspectFfmpeg(undefined, signal), { code: 'ENOENT' });
});
