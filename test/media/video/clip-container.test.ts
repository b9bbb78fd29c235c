import assert from 'node:assert/strict';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { clipContainerOf, ClipRefusedError } from '../../../src/media/video/clip-container.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { box } from '../boxes.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const track = (handler: string) => box('trak', box('tkhd'), box('mdia', box('hdlr', Buffer.alloc(8), latin1(handler))));
const iso = (brand: string, ...handlers: readonly string[]) =>
  Buffer.concat([box('ftyp', latin1(`${brand}\0\0\0\0`)), box('moov', ...handlers.map(track))]);

/** `size` is what the header states. */
function riff(form: string, size: number): Buffer {
  const file = latin1(`RIFF....${form}${'.'.repeat(8)}`);
  file.writeUInt32LE(size, 4);
  return file;
}

/** `missing` bytes are stated by the header of the segment, and not in the file. */
function matroska(type: string, codecs: readonly string[], missing = 0): Buffer {
  const head = latin1(`B\x82${String.fromCodePoint(0x80 + type.length)}${type}`);
  const tracks = latin1(codecs.map((codec) => `\x86${String.fromCodePoint(0x80 + codec.length)}${codec}`).join(''));
  return Buffer.concat([
    latin1('\x1aE\xdf\xa3'),
    Buffer.from([0x80 + head.length]),
    head,
    Buffer.from([0x18, 0x53, 0x80, 0x67, 0x80 + tracks.length + missing]),
    tracks,
  ]);
}

/** A live recording does not know its size. */
function live(): Buffer {
  const file = matroska('webm', ['V_VP9']);
  file[4 + 1 + 7 + 4] = 0xff;
  return file;
}

/** A tag of 138 bytes. */
const tagged = (sound: string) => Buffer.concat([latin1('ID3\x04\0\0\0\0\x01\0'), Buffer.alloc(128), latin1(sound)]);
const cutOff = 'is damaged or cut off';

