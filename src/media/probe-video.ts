import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { EncodedPacketSink, FilePathSource, Input, MP4, QTFF, type InputTrack, type InputVideoTrack } from 'mediabunny';
import { VideoFileError } from './video-file-error.ts';

/** What a video file says of itself, measured from its packets. */
export type VideoFacts = {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly durationSeconds: number;
  readonly framesPerSecond: number;
  /** Pictures in the file. */
  readonly frames: number;
  readonly hasAudio: boolean;
  readonly bytes: number;
  /** Lower-case hexadecimal digest of the whole file. */
  readonly sha256: string;
};

/** The most of the file that is held in memory at once. */
const cacheBytes = 8 * 1024 * 1024;

/** An hour at 60 pictures a second: far beyond what the service makes, so a file with more is not one of ours. */
const mostPackets = 216_000;

/**
 * Measures an MP4 and checks that it plays: an H.264 picture with a decoder configuration, beginning with a key
 * frame, and every packet of every track readable within the file. Throws `VideoFileError` otherwise.
 */
export async function probeVideo(path: string): Promise<VideoFacts> {
  const [{ size: bytes }, sha256, facts] = [await stat(path), await sha256Of(path), await readFacts(path)];
  return { ...facts, bytes, sha256 };
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function readFacts(path: string): Promise<Omit<VideoFacts, 'bytes' | 'sha256'>> {
  const source = new FilePathSource(path, { maxCacheSize: cacheBytes });
  const input = new Input({ formats: [MP4, QTFF], source });
  try {
    return await factsOf(input);
  } catch (error) {
    if (error instanceof VideoFileError) throw error;
    throw new VideoFileError('the file cannot be read as a video', { cause: error });
  } finally {
    input.dispose();
  }
}

async function factsOf(input: Input): Promise<Omit<VideoFacts, 'bytes' | 'sha256'>> {
  const video = await input.getPrimaryVideoTrack();
  if (video === null) throw new VideoFileError('the file has no picture');
  await checkDecodable(video);
  const picture = await readPackets(video);
  const audio = await input.getPrimaryAudioTrack();
  if (audio !== null) await readPackets(audio);
  return {
    widthPx: await video.getDisplayWidth(),
    heightPx: await video.getDisplayHeight(),
    durationSeconds: picture.durationSeconds,
    framesPerSecond: picture.packets / picture.durationSeconds,
    frames: picture.packets,
    hasAudio: audio !== null,
  };
}

async function checkDecodable(video: InputVideoTrack): Promise<void> {
  const codec = await video.getCodec();
  if (codec !== 'avc') throw new VideoFileError(`the picture is ${codec ?? 'of an unknown codec'}, not H.264`);
  const config = await video.getDecoderConfig();
  if (config?.description === undefined) throw new VideoFileError('the picture has no decoder configuration');
}

type Packets = { readonly packets: number; readonly durationSeconds: number };

/** Reads the data of every packet, so a file that was cut short is found out; memory stays within the cache. */
async function readPackets(track: InputTrack): Promise<Packets> {
  const sink = new EncodedPacketSink(track);
  const first = await sink.getFirstPacket();
  if (first === null) throw new VideoFileError(`the ${track.type} track is empty`);
  if (track.isVideoTrack() && first.type !== 'key')
    throw new VideoFileError('the video does not begin with a key frame');
  const seen = { packets: 0, fromSeconds: first.timestamp, toSeconds: first.timestamp };
  for await (const packet of sink.packets(first)) {
    if (packet.data.byteLength === 0) throw new VideoFileError(`a packet of the ${track.type} track is empty`);
    if (++seen.packets > mostPackets) throw new VideoFileError(`more than ${mostPackets} packets`);
    seen.fromSeconds = Math.min(seen.fromSeconds, packet.timestamp);
    seen.toSeconds = Math.max(seen.toSeconds, packet.timestamp + packet.duration);
  }
  // The reader simply stops where the file does, so what it gave is compared with what the index promises.
  const { packetCount } = await track.computePacketStats();
  if (seen.packets !== packetCount)
    throw new VideoFileError(`${seen.packets} of ${packetCount} packets are in the file`);
  const durationSeconds = seen.toSeconds - seen.fromSeconds;
  if (durationSeconds <= 0) throw new VideoFileError(`the ${track.type} track has no length`);
  return { packets: seen.packets, durationSeconds };
}
