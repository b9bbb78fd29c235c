import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const clip = readFileSync(new URL(import.meta.resolve('#assets/instant-clip.mp4')));

/** A video that plays, and differs in its bytes from that of every other job and from the job's own other videos. */
export function paidVideo(jobId: string, video: number): Buffer {
  const mark = Buffer.from(`${jobId} video ${video}`);
  // A box of MP4 that every player skips: its length, its name, and whatever.
  const head = Buffer.alloc(8, 'free', 'latin1');
  head.writeUInt32BE(head.length + mark.length, 0);
  head.write('free', 4, 'latin1');
  return Buffer.concat([clip, head, mark]);
}

export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
