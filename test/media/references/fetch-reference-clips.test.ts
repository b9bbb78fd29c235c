import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FfmpegError, type FfmpegFailureDetails } from '../../../src/media/ffmpeg/ffmpeg.ts';
import { fetchReferenceClips } from '../../../src/media/references/fetch-reference-clips.ts';
import { runVideoReader } from '../../../src/media/video/run-video-reader.ts';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import * as hostile from '../../support/hostile/hostile-clips.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import type { FfmpegRunner } from '../../../src/catalogue/media/ffmpeg-runner-types.ts';
import {
  assertInvalid,
  client,
  clip,
  codecsOf,
  fetchBytes,
  fetchClip,
  ffmpeg,
  fieldOf,
  folder,
  isRefused,
  limits,
  made,
  never,
  origin,
  root,
  source,
} from './clip-stage.ts';

for (const name of ['film.mp4', 'film.mov', 'film.webm', 'fragments.mp4', 'silent.mp4', 'odd.webm'] as const) {
  test(`${name} becomes an MP4 with H.264 and AAC, by its content and not by its name or type`, async () => {
    const { path, seconds } = await fetchBytes(await clip(name), { kind: 'video' });
    assert.equal(path, join(folder, 'video-0.mp4'));
    assert.deepEqual(await readdir(folder), ['video-0.mp4']);
    assert.ok(Math.abs(seconds - 1) < 0.1, String(seconds));
    const hasSound = name !== 'silent.mp4' && name !== 'odd.webm';
    assert.deepEqual(await codecsOf(path), hasSound ? ['avc', 'aac'] : ['avc']);
    const { widthPx, heightPx } = await checkAndMeasureVideo(path);
    assert.deepEqual([widthPx, heightPx], name === 'odd.webm' ? [96, 64] : [64, 48]);
  });
}

for (const name of ['sound.mp3', 'sound.wav', 'sound.m4a', 'sound.mp4'] as const) {
  test(`${name} becomes an MP3`, async () => {
    const { path, seconds } = await fetchBytes(await clip(name), { kind: 'audio' });
    assert.equal(path, join(folder, 'audio-0.mp3'));
    assert.deepEqual(await readdir(folder), ['audio-0.mp3']);
    assert.ok(Math.abs(seconds - 1) < 0.1, String(seconds));
    assert.deepEqual(await codecsOf(path), ['mp3']);
  });
}

test('sound that is longer than its picture stays whole, and counts for the limit', async () => {
  const longer = await clip('longer-sound.mp4');
  const { path, seconds } = await fetchBytes(longer, { kind: 'video' });
  const measured = await runVideoReader('videoClip', path);
  assert.ok(Math.abs(seconds - 2) < 0.1 && Math.abs((measured?.soundSeconds ?? 0) - 2) < 0.1, String(seconds));
  assert.equal(measured?.frames, 12);
  const limited = { limits: { maxSeconds: 1 } };
  await assertInvalid('video', longer, 'has sound that is longer than 1 seconds', limited);
});

test('no metadata of a clip is passed on', async () => {
  for (const [kind, name] of [
    ['video', 'noted.mov'],
    ['audio', 'noted.mp3'],
  ] as const) {
    const bytes = await clip(name);
    assert.ok(bytes.includes(hostile.privateText), `${name} must hold the text`);
    const { path } = await fetchBytes(bytes, { kind });
    assert.ok(!(await readFile(path)).includes('Ada'), name);
  }
});

test('only files of the field are taken, and ffmpeg never reads another one', async () => {
  const sendVideo = 'send an MP4, MOV, WebM, MKV or AVI video of at most 1 MB and 2 seconds';
  const sendAudio = 'send an MP3, WAV, M4A, AAC, Ogg, FLAC or AIFF file of at most 1 MB and 2 seconds';
  const jpeg = await plainImage(300, 300).jpeg().toBuffer();
  const playlist = `#EXTM3U\n#EXTINF:1,\n${origin()}/part.ts\n`;
  const script = `ffconcat version 1.0\nfile '${join(made, 'film.mp4')}'\n`;
  const manifest = `<?xml version="1.0"?><MPD><BaseURL>${origin()}/</BaseURL></MPD>`;
  const polyglot = Buffer.concat([jpeg, await clip('film.mp4')]);
  for (const [text, found] of [
    [playlist, 'a playlist'],
    [script, 'plain text'],
    [manifest, 'XML'],
    ['\u0001text', 'not a readable video'],
    ['<!DOCTYPE html><title>404</title>', 'a web page'],
  ] as const)
    await assertInvalid('video', Buffer.from(text), `is ${found}; ${sendVideo}`, { ffmpeg: never });
  for (const [name, found] of [
    ['sound.mp3', 'an MP3 file'],
    ['sound.mp4', 'an MP4 file'],
    ['sound.m4a', 'an M4A file'],
    ['sound.flac', 'a FLAC file'],
  ] as const)
    await assertInvalid('video', await clip(name), `is ${found}; ${sendVideo}`, { ffmpeg: never });
  await assertInvalid('video', polyglot, `is a JPEG image; ${sendVideo}`, { ffmpeg: never });
  for (const [name, found] of [
    ['film.mp4', 'an MP4 video'],
    ['film.webm', 'a WebM video'],
    ['film.mkv', 'a Matroska video'],
  ] as const)
    await assertInvalid('audio', await clip(name), `is ${found}; ${sendAudio}`, { ffmpeg: never });
  await assertInvalid('audio', Buffer.from(playlist), `is a playlist; ${sendAudio}`, { ffmpeg: never });
});

