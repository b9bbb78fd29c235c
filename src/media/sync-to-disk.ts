import { close, fsync, open } from 'node:fs';
import { promisify } from 'node:util';
import { isMissing } from './is-missing.ts';

// Plain descriptors: a FileHandle costs half as much again, and every task needs a dozen of these.
const [opened, synced, closed] = [promisify(open), promisify(fsync), promisify(close)];

/** Writes a file or a folder to the disk. */
export async function syncToDisk(path: string): Promise<void> {
  const descriptor = await opened(path, 'r').catch((error: unknown) => {
    // A folder that is gone was emptied by a delete that came later than our write.
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (descriptor === undefined) return;
  try {
    await synced(descriptor);
  } finally {
    await closed(descriptor);
  }
}
