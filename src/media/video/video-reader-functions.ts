import { type FileHandle, open } from 'node:fs/promises';
import {
  CustomSource,
  type EncodedPacket,
  EncodedPacketSink,
  Input,
  type InputFormat,
  type InputTrack,
  type InputVideoTrack,
  MATROSKA,
  MP3,
  MP4,
  MPEG_TS,
  QTFF,
  WEBM,
} from 'mediabunny';
import { isSystemError } from '../../platform/setup-errors-and-error-messages.ts';
import { wideColorsOf } from '../ffmpeg/hdr.ts';
import { maxIndexBytes } from './mp4-boxes.ts';
import { VideoFileError } from './video-file-error.ts';

// These functions run in the process of `video-reader.ts` alone, because a crafted file can make the library use up all memory.

export type ReaderFunctions = typeof readerFunctions;

export const readerFunctions = {
  /** Measures an MP4 and checks that it plays, as far as that is possible without decoding it. */
  facts: (path: string) => withInput(path, [MP4, QTFF], factsOf),
  /** Returns the first picture and sound of a file, which are those that ffmpeg uses; undefined for a file that cannot be read. */
  streams: (path: string) => withInput(path, [MP4, QTFF, MATROSKA, WEBM, MPEG_TS], streamsIfReadable),
  /** Returns the time of the last picture after the first one; the length of the file may be that of its sound. */
  lastPictureSeconds: (path: string) => withInput(path, [MP4, QTFF], lastPictureSeconds),
  /** Measures a clip that ffmpeg has made; undefined for one without packets. */
  videoClip: (path: string) => withInput(path, [MP4], (input) => clipOf(input, 'video')),
  audioClip: (path: string) => withInput(path, [MP3], (input) => clipOf(input, 'audio')),
  /** Decodes an image. Its decoders are loaded with the first one. */
  picture: async (path: string) =>
    (await import('../pictures/reencode-other-formats-unsafely.ts')).reencodeOtherFormatsUnsafely(path),
} as const;

async function withInput<T>(path: string, formats: InputFormat[], read: (input: Input) => Promise<T>): Promise<T> {
  await using file = await open(path);
  const { size } = await file.stat();
  const input = new Input({ formats, source: boundedSource(file, size) });
  try {
    return await read(input);
  } finally {
    input.dispose();
  }
}

/** The index is read in one piece, and so is a packet. Their memory does not count for the limit of the heap. */
function boundedSource(file: FileHandle, size: number): CustomSource {
  return new CustomSource({
    getSize: () => size,
    read: async (start, end) => {
      if (end - start > maxIndexBytes) throw new VideoFileError(`a part has more than ${maxIndexBytes} bytes`);
      const { buffer, bytesRead } = await file.read(new Uint8Array(end - start), 0, end - start, start);
      return buffer.subarray(0, bytesRead);
    },
    prefetchProfile: 'fileSystem',
  });
}

/** An hour at 60 pictures a second: far beyond what the service makes, so a file with more is not one of ours. */
const mostPackets = 216_000;

async function factsOf(input: Input) {
  const video = await input.getPrimaryVideoTrack();
  if (video === null) throw new VideoFileError('the file has no picture');
  const lengthBytes = await checkDecodable(video);
  const picture = await readPackets(video, (packet) => beginsWithNalUnit(packet, lengthBytes));
  const audio = await input.getPrimaryAudioTrack();
  if (audio !== null) await readPackets(audio);
  return {
    widthPx: await video.getDisplayWidth(),
    heightPx: await video.getDisplayHeight(),
    durationSeconds: picture.durationSeconds,
    framesPerSecond: picture.packets / picture.durationSeconds,
    hasAudio: audio !== null,
  };
}

/** Returns how many bytes hold the length of a unit, to read the packets with: two bits of the configuration (`avcC`) say so. */
async function checkDecodable(video: InputVideoTrack): Promise<number> {
  const codec = await video.getCodec();
  if (codec !== 'avc') throw new VideoFileError(`the picture is ${codec ?? 'of an unknown codec'}, not H.264`);
  // The library declares a type of browsers, which Node's types lack.
  const description: unknown = (await video.getDecoderConfig())?.description;
  if (!(description instanceof Uint8Array) || description[0] !== 1)
    throw new VideoFileError('the picture has no decoder configuration');
  return ((description[4] ?? 0) & 3) + 1;
}

