import { copyFile, open, stat, truncate, type FileHandle } from 'node:fs/promises';

/** Two files of this size at most: the log and the one before it. */
const maxBytes = 5 * 1024 * 1024;

/** For a child's output. A file, not a pipe: the server must outlive us, and writing to a broken pipe would end it. */
export async function openServerLog(path: string): Promise<FileHandle> {
  await boundServerLog(path);
  return open(path, 'a', 0o600);
}

/**
 * Moves a log that has grown too large to `<path>.1` and empties it. It is copied, not renamed, because the server keeps
 * writing into its open file; opened for appending, it continues at the new end. A few lines may be lost in between.
 */
export async function boundServerLog(path: string): Promise<void> {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (size <= maxBytes) return;
  await copyFile(path, `${path}.1`);
  await truncate(path);
}

/** The last lines of the log, for an error message: 2,000 bytes at most. */
export async function serverLogTail(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2_000), 0, 2_000, Math.max(0, size - 2_000));
    return buffer.toString('utf8', 0, bytesRead).trim();
  } finally {
    await file.close();
  }
}
