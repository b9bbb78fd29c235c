import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFfmpeg, FfmpegError } from '../../../src/media/ffmpeg/ffmpeg.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ffmpegPath, pinnedFfmpeg } from '../../providers/preview/render-support.ts';

const ffmpeg = pinnedFfmpeg();
const signal = new AbortController().signal;
/** Pictures without end. */
const endless = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=24', '-f', 'null', '-'];

test('a run ends with the file and has counted every frame', async (t) => {
  const cwd = await temporaryFolder(t);
  const counts: number[] = [];
  const args = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=24', '-frames:v', '30', 'out.mp4'];
  await ffmpeg({ args, cwd, signal, onFrame: (frames) => counts.push(frames) });
  assert.equal(counts.at(-1), 30);
});

test('an abort kills the child and rejects with the reason', async (t) => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const onFrame = () => controller.abort(reason);
  const run = { args: endless, cwd: await temporaryFolder(t), signal: controller.signal, onFrame };
  // The input has no end, so a child that is not killed would run into the limit of the test.
  await assert.rejects(ffmpeg(run), (error) => error === reason);
});

test('a run that was aborted before it began starts nothing', async () => {
  const run = { args: endless, cwd: '/nowhere', signal: AbortSignal.abort(new Error('too late')) };
  await assert.rejects(ffmpeg(run), /too late/);
});

test('a run that makes no progress is killed and says so', async (t) => {
  const cwd = await temporaryFolder(t);
  // Nobody ever writes to this pipe, so ffmpeg waits for its first byte.
  execFileSync('mkfifo', [join(cwd, 'silent')]);
  const run = { args: ['-f', 'h264', '-i', 'silent', '-f', 'null', '-'], cwd, signal, stallMs: 300 };
  await assert.rejects(ffmpeg(run), (error) => error instanceof FfmpegError && error.failure.stalled);
});

test('a run that takes longer than its limit is killed and says so', async (t) => {
  const run = { args: endless, cwd: await temporaryFolder(t), signal, limitMs: 300 };
  await assert.rejects(ffmpeg(run), (error) => error instanceof FfmpegError && error.failure.timedOut);
});

test('a run that goes on is left alone, however long it takes', async (t) => {
  const [stallMs, enough] = [60_000, new AbortController()];
  const cwd = await temporaryFolder(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  // On a busy machine a report may repeat the one before: that is no progress.
  const reported = new Set<number>();
  const onFrame = (frames: number) => {
    if (reported.has(frames) || frames === 0) return;
    reported.add(frames);
    // Each report of progress comes almost too late.
    t.mock.timers.tick(stallMs - 1);
    if (reported.size === 3) enough.abort(new Error('enough'));
  };
  await assert.rejects(ffmpeg({ args: endless, cwd, signal: enough.signal, stallMs, onFrame }), /enough/);
  assert.equal(reported.size, 3);
});

test('a failure carries the exit code and the end of what ffmpeg wrote', async (t) => {
  const run = { args: ['-i', 'missing.mp4', 'out.mp4'], cwd: await temporaryFolder(t), signal };
  await assert.rejects(ffmpeg(run), (error) => {
    assert.ok(error instanceof FfmpegError);
    assert.deepEqual([error.failure.exitCode, error.failure.killedBy, error.failure.stalled], [254, null, false]);
    assert.match(error.message, /exit code 254: .*missing\.mp4/s);
    return error.message.length < 5000;
  });
});

test('a run for which no file descriptor is left is a failure like any other, and the process goes on', () => {
  const module = new URL('../../../src/media/ffmpeg/ffmpeg.js', import.meta.url).href;
  const program = `import { openSync } from 'node:fs';
    import { createFfmpeg } from ${JSON.stringify(module)};
    const ffmpeg = createFfmpeg({ path: ${JSON.stringify(ffmpegPath())} });
    try { for (;;) openSync('/dev/null'); } catch {}
    await ffmpeg({ args: ['-version'], cwd: '/', signal: new AbortController().signal })
      .catch(({ name, failure, cause }) => console.log(name, failure.exitCode, cause.code));`;
  // It ends by itself, since no timer is left.
  const limited = ['-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', program];
  const { status, stdout, stderr } = spawnSync('/bin/sh', limited, { encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr], [0, 'FfmpegError null EMFILE\n', '']);
});

test('a file cannot make ffmpeg fetch an address', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'list.txt'), "file 'http://127.0.0.1:9/a.mp4'\n");
  const run = {
    args: ['-f', 'concat', '-safe', '0', '-i', 'list.txt', '-f', 'null', '-'],
    cwd,
    signal,
  };
  await assert.rejects(ffmpeg(run), /not on whitelist/);
});

test('an explicit path that cannot be run is refused with a sentence that names it', () => {
  assert.throws(() => createFfmpeg({ path: '/nowhere/ffmpeg' }), /\/nowhere\/ffmpeg cannot be run/);
});
