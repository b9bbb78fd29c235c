import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sharp } from '../../src/media/pictures/restricted-sharp.ts';
import type { FfmpegRunner } from '../../src/catalogue/media/ffmpeg-runner-types.ts';
import * as clips from '../support/hostile/hostile-clips.ts';
import * as images from '../support/hostile/hostile-images.ts';
import { makeHdrFilm } from './hdr-film.ts';
import { heicOf } from './heic.ts';

// Every file that people send, made on the spot: nothing here is a file of its own. A new file is one line of a table.

export type CorpusFile = {
  readonly name: string;
  readonly kind: 'image' | 'video' | 'audio';
  readonly make: (tools: Tools) => Promise<Buffer> | Buffer;
  /** The refusal, which continues the name of the field or "the file"; undefined for a file that is taken. */
  readonly refused?: RegExp;
  /** Uploads store clips without decoding them, so that some are refused by the task only. */
  readonly isStored?: boolean;
};

export type Tools = { readonly ffmpeg: FfmpegRunner; readonly folder: string };

const size = { width: 400, height: 320 };
const plain = () => images.plainImage(size.width, size.height);

/** Runs ffmpeg once, and returns the file. */
const film =
  (name: string, ...args: readonly string[]) =>
  async ({ ffmpeg, folder }: Tools) => {
    await ffmpeg({ args: [...args, name], cwd: folder, signal: AbortSignal.timeout(600_000) });
    return await readFile(join(folder, name));
  };

const hevc = [
  '-frames:v',
  '1',
  '-pix_fmt',
  'yuv420p',
  '-c:v',
  'libx265',
  '-preset',
  'ultrafast',
  '-x265-params',
  'log-level=error:keyint=1',
  '-tag:v',
  'hvc1',
];
const frame = (width: number, height: number) => [
  '-f',
  'lavfi',
  '-i',
  `color=0xdc1e28:size=${width}x${height}:rate=1`,
  ...hevc,
];
const heic =
  (properties: Partial<Parameters<typeof heicOf>[1]> = {}) =>
  async (tools: Tools) =>
    heicOf(await film('frame.mp4', ...frame(size.width, size.height))(tools), { ...size, ...properties });
const p3Profile = async () => (await sharp(await plain().withIccProfile('p3').png().toBuffer()).metadata()).icc;
const bmp = (format: string) =>
  film(
    `${format}.bmp`,
    '-f',
    'lavfi',
    '-i',
    'color=0xdc1e28:size=401x320',
    '-frames:v',
    '1',
    '-vf',
    `format=${format}`,
    '-f',
    'image2',
  );
const half = (make: CorpusFile['make']) => async (tools: Tools) => {
  const whole = await make(tools);
  return whole.subarray(0, Math.floor(whole.length / 2));
};
const text = (content: string) => () => Buffer.from(content, 'latin1');
const page = text('<!DOCTYPE html>\n<html><head><title>403 Forbidden</title></head></html>');
const noise = () => images.noise(400, 400).jpeg().toBuffer();
/** A TIFF whose first picture is a preview, as in the raw files of cameras. */
const dng = async () => {
  const tiff = await plain().tiff({ compression: 'none' }).toBuffer();
  const list = tiff.readUInt32LE(4);
  // The first tag of sharp's TIFF is the kind of the picture, or its width.
  tiff.writeUInt16LE(254, list + 2);
  tiff.writeUInt16LE(4, list + 4);
  tiff.writeUInt32LE(1, list + 10);
  return tiff;
};
const twoPages = () => {
  const raw = { width: 400, height: 640, channels: 3, pageHeight: 320 } as const;
  return sharp(Buffer.alloc(400 * 640 * 3, 90).fill(200, 0, 400 * 320 * 3), { raw });
};
/** A still with a film behind it. */
const motionPhoto = async (tools: Tools) =>
  Buffer.concat([await plain().jpeg().toBuffer(), await film('motion.mp4', ...clips.clips['film.mp4'])(tools)]);

const send = /; send a JPEG, PNG, WebP, HEIC, AVIF, GIF, BMP or TIFF image of at most \d+ MB, each side 300 to 6000 px/;
const not = (name: string) => new RegExp(`is ${name}${send.source}`);

