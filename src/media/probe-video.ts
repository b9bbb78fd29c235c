import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import {
  type EncodedPacket,
  EncodedPacketSink,
  FilePathSource,
  Input,
  MP4,
  QTFF,
  type InputTrack,
  type InputVideoTrack,
} from 'mediabunny';
import type { TaskResult } from '../tasks/task.ts';

/** The file is not a playable video. The message gives the reason, for the log. */
export class VideoFileError extends Error {
  override readonly name = 'VideoFileError';
}

/** Measured from the packets of a video; `sha256` is of the whole file. */
export type VideoFacts = Omit<TaskResult, 'videoKey' | 'posterKey' | 'lastFrameKey'>;

/** An hour at 60 pictures a second: far beyond what the service makes, so a file with more is not one of ours. */
const mostPackets = 216_000;

/** Measures an MP4 and checks that it plays, as far as that is possible without decoding it. Throws `VideoFileError` otherwise. */
export async function probeVideo(path: string): Promise<VideoFacts> {
  const { size: bytes } = await stat(path);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const input = new Input({ formats: [MP4, QTFF], source: new FilePathSource(path) });
  try {
    return { ...(await factsOf(input)), bytes, sha256: hash.digest('hex') };
  } catch (error) {
    if (error instanceof VideoFileError) throw error;
    throw new VideoFileError('the file cannot be read as a video', { cause: error });
  } finally {
    input.dispose();
  }
}

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
async function readPackets(track: InputTrack, isSound: (data: Uint8Array) => boolean = () => true) {
  const sink = new EncodedPacketSink(track);
  const first = await sink.getFirstPacket();
  if (first === null) throw new VideoFileError(`the ${track.type} track is empty`);
  if (track.isVideoTrack() && first.type !== 'key')
    throw new VideoFileError('the video does not begin with a key frame');
  const seen = { packets: 0, fromSeconds: first.timestamp, toSeconds: first.timestamp };
  // Its own iterator reads ahead, which costs more than it saves on a local file.
  for (let packet: EncodedPacket | null = first; packet !== null; packet = await sink.getNextPacket(packet)) {
    if (packet.data.byteLength === 0) throw new VideoFileError(`a packet of the ${track.type} track is empty`);
    if (!isSound(packet.data)) throw new VideoFileError(`a packet of the ${track.type} track holds something else`);
    if (++seen.packets > mostPackets) throw new VideoFileError(`more than ${mostPackets} packets`);
    seen.fromSeconds = Math.min(seen.fromSeconds, packet.timestamp);
    seen.toSeconds = Math.max(seen.toSeconds, packet.timestamp + packet.duration);
  }
  // The reader stops without an error at the end of a cut file, so the packets are compared with the index.
  const { packetCount } = await track.computePacketStats();
  if (seen.packets !== packetCount)
    throw new VideoFileError(`${seen.packets} of ${packetCount} packets are in the file`);
  const durationSeconds = seen.toSeconds - seen.fromSeconds;
  if (durationSeconds <= 0) throw new VideoFileError(`the ${track.type} track has no length`);
  return { packets: seen.packets, durationSeconds };
}

/** True for a packet that begins with a complete unit of H.264, unlike a hole in a file or text instead of a picture. */
function beginsWithNalUnit(packet: Uint8Array, lengthBytes: number): boolean {
  if (packet.length <= lengthBytes) return false;
  const length = packet.subarray(0, lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0);
  const forbidden = (packet[lengthBytes] ?? 0) >= 0x80;
  return length > 0 && length <= packet.length - lengthBytes && !forbidden;
}
