import { open } from 'node:fs/promises';
import { formatOfBytes } from '../references/file-format.ts';
import { type Box, BoxError, toBoxFile, type BoxFile, boxesIn, readAt } from './mp4-boxes.ts';
import type { StoredUploadName } from '../references/upload-limits-and-addresses.ts';

/** A clip that is refused; `message` continues the name of the clip: `is cut off`. */
export class ClipRefusedError extends Error {
  override readonly name = 'ClipRefusedError';
}

export type ClipKind = 'video' | 'audio';

export type ClipContainer = {
  readonly kind: ClipKind;
  /** ffmpeg's name of the reader. */
  readonly demuxer: 'mov' | 'matroska' | 'avi' | 'mp3' | 'wav' | 'aac' | 'ogg' | 'flac' | 'aiff';
  readonly fileName: StoredUploadName;
};

/**
 * Returns the container of a video or of sound; undefined for every other file, such as a playlist. Reads a few headers only, so that a
 * hostile file costs neither memory nor time. Throws `ClipRefusedError` for a file that is empty or that ends too early.
 */
export async function clipContainerOf(path: string): Promise<ClipContainer | undefined> {
  await using handle = await open(path);
  const file = await toBoxFile(handle);
  if (file.bytes === 0) throw new ClipRefusedError('is empty');
  const start = await readAt(file, 0, startBytes);
  const text = start.toString('latin1');
  if (formatOfBytes(start)?.kind === 'image') return undefined;
  if (/^[^]{4}(ftyp|moov|mdat|free|skip|wide)/.test(text))
    return await isoContainer(file, text.slice(4, 12)).catch(refuse);
  if (text.startsWith('\x1aE\xdf\xa3')) return matroskaContainer(file, start);
  if (/^RIFF[^]{4}AVI /.test(text))
    return riffContainer(file, start, { kind: 'video', demuxer: 'avi', fileName: 'video.avi' });
  if (/^RIFF[^]{4}WAVE/.test(text))
    return riffContainer(file, start, { kind: 'audio', demuxer: 'wav', fileName: 'audio.wav' });
  return await soundContainer(file, text);
}

/** It includes the tracks of a WebM, unless an upstream wrote much in front of them. */
const startBytes = 4096;

/** ffmpeg's readers of sound, by the first bytes. */
const sounds = [
  [/^OggS(?![^]{24,200}?(?:\x80theora|fishead))/, { kind: 'audio', demuxer: 'ogg', fileName: 'audio.ogg' }],
  [/^fLaC/, { kind: 'audio', demuxer: 'flac', fileName: 'audio.flac' }],
  [/^FORM[^]{4}AIF[FC]/, { kind: 'audio', demuxer: 'aiff', fileName: 'audio.aiff' }],
  [/^\xff[\xf0\xf1\xf8\xf9]/, { kind: 'audio', demuxer: 'aac', fileName: 'audio.aac' }],
] as const satisfies readonly (readonly [RegExp, ClipContainer])[];

/** A tag (ID3) may precede an MP3, and any of the others. */
async function soundContainer(file: BoxFile, start: string): Promise<ClipContainer | undefined> {
  const tagBytes = start.startsWith('ID3') ? tagLength(Buffer.from(start.slice(6, 10), 'latin1')) : 0;
  const sound = tagBytes === 0 ? start : (await readAt(file, tagBytes, soundBytes)).toString('latin1');
  const known = sounds.find(([signature]) => signature.test(sound));
  if (known !== undefined) return known[1];
  const isTagged = tagBytes > 0;
  return isTagged || isMp3(Buffer.from(sound, 'latin1'))
    ? { kind: 'audio', demuxer: 'mp3', fileName: 'audio.mp3' }
    : undefined;
}

const soundBytes = 256;

/** The length of a tag has seven bits a byte, and excludes its header. */
function tagLength(size: Buffer): number {
  return 10 + size.reduce((length, byte) => length * 128 + (byte & 0x7f), 0);
}

const cutOff = () => new ClipRefusedError('is damaged or cut off');

function refuse(error: unknown): never {
  throw error instanceof BoxError ? cutOff() : error;
}

/** A larger index describes no clip within our limits, and would fill the memory of its reader. */
const maxIndexBytes = 32 * 1024 * 1024;