const pictures: readonly (readonly [name: string, make: CorpusFile['make'], refused?: RegExp])[] = [
  ['photo.jpg', () => plain().jpeg().toBuffer()],
  ['large.jpg', () => images.noise(3000, 3000).jpeg({ quality: 80 }).toBuffer()],
  ['cmyk.jpg', () => plain().toColourspace('cmyk').jpeg().toBuffer()],
  ['turned.jpg', () => images.turnedPhoto()],
  ['motion-photo.jpg', motionPhoto],
  ['multi-picture.jpg', async () => Buffer.concat([await plain().jpeg().toBuffer(), await noise()])],
  ['photo.png', () => plain().png().toBuffer()],
  ['photo.webp', () => plain().webp().toBuffer()],
  ['photo.heic', heic()],
  ['turned.heic', heic({ turns: 1 })],
  ['display-p3.heic', async (tools) => heic({ profile: (await p3Profile()) ?? Buffer.alloc(0) })(tools)],
  ['pq.heic', heic({ colors: [9, 16] })],
  ['photo.avif', () => plain().avif({ effort: 0 }).toBuffer()],
  ['ten-bits.avif', () => plain().avif({ effort: 0, bitdepth: 10 }).toBuffer()],
  ['photo.gif', () => plain().gif().toBuffer()],
  ['true-color.bmp', bmp('bgr24')],
  ['alpha.bmp', bmp('bgra')],
  ['sixteen-bits.bmp', bmp('rgb565le')],
  ['palette.bmp', bmp('rgb8')],
  ['photo.tiff', () => plain().tiff().toBuffer()],
  ['lzw.tiff', () => plain().tiff({ compression: 'lzw' }).toBuffer()],
  ['sixteen-bits.tiff', () => plain().toColourspace('rgb16').tiff({ compression: 'deflate' }).toBuffer()],
  ['moving.webp', () => images.animatedWebp(), /is animated; send a still image/],
  ['moving.png', () => images.animatedPng(), /is animated; send a still image/],
  [
    'moving.gif',
    () =>
      twoPages()
        .gif({ delay: [100, 100] })
        .toBuffer(),
    /is animated; send a still image/,
  ],
  ['pages.tiff', () => twoPages().tiff().toBuffer(), /has 2 pages; send a single image/],
  ['raw.dng', dng, not('a raw photo')],
  ['raw.cr2', text('II*\0\x10\0\0\0CR\x02\0'), not('a Canon raw photo')],
  ['photo.jxl', text('\xff\x0a\0\0\0\0\0\0'), not('a JPEG XL image')],
  ['photo.jp2', text('\0\0\0\x0cjP  \r\n\x87\n\0\0'), not('a JPEG 2000 image')],
  ['drawing.svg', text('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'), not('an SVG image')],
  ['layers.xcf', text('gimp xcf file\0'), not('a GIMP image')],
  ['drawing.wmf', text('\xd7\xcd\xc6\x9a\0\0'), not('a WMF drawing')],
  ['layers.psd', text('8BPS\0\x01\0\0\0\0'), not('a Photoshop image')],
  ['page.html', page, not('a web page')],
  ['error.json', text('{"error":"AccessDenied"}'), not('JSON')],
  ['error.xml', text('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'), not('XML')],
  ['page.pdf', text('%PDF-1.7\n'), not('a PDF document')],
  ['lfs.png', text('version https://git-lfs.github.com/spec/v1\noid sha256:0\n'), not('a pointer of Git LFS')],
  ['random.bin', () => Buffer.from([1, 2, 3, 0, 0xff, 0xfe]), not('not a readable (?:image|file)')],
  ['cut.jpg', half(noise), /is a JPEG image that is damaged or cut off/],
  ['cut.heic', half(heic()), /is a HEIC image that is damaged or cut off/],
  [
    'cut.avif',
    half(() => images.noise(400, 400).avif({ effort: 0 }).toBuffer()),
    /is an AVIF image that is damaged or cut off/,
  ],
  ['cut.bmp', half(bmp('bgr24')), /is a BMP image that is damaged or cut off/],
  [
    'cut.tiff',
    half(() => plain().tiff({ compression: 'none' }).toBuffer()),
    /is a TIFF image that is damaged or cut off/,
  ],
  ['small.heic', heic({ width: 200 }), /is 200×320 px; each side must have 300 to 6000 px/],
  ['bomb.png', () => images.claimedPng(60_000, 60_000), /60000×60000 px/],
  [
    'bomb.heic',
    async (tools) => heicOf(await film('bomb.mp4', ...frame(2048, 1152))(tools), size),
    /is a HEIC image that is damaged or cut off/,
  ],
];

const { picture, sound } = clips;
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
const vp9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-pix_fmt', 'yuv420p'];
const hdr =
  (curve: 'pq' | 'hlg', codec: 'hevc' | 'avc') =>
  async ({ ffmpeg, folder }: Tools) => {
    const name = `${curve}-${codec}.mp4`;
    await makeHdrFilm(ffmpeg, folder, { name, curve, codec, frames: 6 });
    return await readFile(join(folder, name));
  };
const notVideo = (name: string) => new RegExp(`is ${name}; send .*an MP4, MOV, WebM, MKV or AVI video`);

