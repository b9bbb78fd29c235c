import { open } from 'node:fs/promises';

/** The first sync bytes of two packets of an MPEG transport stream are this far apart. */
const packetBytes = 188;

/** Returns ffmpeg's name for the container of a downloaded file; undefined for a file that is no video, such as a text. */
export async function containerOf(path: string): Promise<string | undefined> {
  const start = await readStart(path);
  const text = start.toString('latin1');
  if (/^[^]{4}(ftyp|moov|mdat|free|skip|wide)/.test(text)) return 'mov';
  if (text.startsWith('\x1aE\xdf\xa3')) return 'matroska';
  if (/^RIFF[^]{4}AVI /.test(text)) return 'avi';
  if (/^GIF8[79]a/.test(text)) return 'gif';
  return start[0] === 0x47 && start[packetBytes] === 0x47 ? 'mpegts' : undefined;
}

async function readStart(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(packetBytes + 1), 0, packetBytes + 1, 0);
  return buffer.subarray(0, bytesRead);
}
