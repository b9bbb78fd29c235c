import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from '../../clients/typescript/src/index.ts';
import { CommandError } from './output.ts';

/** Downloads the video of a successful task to `path`, which appears only when it is complete. */
export async function saveVideo(client: Client, taskId: string, path: string, signal?: AbortSignal): Promise<void> {
  const { body } = await client.download(taskId, { signal });
  if (body === null) throw new CommandError('The video is empty.');
  const partial = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(partial), { signal });
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
