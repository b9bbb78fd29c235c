import { samplesPerSecond, type Stereo } from './stereo.ts';

const headerBytes = 44;
const bytesPerFrame = 4;

/** The sound as a WAV file: 16 bits, two channels. Samples are −1 to 1. */
export function wavFile({ left, right }: Stereo): Buffer {
  const dataBytes = left.length * bytesPerFrame;
  const file = Buffer.alloc(headerBytes + dataBytes);
  writeHeader(file, dataBytes);
  for (let i = 0; i < left.length; i++) {
    const at = headerBytes + i * bytesPerFrame;
    file.writeInt16LE(Math.round(32767 * (left[i] ?? 0)), at);
    file.writeInt16LE(Math.round(32767 * (right[i] ?? 0)), at + 2);
  }
  return file;
}

function writeHeader(file: Buffer, dataBytes: number): void {
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(headerBytes - 8 + dataBytes, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(2, 22);
  file.writeUInt32LE(samplesPerSecond, 24);
  file.writeUInt32LE(samplesPerSecond * bytesPerFrame, 28);
  file.writeUInt16LE(bytesPerFrame, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(dataBytes, 40);
}
