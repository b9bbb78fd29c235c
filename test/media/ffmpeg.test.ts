import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { shippedFfmpeg } from '../../src/media/ffmpeg-binary.ts';
import { FfmpegError } from '../../src/media/ffmpeg-error.ts';
import { createFfmpeg } from '../../src/media/ffmpeg.ts';
import { frameCounter } from '../../src/media/frame-counter.ts';
import { oldFfmpeg, temporaryFolder } from '../providers/preview/render-support.ts';

const ffmpeg = oldFfmpeg();
const signal = new AbortController().signal;
/** Pictures without end. */
const endless = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=24', '-f', 'null', '-'];

test('a run ends with the file and has counted every frame', async (t) => {
  const cwd = await temporaryFolder(t);
  const counts: number[] = [];
  const args = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=24', '-frames:v', '30', 'out.mp4'];
  await ffmpeg({ args, cwd, signal, timeoutMs: 300_000, onFrame: (frames) => counts.push(frames) });
  assert.equal(counts.at(-1), 30);
});

test('an abort kills the child at once and rejects with the reason', async (t) => {
  const controller = new AbortController();
  const reason = new Error('enough');
  let abortedAt = 0;
  const onFrame = () => {
    abortedAt ||= performance.now();
    controller.abort(reason);
  };
  const run = { args: endless, cwd: await temporaryFolder(t), signal: controller.signal, timeoutMs: 300_000, onFrame };
  await assert.rejects(ffmpeg(run), (error) => error === reason);
  assert.ok(performance.now() - abortedAt < 120_000, 'it did not run to its limit');
});

test('a run that was aborted before it began starts nothing', async () => {
  const run = { args: endless, cwd: '/nowhere', signal: AbortSignal.abort(new Error('too late')), timeoutMs: 1000 };
  await assert.rejects(ffmpeg(run), /too late/);
});

test('a run over its time is killed and says so', async (t) => {
  const run = { args: endless, cwd: await temporaryFolder(t), signal, timeoutMs: 300 };
  await assert.rejects(ffmpeg(run), (error) => error instanceof FfmpegError && error.failure.timedOut);
});

test('a failure carries the exit code and the end of what ffmpeg wrote', async (t) => {
  const run = { args: ['-i', 'missing.mp4', 'out.mp4'], cwd: await temporaryFolder(t), signal, timeoutMs: 300_000 };
  await assert.rejects(ffmpeg(run), (error) => {
    assert.ok(error instanceof FfmpegError);
    assert.deepEqual([error.failure.exitCode, error.failure.killedBy, error.failure.timedOut], [1, null, false]);
    assert.match(error.message, /exit code 1: .*missing\.mp4/s);
    return error.message.length < 5000;
  });
});

test('a file cannot make ffmpeg fetch an address', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'list.txt'), "file 'http://127.0.0.1:9/a.mp4'\n");
  const run = {
    args: ['-f', 'concat', '-safe', '0', '-i', 'list.txt', '-f', 'null', '-'],
    cwd,
    signal,
    timeoutMs: 300_000,
  };
  await assert.rejects(ffmpeg(run), /not on whitelist/);
});

test('piped input is read to its end, and one that fails is the failure of the run', async (t) => {
  const cwd = await temporaryFolder(t);
  const raw = ['-f', 'rawvideo', '-pixel_format', 'gray', '-video_size', '64x64', '-framerate', '24', '-i', 'pipe:0'];
  let count = 0;
  const run = { args: [...raw, 'out.mp4'], cwd, signal, timeoutMs: 300_000, onFrame: (n: number) => (count = n) };
  await ffmpeg({ ...run, input: pictures(false) });
  assert.equal(count, 10);
  const failed = ffmpeg({ ...run, input: pictures(true) });
  await assert.rejects(failed, (error) => error instanceof FfmpegError && /no more pictures/.test(String(error.cause)));
});

test('an explicit path that cannot be run is refused with a sentence that names it', () => {
  assert.throws(() => createFfmpeg({ path: '/nowhere/ffmpeg' }), /\/nowhere\/ffmpeg cannot be run/);
  assert.ok(shippedFfmpeg());
});

test('frames are counted from progress lines that arrive in pieces', () => {
  const counts: number[] = [];
  const read = frameCounter((frames) => counts.push(frames));
  for (const chunk of ['fps=1\nfra', 'me=', '12\nframe= 3', '4\nprogress=end\n']) read(chunk);
  assert.deepEqual(counts, [12, 34]);
});

async function* pictures(failing: boolean) {
  for (let i = 0; i < 10; i++) yield new Uint8Array(64 * 64);
  if (failing) throw new Error('no more pictures');
}