test('a playlist or script inside an MP4 leads ffmpeg to no file and no address', async () => {
  for (const text of [`#EXTM3U\n${origin()}/part.ts\n`, `ffconcat version 1.0\nfile '${join(made, 'film.mp4')}'\n`]) {
    await assertInvalid('video', hostile.boxed(text), 'cannot be played as a video');
    assert.equal(source.requests, 1, 'the clip itself');
    source.requests = 0;
    await assertInvalid('video', hostile.disguised(text), 'is damaged or cut off', { ffmpeg: never });
    source.requests = 0;
  }
});

test('a reference to another file is not followed', async () => {
  const referring = hostile.referring(await clip('silent.mp4'), join(made, 'silent.mp4'));
  await writeFile(join(root, 'referring.mov'), referring);
  const follow = [
    '-enable_drefs',
    '1',
    '-use_absolute_path',
    '1',
    '-f',
    'mov',
    '-i',
    'referring.mov',
    '-f',
    'null',
    '-',
  ];
  // This is what the file would make an open ffmpeg do.
  await ffmpeg({ args: follow, cwd: root, signal: new AbortController().signal });
  await assertInvalid('video', referring, 'cannot be played as a video');
});

test('empty, truncated and damaged files are refused', async () => {
  await assertInvalid('video', Buffer.alloc(0), 'is empty');
  const half = (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length / 2));
  const cutOff = 'is damaged or cut off';
  for (const name of ['film.mp4', 'film.mov', 'film.webm', 'fragments.mp4'] as const)
    await assertInvalid('video', half(await clip(name)), cutOff, { ffmpeg: never });
  for (const name of ['sound.wav', 'sound.m4a'] as const)
    await assertInvalid('audio', half(await clip(name)), cutOff, { ffmpeg: never });
  const damaged = await clip('film.mp4');
  damaged.fill(0x55, damaged.indexOf('mdat') + 4);
  await assertInvalid('video', damaged, 'cannot be played as a video');
  await assertInvalid(
    'audio',
    Buffer.concat([Buffer.from('ID3'), Buffer.alloc(5000, 0x41)]),
    'cannot be played as audio',
  );
});

test('clips beyond the limits of the model are refused, not cut', async () => {
  await assertInvalid('video', await clip('three-seconds.mp4'), 'is longer than 2 seconds');
  await assertInvalid('audio', await clip('three-seconds.wav'), 'is longer than 2 seconds');
  for (const name of ['large.mp4', 'larger.webm', 'huge.webm'] as const)
    await assertInvalid('video', await clip(name), 'has more than 20000 pixels (width × height)');
  await assertInvalid('video', await clip('dense.mp4'), 'has more than 120 frames per second');
  await assertInvalid('video', Buffer.alloc(1024 * 1024 + 1), 'is larger than 1 MB', { ffmpeg: never });
  const { seconds } = await fetchBytes(await clip('three-seconds.mp4'), { kind: 'video', limits: { maxSeconds: 3 } });
  assert.ok(seconds < 3.1);
});

test('a clip of a few bytes that declares gigabytes is refused', async () => {
  const silent = await clip('silent.mp4');
  await assertInvalid('video', hostile.declaringSamples(silent, 0x04ff_ffff), 'cannot be played as a video');
  // The size in the stream counts, not the one that the index claims.
  const { path } = await fetchBytes(hostile.declaring(silent, 65_000, 65_000), { kind: 'video' });
  assert.equal((await checkAndMeasureVideo(path)).widthPx, 64);
});