/** `head`: the type of the first box and the brand behind it. */
async function isoContainer(file: BoxFile, head: string): Promise<ClipContainer | undefined> {
  let index: Box | undefined;
  for await (const box of boxesIn(file, { from: 0, to: file.bytes })) if (box.type === 'moov') index ??= box;
  if (index === undefined || index.to - index.from > maxIndexBytes) throw cutOff();
  const handlers = await handlersIn(file, index);
  const brand = head.startsWith('ftyp') ? head.slice(4) : 'qt  ';
  // The pictures in an audio file are its cover and chapters.
  const isAudioBrand = brand === 'M4A ' || brand === 'M4B ';
  if (handlers.has('vide') && !isAudioBrand)
    return { kind: 'video', demuxer: 'mov', fileName: brand === 'qt  ' ? 'video.mov' : 'video.mp4' };
  return handlers.has('soun') ? { kind: 'audio', demuxer: 'mov', fileName: 'audio.m4a' } : undefined;
}

/** Returns the types of the tracks, such as `vide` and `soun`. */
async function handlersIn(file: BoxFile, index: Box): Promise<ReadonlySet<string>> {
  const handlers = new Set<string>();
  for await (const track of boxesIn(file, index)) {
    if (track.type !== 'trak') continue;
    for await (const media of boxesIn(file, track)) {
      if (media.type !== 'mdia') continue;
      for await (const box of boxesIn(file, media))
        if (box.type === 'hdlr') handlers.add((await readAt(file, box.from + 8, 4)).toString('latin1'));
    }
  }
  return handlers;
}

const segmentId = 0x18_53_80_67;

function matroskaContainer({ bytes }: BoxFile, start: Buffer): ClipContainer {
  const header = numberAt(start, 4);
  const segmentAt = header === undefined ? Infinity : header.endsAt + header.value;
  if (segmentAt + 4 <= start.length && start.readUInt32BE(segmentAt) === segmentId) {
    const segment = numberAt(start, segmentAt + 4);
    // A live recording does not know its size.
    if (segment?.isUnknown === false && segment.endsAt + segment.value > bytes) throw cutOff();
  }
  const text = start.toString('latin1');
  const isWebm = /B\x82[^]webm/.test(text.slice(0, 256));
  // The ids of codecs begin with the kind of their track. Recorders of browsers write sound alone.
  if (/\x86[\x80-\xff]A_/.test(text) && !/\x86[\x80-\xff]V_/.test(text))
    return { kind: 'audio', demuxer: 'matroska', fileName: isWebm ? 'audio.webm' : 'audio.mka' };
  return { kind: 'video', demuxer: 'matroska', fileName: isWebm ? 'video.webm' : 'video.mkv' };
}

/** A number of EBML: the zero bits at its beginning count its further bytes. */
function numberAt(bytes: Buffer, at: number) {
  const length = Math.clz32(bytes[at] ?? 0) - 23;
  if (length > 8 || at + length > bytes.length) return undefined;
  const digits = [...bytes.subarray(at, at + length)].map((byte, index) =>
    index === 0 ? byte & (0xff >> length) : byte,
  );
  const isUnknown = digits.every((digit, index) => digit === (index === 0 ? 0xff >> length : 0xff));
  return { value: digits.reduce((sum, digit) => sum * 256 + digit, 0), isUnknown, endsAt: at + length };
}

/** Programs that write to a pipe give a size near 2 or 4 GiB, or none. */
const unknownRiffBytes = 0x7f_00_00_00;

/** Throws for a file that is shorter than its header states. */
function riffContainer({ bytes }: BoxFile, start: Buffer, container: ClipContainer): ClipContainer {
  const size = start.readUInt32LE(4);
  if (size < unknownRiffBytes && size > bytes) throw cutOff();
  return container;
}

/** True for the header of a frame: MPEG 1, 2 or 2.5, layer III. */
function isMp3(start: Buffer): boolean {
  const [sync = 0, version = 0, rates = 0] = start;
  const isLayer3 = sync === 0xff && (version & 0xe6) === 0xe2 && (version & 0x18) !== 0x08;
  return isLayer3 && (rates & 0xf0) !== 0xf0 && (rates & 0x0c) !== 0x0c;
}