const films: readonly (readonly [name: string, make: CorpusFile['make'], refused?: RegExp, isStored?: boolean])[] = [
  ['film.mp4', film('c.mp4', ...picture(), ...sound(), ...h264, '-c:a', 'aac')],
  ['film.mov', film('c.mov', ...picture(), ...sound(), ...h264, '-c:a', 'pcm_s16le')],
  ['film.webm', film('c.webm', ...picture(), ...sound(), ...vp9, '-c:a', 'libopus')],
  ['film.mkv', film('c.mkv', ...picture(), ...sound(), ...h264, '-c:a', 'flac')],
  ['film.avi', film('c.avi', ...picture(), ...sound(), '-c:v', 'mjpeg', '-c:a', 'pcm_s16le')],
  ['divx.avi', film('d.avi', ...picture(), ...sound(), '-c:v', 'mpeg4', '-c:a', 'libmp3lame')],
  ['phone.3gp', film('c.3gp', ...picture('176x144'), ...h264)],
  ['hlg.mp4', hdr('hlg', 'hevc')],
  ['pq.mp4', hdr('pq', 'hevc')],
  ['hlg-8-bits.mp4', hdr('hlg', 'avc')],
  ['longer-sound.mp4', film('e.mp4', ...picture(), ...sound(3), ...h264, '-c:a', 'aac')],
  [
    'long-sound.mp4',
    film('f.mp4', ...picture(), ...sound(9), ...h264, '-c:a', 'aac'),
    /has sound that is longer than 5 seconds/,
    true,
  ],
  ['long.mp4', film('g.mp4', ...picture('64x48', 8), ...h264), /is longer than 5 seconds/, true],
  [
    'fast.mp4',
    film('h.mp4', '-f', 'lavfi', '-i', 'color=size=16x16:rate=1000:duration=3', ...h264),
    /has more than 120 frames per second/,
    true,
  ],
  ['film.flv', film('c.flv', ...picture(), ...h264), notVideo('a Flash video')],
  ['film.wmv', film('c.asf', ...picture(), '-c:v', 'msmpeg4'), notVideo('a Windows Media file')],
  ['film.ts', film('c.ts', ...picture(), ...h264), notVideo('an MPEG transport stream')],
  ['list.m3u8', text('#EXTM3U\nhttp://10.0.0.1/part.ts\n'), notVideo('a playlist')],
  ['page.mp4', page, notVideo('a web page')],
  ['cut.mkv', half(film('i.mkv', ...picture(), ...h264)), /is damaged or cut off/],
  ['cut.avi', half(film('i.avi', ...picture(), '-c:v', 'mjpeg')), /is damaged or cut off/],
];

const notAudio = (name: string) => new RegExp(`is ${name}; send .*an MP3, WAV, M4A, AAC, Ogg, FLAC or AIFF file`);

const sounds: typeof pictures = [
  ['sound.mp3', film('s.mp3', ...sound(), '-c:a', 'libmp3lame')],
  ['sound.wav', film('s.wav', ...sound())],
  ['sound.m4a', film('s.m4a', ...sound(), '-c:a', 'aac')],
  ['sound.aac', film('s.aac', ...sound(), '-c:a', 'aac')],
  ['vorbis.ogg', film('v.ogg', ...sound(), '-c:a', 'libvorbis')],
  ['voice.ogg', film('o.ogg', ...sound(), '-c:a', 'libopus')],
  ['sound.flac', film('s.flac', ...sound())],
  ['sound.aiff', film('s.aiff', ...sound())],
  ['recorder.webm', film('r.webm', ...sound(), '-c:a', 'libopus')],
  ['sound.mka', film('s.mka', ...sound(), '-c:a', 'libvorbis')],
  ['sound.caf', film('s.caf', ...sound(), '-c:a', 'pcm_s16be'), notAudio('a CAF file')],
  ['sound.wv', text('wvpk\x82\x12\0\0\x03\x04\0\0'), notAudio('a WavPack file')],
  ['sound.ape', text('MAC \x96\x0f\0\0'), notAudio("a Monkey's Audio file")],
  ['sound.ac3', text('\x0bw*gTC\xe1'), notAudio('an AC-3 file')],
  ['sound.dsf', text('DSD \x1c\0\0\0'), notAudio('a DSD file')],
  ['sound.amr', text('#!AMR\n\x3c'), notAudio('an AMR file')],
  ['page.mp3', page, notAudio('a web page')],
];

const rows = { image: pictures, video: films, audio: sounds } as const;

export const corpus: readonly CorpusFile[] = (['image', 'video', 'audio'] as const).flatMap((kind) =>
  rows[kind].map(([name, make, refused, isStored = false]: (typeof films)[number]) => ({
    name,
    kind,
    make,
    isStored,
    ...(refused !== undefined && { refused }),
  })),
);
