import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { FfmpegRunner } from '../../../src/catalogue/media/ffmpeg-runner-types.ts';
import { type ClipLimits, convertClip } from '../../../src/media/ffmpeg/convert-clip.ts';
import type { ClipContainer } from '../../../src/media/video/clip-container.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// What ffmpeg may do with a file of a stranger: read this file alone, with few decoders, within bounds of memory, time and size.

const { signal } = new AbortController();
const decoders =
  'h264,hevc,av1,libdav1d,libaom-av1,vp8,vp9,libvpx,libvpx-vp9,mpeg4,prores,mjpeg,' +
  'aac,mp3,mp3float,alac,ac3,eac3,opus,libopus,vorbis,libvorbis,flac,pcm_alaw,pcm_mulaw,adpcm_ms,adpcm_ima_wav,' +
  'pcm_u8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be';

async function runOf(t: TestContext, demuxer: ClipContainer['demuxer'], limits: ClipLimits) {
  const folder = await temporaryFolder(t);
  const [fetchedPath, path] = [join(folder, 'clip.fetched'), join(folder, 'clip')];
  await writeFile(fetchedPath, 'its colors cannot be read');
  const runs: Parameters<FfmpegRunner>[0][] = [];
  const ffmpeg: FfmpegRunner = (run) => {
    runs.push(run);
    return Promise.reject(new Error('it was only asked'));
  };
  const kind = limits.maxPixels === undefined ? 'audio' : 'video';
  await assert.rejects(convertClip({ ffmpeg, kind, demuxer, limits, fetchedPath, path, signal }), /only asked/);
  const [run] = runs;
  assert.ok(run && runs.length === 1);
  const { args, ...others } = run;
  return { args: args.map((arg) => arg.replace(fetchedPath, 'FETCHED').replace(path, 'PATH')), others, folder };
}

const bounded = ['-codec_whitelist', decoders, '-threads', '2', '-max_alloc', '536870912', '-max_pixels'];
const plain = ['-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn'];
const sound = ['-b:a', '192k', '-ac', '2', '-ar', '48000'];

test('a video becomes H.264 and AAC within the limits of its model', async (t) => {
  const { args, others, folder } = await runOf(t, 'mov', { maxMegabytes: 3, maxSeconds: 2, maxPixels: 20_000 });
  assert.deepEqual(others, { cwd: folder, signal, limitMs: 340_000, stallMs: 680_000 });
  const filters = 'scale=iw*sar:ih,setsar=1,crop=trunc(iw/2)*2:trunc(ih/2)*2,trim=end_frame=360';
  assert.deepEqual(args, [
    ...bounded,
    // The square of 142 px and a block of 64 px.
    '42436',
    '-enable_drefs',
    '0',
    '-f',
    'mov',
    '-i',
    'FETCHED',
    '-map',
    '0:V:0',
    '-vf',
    filters,
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-crf',
    '20',
    '-bf',
    '0',
    '-pix_fmt',
    'yuv420p',
    '-a53cc',
    '0',
    '-map',
    '0:a:0?',
    '-c:a',
    'aac',
    ...sound,
    '-threads',
    '2',
    '-t',
    '3',
    '-fs',
    '3145728',
    ...plain,
    '-movflags',
    '+faststart',
    '-f',
    'mp4',
    'PATH',
  ]);
  const large = await runOf(t, 'matroska', { maxMegabytes: 1, maxSeconds: 15, maxPixels: 1_000_000 });
  assert.deepEqual(large.args.slice(bounded.length, bounded.length + 5), [
    '2000000',
    '-f',
    'matroska',
    '-i',
    'FETCHED',
  ]);
  assert.ok(large.args.some((arg) => arg.endsWith('trim=end_frame=1920')));
});

test('sound becomes an MP3 without a tag', async (t) => {
  const { args, others, folder } = await runOf(t, 'wav', { maxMegabytes: 1, maxSeconds: 10 });
  assert.deepEqual(others, { cwd: folder, signal, limitMs: 500_000, stallMs: 1_000_000 });
  assert.deepEqual(args, [
    ...bounded,
    // The largest picture that any file may have.
    '33554432',
    '-f',
    'wav',
    '-i',
    'FETCHED',
    '-vn',
    '-map',
    '0:a:0',
    '-c:a',
    'libmp3lame',
    ...sound,
    '-threads',
    '2',
    '-t',
    '11',
    '-fs',
    '1048576',
    ...plain,
    '-id3v2_version',
    '0',
    '-f',
    'mp3',
    'PATH',
  ]);
});