/** Reads the data of every packet, which fails for a file that was cut short. */
async function readPackets(track: InputTrack, isValid: (data: Uint8Array) => boolean = () => true) {
  const sink = new EncodedPacketSink(track);
  const first = await sink.getFirstPacket();
  if (first === null) throw new VideoFileError(`the ${track.type} track is empty`);
  if (track.isVideoTrack() && first.type !== 'key')
    throw new VideoFileError('the video does not begin with a key frame');
  const seen = { packets: 0, fromSeconds: first.timestamp, toSeconds: first.timestamp };
  // Its own iterator reads ahead, which costs more than it saves on a local file.
  for (let packet: EncodedPacket | null = first; packet !== null; packet = await sink.getNextPacket(packet)) {
    if (packet.data.byteLength === 0) throw new VideoFileError(`a packet of the ${track.type} track is empty`);
    if (!isValid(packet.data)) throw new VideoFileError(`a packet of the ${track.type} track holds something else`);
    if (++seen.packets > mostPackets) throw new VideoFileError(`more than ${mostPackets} packets`);
    seen.fromSeconds = Math.min(seen.fromSeconds, packet.timestamp);
    seen.toSeconds = Math.max(seen.toSeconds, packet.timestamp + packet.duration);
  }
  // The reader stops without an error at the end of a cut file, so the packets are compared with the index. One more shows it.
  const { packetCount } = await track.computePacketStats(seen.packets + 1);
  if (seen.packets !== packetCount)
    throw new VideoFileError(`${seen.packets} of ${packetCount} packets are in the file`);
  const durationSeconds = seen.toSeconds - seen.fromSeconds;
  // A file that counts time in units of no length makes it infinite, or not a number.
  if (!(durationSeconds > 0 && durationSeconds < Infinity))
    throw new VideoFileError(`the ${track.type} track has no length`);
  return { packets: seen.packets, durationSeconds };
}

/** True for a packet that begins with a complete unit of H.264, unlike a hole in a file or text instead of a picture. */
function beginsWithNalUnit(packet: Uint8Array, lengthBytes: number): boolean {
  if (packet.length <= lengthBytes) return false;
  const length = packet.subarray(0, lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0);
  const forbidden = (packet[lengthBytes] ?? 0) >= 0x80;
  return length > 0 && length <= packet.length - lengthBytes && !forbidden;
}

/** An error of the disk is not one of the file, so it is thrown. */
function streamsIfReadable(input: Input) {
  return streamsOf(input).catch((error: unknown) => {
    if (isSystemError(error)) throw error;
    return undefined;
  });
}

async function streamsOf(input: Input) {
  const [[video], [audio]] = await Promise.all([input.getVideoTracks(), input.getAudioTracks()]);
  if (video === undefined) return undefined;
  const entry = await video.getInternalCodecId();
  return {
    isMp4: (await input.getFormat()) === MP4,
    isPlayable: entry !== 'avc3' && isPlayable((await video.getDecoderConfig())?.codec),
    widthPx: await video.getDisplayWidth(),
    heightPx: await video.getDisplayHeight(),
    audio: audio && (await audio.getCodec()),
    wideColors: wideColorsOf(await video.getColorSpace()),
    durationSeconds: await video.getDurationFromMetadata(),
  };
}

/** Baseline, Main and High: profiles of H.264 with 8 bits and 4:2:0, which every browser plays. */
function isPlayable(codec: string | undefined): boolean {
  return /^avc1\.(42|4d|64)/i.test(codec ?? '');
}

async function lastPictureSeconds(input: Input): Promise<number> {
  const video = await input.getPrimaryVideoTrack();
  if (video === null) return 0;
  const sink = new EncodedPacketSink(video);
  const [first, last] = [await sink.getFirstPacket(), await sink.getPacket(Infinity, { metadataOnly: true })];
  return (last?.timestamp ?? 0) - (first?.timestamp ?? 0);
}

async function clipOf(input: Input, kind: 'video' | 'audio') {
  const [video, audio] = await Promise.all([input.getPrimaryVideoTrack(), input.getPrimaryAudioTrack()]);
  const track = kind === 'video' ? video : audio;
  const count = (await track?.computePacketStats())?.packetCount ?? 0;
  if (track === null || count === 0) return undefined;
  const pixels = video === null ? 0 : (await video.getDisplayWidth()) * (await video.getDisplayHeight());
  return {
    seconds: await input.computeDuration(),
    soundSeconds: (await audio?.computeDuration()) ?? 0,
    pixels,
    frames: video === null ? 0 : count,
  };
}