const files: readonly (readonly [string, Buffer, string])[] = [
  ['an MP4', iso('isom', 'soun', 'vide'), 'video mov video.mp4'],
  ['a QuickTime file', iso('qt  ', 'vide'), 'video mov video.mov'],
  ['a QuickTime file without a brand', box('moov', track('vide')), 'video mov video.mov'],
  ['an MP4 with two indexes', Buffer.concat([iso('isom', 'vide'), box('moov', track('soun'))]), 'video mov video.mp4'],
  [
    'a Matroska that names WebM behind its header',
    Buffer.concat([matroska('matroska', ['V_VP9']), Buffer.alloc(256), latin1('B\x82\x84webm')]),
    'video matroska video.mkv',
  ],
  ['an MP4 with sound alone', iso('isom', 'soun'), 'audio mov audio.m4a'],
  ['an M4A with a cover', iso('M4A ', 'vide', 'soun'), 'audio mov audio.m4a'],
  ['an M4B with chapters', iso('M4B ', 'vide', 'soun'), 'audio mov audio.m4a'],
  ['an M4A without sound', iso('M4A ', 'vide'), 'none'],
  ['an MP4 with subtitles alone', iso('isom', 'subt'), 'none'],
  ['an MP4 without an index', box('ftyp', latin1('isom\0\0\0\0')), cutOff],
  ['an MP4 whose end is missing', iso('isom', 'vide').subarray(0, -1), cutOff],
  ['a picture in boxes', iso('avif', 'vide'), 'none'],
  ['an AVI', riff('AVI ', 20), 'video avi video.avi'],
  ['an AVI that is shorter than it states', riff('AVI ', 21), cutOff],
  ['a WAV', riff('WAVE', 20), 'audio wav audio.wav'],
  ['a WAV that is shorter than it states', riff('WAVE', 21), cutOff],
  ['a WAV of a pipe', riff('WAVE', 0x7f_00_00_00), 'audio wav audio.wav'],
  ['a WAV that is far too short', riff('WAVE', 0x7e_ff_ff_ff), cutOff],
  ['a WebM', matroska('webm', ['V_VP9', 'A_OPUS']), 'video matroska video.webm'],
  ['a WebM with sound alone', matroska('webm', ['A_OPUS']), 'audio matroska audio.webm'],
  ['a Matroska file', matroska('matroska', ['A_AAC', 'V_MPEG4']), 'video matroska video.mkv'],
  ['a Matroska file with sound alone', matroska('matroska', ['A_AAC']), 'audio matroska audio.mka'],
  ['a WebM whose end is missing', matroska('webm', ['V_VP9'], 1), cutOff],
  ['a WebM of a live recording', live(), 'video matroska video.webm'],
  ['an Ogg file', latin1(`OggS${'.'.repeat(24)}\x01vorbis`), 'audio ogg audio.ogg'],
  ['an Ogg video', latin1(`OggS${'.'.repeat(24)}\x80theora`), 'none'],
  ['a FLAC file', latin1('fLaC'), 'audio flac audio.flac'],
  ['a FLAC file behind a tag', tagged('fLaC'), 'audio flac audio.flac'],
  ['an AIFF', latin1('FORM....AIFF'), 'audio aiff audio.aiff'],
  ['an AIFC', latin1('FORM....AIFC'), 'audio aiff audio.aiff'],
  ['an AAC file', latin1('\xff\xf1\x50\x80'), 'audio aac audio.aac'],
  ['an MP3 behind a tag', tagged('\xff\xfb\x90\0'), 'audio mp3 audio.mp3'],
  ['MPEG 1', latin1('\xff\xfb\x90\0'), 'audio mp3 audio.mp3'],
  ['MPEG 2', latin1('\xff\xf3\x90\0'), 'audio mp3 audio.mp3'],
  ['MPEG 2.5', latin1('\xff\xe3\x90\0'), 'audio mp3 audio.mp3'],
  ['a reserved version of MPEG', latin1('\xff\xeb\x90\0'), 'none'],
  ['a reserved bit rate', latin1('\xff\xfb\xf0\0'), 'none'],
  ['a reserved sample rate', latin1('\xff\xfb\x9c\0'), 'none'],
  ['an image', latin1('\xff\xd8\xff\xe0'), 'none'],
  ['a playlist', latin1('#EXTM3U'), 'none'],
  ['nothing', Buffer.alloc(0), 'is empty'],
];

for (const [what, bytes, expected] of files)
  test(`the container of ${what}: ${expected}`, async (t) => {
    const path = join(await temporaryFolder(t), 'clip');
    await writeFile(path, bytes);
    const found = await clipContainerOf(path).catch((error: unknown) => {
      assert.ok(error instanceof ClipRefusedError);
      return error.message;
    });
    const shown = typeof found === 'object' ? `${found.kind} ${found.demuxer} ${found.fileName}` : (found ?? 'none');
    assert.equal(shown, expected);
  });

test('an index has 32 MiB at most', async (t) => {
  const path = join(await temporaryFolder(t), 'clip');
  const head = (type: string, contentBytes: number) => {
    const header = latin1(`....${type}`);
    header.writeUInt32BE(header.length + contentBytes);
    return header;
  };
  const [brand, video] = [box('ftyp', latin1('isom\0\0\0\0')), track('vide')];
  for (const [bytes, fileName] of [
    [32 * 1024 * 1024, 'video.mp4'],
    [32 * 1024 * 1024 + 1, undefined],
  ] as const) {
    const filler = head('free', bytes - video.length - 8);
    await writeFile(path, Buffer.concat([brand, head('moov', bytes), video, filler]));
    await truncate(path, brand.length + 8 + bytes);
    const found = clipContainerOf(path);
    if (fileName === undefined) await assert.rejects(found, { name: 'ClipRefusedError', message: cutOff });
    else assert.equal((await found)?.fileName, fileName);
  }
});
