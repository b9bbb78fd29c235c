import type { ConversionBeforeStorage } from '../../../src/catalogue/media/conversion-before-storage.ts';
import assert from 'node:assert/strict';
import { access, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { tmpdir } from 'node:os';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import type { FfmpegRunner } from '../../../src/catalogue/media/ffmpeg-runner-types.ts';
import { FfmpegError } from '../../../src/media/ffmpeg/ffmpeg.ts';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';
import { createVideoNormalizer } from '../../../src/media/ffmpeg/convert-result-video.ts';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';

const signal = new AbortController().signal;
const asIs: ConversionBeforeStorage = {
  audio: true,
  fit: 'keep',
  resolution: '720p',
  ratio: 'adaptive',
  lastFrame: false,
};
const hd: ConversionBeforeStorage = { ...asIs, fit: 'convert', ratio: '16:9' };
const never: FfmpegRunner = async () => assert.fail('ffmpeg was not to be run');

const seconds = 2;
const picture = (size: string, more = '') => [
  '-f',
  'lavfi',
  '-i',
  `testsrc2=size=${size}:rate=24:duration=${seconds}${more}`,
];
const sound = ['-f', 'lavfi', '-i', `sine=duration=${seconds}`];
const vp9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-pix_fmt', 'yuv420p'];
const h264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p'];
const hevc = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error', '-pix_fmt', 'yuv420p'];
const av1 = ['-c:v', 'libaom-av1', '-strict', 'experimental', '-cpu-used', '8', '-pix_fmt', 'yuv420p', '-g', '6'];
const aac = ['-c:a', 'aac'];
const opus = ['-c:a', 'libopus'];
const indexFirst = ['-movflags', '+faststart'];

/** What an upstream may deliver, and how it is made. */
const fixtures = {
  'fits.mp4': [...picture('320x180'), ...sound, ...h264, ...aac, ...indexFirst],
  'silent.mp4': [...picture('320x180'), ...h264, ...indexFirst],
  '720p.mp4': [...picture('1280x720'), ...sound, ...h264, ...aac, ...indexFirst],
  'moov-last.mp4': [...picture('320x180'), ...sound, ...h264, ...aac],
  'fragments.mp4': [...picture('320x180'), ...sound, ...h264, ...aac, '-movflags', 'frag_keyframe+empty_moov'],
  'quicktime.mov': [...picture('320x180'), ...sound, ...h264, ...aac, ...indexFirst],
  'h264.mkv': [...picture('320x180'), ...sound, ...h264, ...aac],
  'h264.ts': [...picture('320x180'), ...sound, ...h264, ...aac],
  'vp9.webm': [...picture('320x180'), ...sound, ...vp9, ...opus],
  'hevc.mp4': [...picture('320x180'), ...sound, ...hevc, ...aac, ...indexFirst],
  'av1.mkv': [...picture('96x64'), '-frames:v', '12', ...av1],
  'ten-bits.mp4': [...picture('320x180'), ...h264.slice(0, -1), 'yuv420p10le', ...indexFirst],
  'mp3.mp4': [...picture('320x180'), ...sound, ...h264, '-c:a', 'libmp3lame', ...indexFirst],
  'pcm.avi': [...picture('320x180'), ...sound, '-c:v', 'mjpeg', '-c:a', 'pcm_s16le'],
  'moving.gif': ['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=10:duration=${seconds}`],
  'odd.webm': [...picture('853x481'), ...vp9],
  'h3.webm': [...picture('1344x768'), ...sound, ...vp9, ...opus],
  'wide-pixels.webm': [...picture('320x180'), '-vf', 'setsar=4/3', ...vp9],
  'uneven.webm': [...picture('320x180'), '-vf', "select='lt(t,1)+not(mod(n,5))'", '-fps_mode', 'vfr', ...vp9],
  // One colour: it is the size that is refused, and a picture would take seconds to make.
  'huge.webm': ['-f', 'lavfi', '-i', 'color=size=9000x4000', '-frames:v', '1', ...vp9],
  'long.webm': ['-f', 'lavfi', '-i', 'color=size=32x32:rate=1:duration=700', ...vp9],
} as const;
type Fixture = keyof typeof fixtures;

const ffmpeg = pinnedFfmpeg();

describe('normalising a video', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-normalise-'));
    for (const [name, args] of Object.entries(fixtures)) await ffmpeg({ args: [...args, name], cwd: folder, signal });
  });
  after(() => rm(folder, { recursive: true }));

  let runs = 0;
  function normalise(
    renderer: FfmpegRunner,
    name: string,
    form: ConversionBeforeStorage,
    mostBytes?: number,
  ): Promise<string> {
    const targetPath = join(folder, `normalised-${(runs += 1)}.mp4`);
    return createVideoNormalizer(renderer, mostBytes)({ videoPath: join(folder, name), targetPath, form, signal });
  }

  async function refused(renderer: FfmpegRunner, name: string, reason: RegExp, mostBytes?: number): Promise<void> {
    await assert.rejects(normalise(renderer, name, asIs, mostBytes), (error) => {
      assert.ok(error instanceof TaskError, String(error));
      assert.deepEqual([error.failCode, error.retryable], ['result_invalid', false]);
      assert.match(String(error.cause), reason, name);
      return true;
    });
  }

  async function writeFixture(name: string, content: string | Buffer): Promise<string> {
    await writeFile(join(folder, name), content);
    return name;
  }

  test('a video that fits is not touched, and ffmpeg is not run', async () => {
    for (const [name, form] of [
      ['fits.mp4', asIs],
      ['silent.mp4', asIs],
      ['silent.mp4', { ...asIs, audio: false }],
      ['720p.mp4', hd],
      ['720p.mp4', { ...hd, ratio: 'adaptive' }],
    ] as const) {
      const bytes = await readFile(join(folder, name));
      assert.equal(await normalise(never, name, form), join(folder, name));
      assert.deepEqual(await readFile(join(folder, name)), bytes);
    }
  });

  /** What comes out: width, height, seconds, pictures a second, sound. */
  const results: readonly [Fixture, ConversionBeforeStorage, ...(readonly (number | boolean)[])][] = [
    ['moov-last.mp4', asIs, 320, 180, seconds, 24, true],
    ['fragments.mp4', asIs, 320, 180, seconds, 24, true],
    ['quicktime.mov', asIs, 320, 180, seconds, 24, true],
    ['h264.mkv', asIs, 320, 180, seconds, 24, true],
    ['h264.ts', asIs, 320, 180, seconds, 24, true],
    ['fits.mp4', { ...asIs, audio: false }, 320, 180, seconds, 24, false],
    ['vp9.webm', asIs, 320, 180, seconds, 24, true],
    ['vp9.webm', { ...asIs, audio: false }, 320, 180, seconds, 24, false],
    ['hevc.mp4', asIs, 320, 180, seconds, 24, true],
    ['av1.mkv', asIs, 96, 64, 0.5, 24, false],
    ['ten-bits.mp4', asIs, 320, 180, seconds, 24, false],
    ['mp3.mp4', asIs, 320, 180, seconds, 24, true],
    ['pcm.avi', asIs, 320, 180, seconds, 24, true],
    ['moving.gif', asIs, 320, 180, seconds, 10, false],
    ['odd.webm', asIs, 852, 480, seconds, 24, false],
    ['wide-pixels.webm', asIs, 426, 180, seconds, 24, false],
    ['h3.webm', asIs, 1344, 768, seconds, 24, true],
    ['h3.webm', hd, 1280, 720, seconds, 24, true],
    ['h3.webm', { ...hd, ratio: 'adaptive' }, 1280, 720, seconds, 24, true],
    ['fits.mp4', { ...hd, ratio: '9:16', audio: false }, 720, 1280, seconds, 24, false],
    ['fits.mp4', { ...hd, ratio: '21:9' }, 1470, 630, seconds, 24, true],
    ['fits.mp4', { ...hd, resolution: '1080p' }, 1920, 1080, seconds, 24, true],
    ['720p.mp4', { ...hd, resolution: '480p', ratio: '4:5' }, 576, 720, seconds, 24, true],
  ];
  for (const [name, form, ...expected] of results) {
    const order = `${form.fit}, ${form.resolution}, ${form.ratio}, ${form.audio ? 'sound' : 'no sound'}`;
    test(`${name} (${order}) becomes an MP4 that fits`, async () => {
      const path = await normalise(ffmpeg, name, form);
      assert.notEqual(path, join(folder, name));
      const { widthPx, heightPx, durationSeconds, framesPerSecond, hasAudio } = await checkAndMeasureVideo(path);
      const rounded = [Math.round(durationSeconds * 10) / 10, Math.round(framesPerSecond)];
      assert.deepEqual([widthPx, heightPx, ...rounded, hasAudio], expected);
      const again = createVideoNormalizer(never);
      assert.equal(await again({ videoPath: path, targetPath: `${path}.again`, form, signal }), path);
    });
  }

  test(`pictures without a steady rate keep their times`, async () => {
    const { durationSeconds, framesPerSecond } = await checkAndMeasureVideo(
      await normalise(ffmpeg, 'uneven.webm', asIs),
    );
    assert.ok(Math.abs(durationSeconds - seconds) < 0.25, `${durationSeconds} s`);
    assert.ok(framesPerSecond <= 24.5, `${framesPerSecond} a second`);
  });

  test(`the picture is neither distorted nor moved when it is cut to its ratio`, async () => {
    const square = 'color=black:size=1344x768:rate=24:duration=1,drawbox=x=480:y=192:w=384:h=384:color=white:t=fill';
    await ffmpeg({ args: ['-f', 'lavfi', '-i', square, ...vp9, 'square.webm'], cwd: folder, signal });
    for (const ratio of ['16:9', '9:16', '1:1'] as const) {
      const path = await normalise(ffmpeg, 'square.webm', { ...hd, ratio });
      const frame = join(folder, 'frame.png');
      await ffmpeg({ args: ['-i', path, '-frames:v', '1', frame], cwd: folder, signal });
      const { data, info } = await sharp(await readFile(frame))
        .greyscale()
        .raw()
        .toBuffer({ resolveWithObject: true });
      const isWhite = (x: number, y: number) => (data[(y * info.width + x) * info.channels] ?? 0) > 128;
      const row = Array.from({ length: info.width }, (_, x) => isWhite(x, info.height >> 1));
      const column = Array.from({ length: info.height }, (_, y) => isWhite(info.width >> 1, y));
      const lengthOf = (line: boolean[]) => line.lastIndexOf(true) - line.indexOf(true) + 1;
      const middleOf = (line: boolean[]) => (line.lastIndexOf(true) + line.indexOf(true) + 1) / 2;
      const scale = Math.max(info.width / 1344, info.height / 768);
      assert.ok(Math.abs(lengthOf(row) - lengthOf(column)) <= 4, `${ratio}: ${lengthOf(row)} × ${lengthOf(column)}`);
      assert.ok(Math.abs(lengthOf(row) - 384 * scale) <= 6, `${ratio}: ${lengthOf(row)} of ${384 * scale}`);
      assert.ok(Math.abs(middleOf(row) - info.width / 2) <= 3 && Math.abs(middleOf(column) - info.height / 2) <= 3);
    }
  });

  test(`a file that was cut short is refused`, async () => {
    for (const name of ['vp9.webm', 'hevc.mp4', 'moov-last.mp4', 'h264.mkv', 'av1.mkv'] as const) {
      const whole = await readFile(join(folder, name));
      for (const share of [0.001, 0.1, 0.5, 0.75]) {
        const cut = await writeFixture(`cut-${name}`, whole.subarray(0, Math.floor(whole.length * share)));
        await refused(ffmpeg, cut, /./);
      }
    }
  });

  test(`a picture that would take all memory is refused`, async () => {
    await refused(ffmpeg, 'huge.webm', /max pixel count/);
  });

  test(`a container around a playlist is read as that container`, async () => {
    await writeFixture('secret.ts', await readFile(join(folder, 'h264.ts')));
    const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:2,\n${join(folder, 'secret.ts')}\n#EXT-X-ENDLIST\n`;
    const concat = `ffconcat version 1.0\nfile '${join(folder, 'secret.ts')}'\n`;
    for (const start of ['\0\0\0\x10ftypisom\0\0\0\0', '\x1aE\xdf\xa3', 'RIFF\0\0\0\0AVI ', 'GIF89a', 'G'.repeat(189)])
      for (const text of [playlist, concat, '\n'.repeat(200) + playlist])
        await refused(ffmpeg, await writeFixture('both', Buffer.from(start + text, 'latin1')), /./);
  });

  test('a playlist, a list of files and other texts are refused before ffmpeg sees them, whatever their name says', async () => {
    const secret = join(folder, 'h264.ts');
    for (const [i, text] of [
      `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:2,\n${secret}\n#EXT-X-ENDLIST\n`,
      '#EXTM3U\n#EXTINF:2,\nhttp://127.0.0.1:9/a.ts\n',
      `ffconcat version 1.0\nfile '${secret}'\n`,
      `\ufeffffconcat version 1.0\nfile '${secret}'\n`,
      `file '${secret}'\n`,
      `<?xml version="1.0"?><MPD><BaseURL>${secret}</BaseURL></MPD>`,
      '<html>502 Bad Gateway</html>',
      'G',
      `G${'x'.repeat(400)}`,
      '',
    ].entries())
      await refused(never, await writeFixture(`text-${i}.mp4`, text), /no known container/);
  });

  test('every run names the container of its input, directly before the input', async () => {
    const seen: (string | undefined)[] = [];
    const watched: FfmpegRunner = async (run) => {
      const input = run.args.indexOf('-i');
      seen.push(run.args[input - 2], run.args[input - 1]);
      await ffmpeg(run);
    };
    for (const name of ['moov-last.mp4', 'vp9.webm', 'h264.ts', 'pcm.avi', 'moving.gif'] as const)
      await normalise(watched, name, asIs);
    assert.deepEqual(seen, ['-f', 'mov', '-f', 'matroska', '-f', 'mpegts', '-f', 'avi', '-f', 'gif']);
  });

  test('a file that claims four gigabytes costs no more than it has, and is refused', async () => {
    const claim = Buffer.from('\0\0\0\x10ftypisom\0\0\x02\0\0\0\0\x01mdat\0\0\0\x01\0\0\0\0', 'latin1');
    await refused(ffmpeg, await writeFixture('claim.mp4', claim), /./);
    const moov = Buffer.from('\0\0\0\x10ftypisom\0\0\x02\0\xff\xff\xff\xf0moov', 'latin1');
    await refused(ffmpeg, await writeFixture('claim-moov.mp4', moov), /./);
    // Its index is whole, and what it leads to is a hole.
    await writeFixture('sparse.mp4', await readFile(join(folder, 'hevc.mp4')));
    const file = await readFile(join(folder, 'sparse.mp4'));
    await truncate(join(folder, 'sparse.mp4'), file.indexOf('mdat', 0, 'latin1') + 4);
    await truncate(join(folder, 'sparse.mp4'), 4 * 1024 ** 3);
    await refused(ffmpeg, 'sparse.mp4', /./);
  });

  test('what grows beyond the limit is refused, and what lasts too long is cut', async () => {
    await refused(ffmpeg, 'h3.webm', /more than 20000 bytes/, 20_000);
    assert.equal((await checkAndMeasureVideo(await normalise(ffmpeg, 'long.webm', asIs))).durationSeconds, 600);
  });

  test('an aborted run and a fault of this machine are no faults of the video', async () => {
    const reason = new Error('cancelled');
    const stop = new AbortController();
    const aborting: FfmpegRunner = async (run) => {
      stop.abort(reason);
      await ffmpeg(run);
    };
    const order = { videoPath: join(folder, 'vp9.webm'), targetPath: join(folder, 'none.mp4'), form: asIs };
    const aborted = createVideoNormalizer(aborting)({ ...order, signal: stop.signal });
    await assert.rejects(aborted, (error) => error === reason);
    await assert.rejects(access(order.targetPath));
    const ended = { exitCode: 1, killedBy: null, stalled: false, timedOut: false, stderr: '' };
    for (const failure of [
      { ...ended, stderr: 'av_interleaved_write_frame(): No space left on device' },
      { ...ended, stalled: true },
      { ...ended, exitCode: null, killedBy: 'SIGKILL' },
    ])
      await assert.rejects(
        normalise(() => Promise.reject(new FfmpegError(failure)), 'vp9.webm', asIs),
        FfmpegError,
      );
  });

  test('a video with so many errors that ffmpeg is killed for its reports is refused', async () => {
    const cause = Object.assign(new RangeError('too much'), { code: 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' });
    const failure = { exitCode: null, killedBy: 'SIGTERM', stalled: false, timedOut: false, stderr: '', cause };
    await assert.rejects(
      normalise(() => Promise.reject(new FfmpegError(failure)), 'vp9.webm', asIs),
      (error) => error instanceof TaskError && error.failCode === 'result_invalid',
    );
  });
});
