import { open } from 'node:fs/promises';
import { type Box, BoxError, boxFile, type BoxFile, boxesIn, readAt } from './mp4-boxes.ts';
import type { UploadName } from './upload.ts';

/** A clip that is refused; `message` continues the name of the clip: `is cut off`. */
export class ClipRefusal extends Error {
  override readonly name = 'ClipRefusal';
}

export type ClipKind = 'video' | 'audio';

/** The container of a clip, by its content. */
export type ClipContainer = {
  readonly kind: ClipKind;
  /** ffmpeg's name of the reader. */
  readonly demuxer: 'mov' | 'matroska' | 'mp3' | 'wav';
  /** Its name as an upload. */
  readonly fileName: UploadName;
};

/**
 * Returns the container of an MP4, MOV, WebM, MP3, WAV or M4A; undefined for every other file, such as a playlist. Reads a few headers
 * only, so that a hostile file costs neither memory nor time. Throws `ClipRefusal` for a file that is empty or that ends too early.
 */
export async function clipContainerOf(path: string): Promise<ClipContainer | undefined> {
  await using handle = await open(path);
  const file = await boxFile(handle);
  if (file.bytes === 0) throw new ClipRefusal('is empty');
  const start = await readAt(file, 0, startBytes);
  const text = start.toString('latin1');
  if (/^[^]{4}(ftyp|moov|mdat|free|skip|wide)/.test(text))
    return await isoContainer(file, text.slice(4, 12)).catch(refuse);
  if (text.startsWith('\x1aE\xdf\xa3')) return webmContainer(file, start);
  if (/^RIFF[^]{4}WAVE/.test(text)) return wavContainer(file, start);
  return isMp3(start) ? { kind: 'audio', demuxer: 'mp3', fileName: 'audio.mp3' } : undefined;
}

/** It includes the header of a WebM. */
const startBytes = 256;

const cutOff = () => new ClipRefusal('is damaged or cut off');

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

function webmContainer({ bytes }: BoxFile, start: Buffer): ClipContainer | undefined {
  if (!start.includes('B\x82\x84webm', 0, 'latin1')) return undefined;
  const header = numberAt(start, 4);
  const segmentAt = header === undefined ? Infinity : header.endsAt + header.value;
  if (segmentAt + 4 <= start.length && start.readUInt32BE(segmentAt) === segmentId) {
    const segment = numberAt(start, segmentAt + 4);
    // A live recording does not know its size.
    if (segment?.isUnknown === false && segment.endsAt + segment.value > bytes) throw cutOff();
  }
  return { kind: 'video', demuxer: 'matroska', fileName: 'video.webm' };
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
const unknownWavBytes = 0x7f_00_00_00;

function wavContainer({ bytes }: BoxFile, start: Buffer): ClipContainer {
  const size = start.readUInt32LE(4);
  if (size < unknownWavBytes && size > bytes) throw cutOff();
  return { kind: 'audio', demuxer: 'wav', fileName: 'audio.wav' };
}

/** True for a tag of MP3 or for the header of a frame: MPEG 1, 2 or 2.5, layer III. */
function isMp3(start: Buffer): boolean {
  if (start.toString('latin1', 0, 3) === 'ID3') return true;
  const [sync = 0, version = 0, rates = 0] = start;
  const isLayer3 = sync === 0xff && (version & 0xe6) === 0xe2 && (version & 0x18) !== 0x08;
  return isLayer3 && (rates & 0xf0) !== 0xf0 && (rates & 0x0c) !== 0x0c;
}
