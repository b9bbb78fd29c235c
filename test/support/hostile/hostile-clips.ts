// Videos and audio that strangers send, made on the spot by ffmpeg or byte by byte: nothing here is a file of its own.

const seconds = 1;
export const picture = (size = '64x48', length = seconds) => [
  '-f',
  'lavfi',
  '-i',
  `testsrc2=size=${size}:rate=12:duration=${length}`,
];
export const sound = (length = seconds) => ['-f', 'lavfi', '-i', `sine=duration=${length}`];
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
const vp9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-pix_fmt', 'yuv420p'];
const indexFirst = ['-movflags', '+faststart'];

/** A text that no clip may carry past us. */
export const privateText = 'taken at 52.5200 N 13.4050 E by Ada';
const tags = ['title', 'comment', 'artist', 'location', 'com.apple.quicktime.location.ISO6709'];
const privateNotes = [
  ...tags.flatMap((tag) => ['-metadata', `${tag}=${privateText}`]),
  '-metadata:s',
  `handler_name=${privateText}`,
  '-metadata:s',
  `title=${privateText}`,
];

/** Arguments of ffmpeg without the name of the file. */
export const clips = {
  'film.mp4': [...picture(), ...sound(), ...h264, '-c:a', 'aac', ...indexFirst],
  'film.mov': [...picture(), ...sound(), ...h264, '-c:a', 'pcm_s16le'],
  'film.webm': [...picture(), ...sound(), ...vp9, '-c:a', 'libopus'],
  'fragments.mp4': [...picture(), ...sound(), ...h264, '-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov'],
  'silent.mp4': [...picture(), ...h264],
  'odd.webm': [...picture('97x65'), ...vp9],
  'longer-sound.mp4': [...picture(), ...sound(2), ...h264, '-c:a', 'aac', ...indexFirst],
  'three-seconds.mp4': [...picture('64x48', 3), ...h264],
  'large.mp4': [...picture('320x240'), ...h264],
  'larger.webm': [...picture('202x100'), ...vp9],
  // One color, because a picture would take seconds to make.
  'huge.webm': ['-f', 'lavfi', '-i', 'color=size=9000x4000', '-frames:v', '1', ...vp9],
  'dense.mp4': ['-f', 'lavfi', '-i', 'color=size=16x16:rate=1000:duration=1', ...h264],
  'noted.mov': [...picture(), ...sound(), ...h264, '-c:a', 'aac', ...privateNotes, '-movflags', '+use_metadata_tags'],
  'sound.mp3': [...sound(), '-c:a', 'libmp3lame'],
  'noted.mp3': [...sound(), '-c:a', 'libmp3lame', ...privateNotes],
  'sound.wav': [...sound(), '-c:a', 'pcm_s16le'],
  'sound.m4a': [...sound(), '-c:a', 'aac', '-f', 'ipod'],
  'sound.mp4': [...sound(), '-c:a', 'aac'],
  'three-seconds.wav': [...sound(3), '-c:a', 'pcm_s16le'],
  'film.mkv': [...picture(), ...h264],
  'film.avi': [...picture(), '-c:v', 'mjpeg'],
  'sound.flac': [...sound(), '-c:a', 'flac'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type ClipName = keyof typeof clips;

/** A box of an MP4. */
export function box(type: string, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

const brand = box('ftyp', 'isom\0\0\x02\0isommp42');
const handler = (type: string) => box('hdlr', `\0\0\0\0\0\0\0\0${type}`, Buffer.alloc(13));

/** The beginning of an MP4, and a text where its content should be. */
export function disguised(text: string): Buffer {
  return Buffer.concat([brand, box('moov', box('trak', box('mdia', handler('vide')))), Buffer.from(text)]);
}

/** As `disguised`, but the text lies in a box, so that the file is whole. */
export function boxed(text: string): Buffer {
  return Buffer.concat([brand, box('moov', box('trak', box('mdia', handler('vide')))), box('mdat', text)]);
}

const at = (bytes: Buffer, type: string) => {
  const found = bytes.indexOf(type, 0, 'latin1');
  if (found === -1) throw new Error(`no box ${type}`);
  return found;
};

/** Replaces the size that the picture of an MP4 declares, in its track and in the configuration of its decoder. */
export function declaring(mp4: Buffer, width: number, height: number): Buffer {
  const changed = Buffer.from(mp4);
  const entry = at(changed, 'avc1\0\0\0\0') + 4;
  changed.writeUInt16BE(width, entry + 24);
  changed.writeUInt16BE(height, entry + 26);
  return changed;
}

/** Makes a tiny index declare this many samples of the same size, all in its chunks: an index of gigabytes when it is unpacked. */
export function declaringSamples(mp4: Buffer, samples: number): Buffer {
  const changed = Buffer.from(mp4);
  const sizes = at(changed, 'stsz') + 4;
  changed.writeUInt32BE(1, sizes + 4);
  changed.writeUInt32BE(samples, sizes + 8);
  const times = at(changed, 'stts') + 4;
  changed.writeUInt32BE(samples, times + 8);
  const chunks = at(changed, 'stsc') + 4;
  changed.writeUInt32BE(samples, chunks + 12);
  return changed;
}

/** Has no data of its own, and an alias of QuickTime, which refers to a file on this machine. */
export function referring(mp4: Buffer, path: string): Buffer {
  const from = at(mp4, 'dref') - 4;
  const [head, skipped, end] = [Buffer.alloc(4), Buffer.alloc(150), Buffer.from([0xff, 0xff, 0, 0])];
  const name = Buffer.from(path.length % 2 === 0 ? path : `${path}\0`);
  head.writeUInt16BE(2, 0);
  head.writeUInt16BE(name.length, 2);
  const reference = box('dref', '\0\0\0\0\0\0\0\x01', box('alis', '\0\0\0\0', skipped, head, name, end));
  const growth = reference.length - mp4.readUInt32BE(from);
  const changed = Buffer.concat([mp4.subarray(0, from), reference, mp4.subarray(from + mp4.readUInt32BE(from))]);
  // Its parents grow with it.
  for (const parent of ['moov', 'trak', 'mdia', 'minf', 'dinf']) {
    const size = mp4.lastIndexOf(parent, from, 'latin1') - 4;
    changed.writeUInt32BE(changed.readUInt32BE(size) + growth, size);
  }
  return changed.fill(0, at(changed, 'mdat') + 4, at(changed, 'moov') - 4);
}