test('an endless body ends at the limit of the model, and a server that answers a failure is named by its status', async () => {
  source.answer = (response) => {
    const chunk = Buffer.alloc(64 * 1024);
    const write = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', write);
    write();
  };
  const tooLarge = `${fieldOf('video')} is larger than 1 MB.`;
  await assert.rejects(fetchClip({ kind: 'video' }), isRefused('media_invalid', tooLarge));
  source.answer = (response) => void response.writeHead(404).end();
  const missing = `${fieldOf('audio')} could not be fetched: its server answered 404.`;
  await assert.rejects(fetchClip({ kind: 'audio' }), isRefused('media_unreachable', missing));
});

test('private and broken servers are media_unreachable with one sentence', async () => {
  const unreachable = isRefused('media_unreachable', `${fieldOf('video')} could not be fetched.`);
  for (const url of ['http://10.0.0.1/', 'http://inner.example/', 'file:///etc/passwd'])
    await assert.rejects(fetchClip({ kind: 'video', url }), unreachable);
  source.answer = (response) => void response.socket?.destroy();
  await assert.rejects(fetchClip({ kind: 'video' }), unreachable);
  source.answer = (response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end();
  await assert.rejects(fetchClip({ kind: 'video' }), unreachable);
});

test('an uploaded clip is read from the store, and its address is never requested', async () => {
  const sources = [{ url: `${origin()}/x`, path: fieldOf('video') }];
  const { signal } = new AbortController();
  const settings = { client, ffmpeg, folder: root, signal, kind: 'video', limits: limits.video, sources } as const;
  const readUpload = async (_url: string, path: string) => {
    await writeFile(path, await clip('film.mp4'));
    return true;
  };
  assert.equal((await fetchReferenceClips({ ...settings, readUpload })).length, 1);
  const expired = fetchReferenceClips({ ...settings, readUpload: async () => false });
  await assert.rejects(expired, isRefused('media_unreachable', `${fieldOf('video')} has expired; upload it again.`));
  assert.equal(source.requests, 0);
});

test('the end of the attempt ends ffmpeg, and is no error of the clip', async () => {
  const stop = new AbortController();
  const stopping: FfmpegRunner = (run) => {
    stop.abort(new Error('the attempt ended'));
    return ffmpeg(run);
  };
  const fetched = fetchBytes(await clip('film.mp4'), { kind: 'video', ffmpeg: stopping, signal: stop.signal });
  await assert.rejects(fetched, /the attempt ended/);
});

const failure = { exitCode: null, killedBy: 'SIGKILL', stalled: false, timedOut: false, stderr: '' };
const failing = (changes: Partial<FfmpegFailureDetails>): FfmpegRunner => {
  return () => Promise.reject(new FfmpegError({ ...failure, ...changes }));
};

test('a clip that keeps ffmpeg busy without an end, or that fills its log, is refused', async () => {
  const bytes = await clip('film.mp4');
  await assertInvalid('video', bytes, 'takes too long to decode', { ffmpeg: failing({ timedOut: true }) });
  const cause = Object.assign(new Error('too much'), { code: 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' });
  await assertInvalid('video', bytes, 'cannot be played as a video', { ffmpeg: failing({ cause }) });
});

test('a failure of this machine is no error of the clip, and may be retried', async () => {
  const full = { exitCode: 1, killedBy: null, stderr: 'No space left on device' };
  for (const changes of [{}, full]) {
    const fetched = fetchBytes(await clip('film.mp4'), { kind: 'video', ffmpeg: failing(changes) });
    await assert.rejects(fetched, FfmpegError);
  }
});

test('a process converts only as many clips at the same time as it has cores for', async () => {
  const bytes = await clip('sound.wav');
  source.answer = (response) => void response.end(bytes);
  let [running, most] = [0, 0];
  const counting: FfmpegRunner = async (run) => {
    running += 1;
    most = Math.max(most, running);
    // Any other conversion that may begin does so before this one ends.
    await ffmpeg(run);
    running -= 1;
  };
  const sources = Array.from({ length: 6 }, (_, index) => ({
    url: `${origin()}/${index}`,
    path: `input.audioUrls[${index}]`,
  }));
  const { signal } = new AbortController();
  const settings = { client, ffmpeg: counting, signal, kind: 'audio', limits: limits.audio } as const;
  const fetchInto = async (name: string) => {
    await mkdir(join(root, name));
    return await fetchReferenceClips({ ...settings, folder: join(root, name), sources });
  };
  // Two tasks share the slots, and the clips of each stay in their order.
  const fetched = await Promise.all([fetchInto('a'), fetchInto('b')]);
  assert.ok(most <= Math.max(1, Math.floor(availableParallelism() / 2)), String(most));
  for (const [index, name] of ['a', 'b'].entries()) {
    const paths = fetched[index]?.map(({ path }) => path);
    assert.deepEqual(
      paths,
      sources.map((_, at) => join(root, name, `audio-${at}.mp3`)),
    );
  }
});
