import { copyFile, type FileHandle, open, readFile, stat, truncate } from 'node:fs/promises';

/** Two files of this size at most: the log and the one before it. */
const maxBytes = 5 * 1024 * 1024;

/** For a child's output. A file, not a pipe: the server must outlive us, and writing to a broken pipe would end it. */
export async function openServerLog(path: string): Promise<FileHandle> {
  await boundServerLog(path);
  return open(path, 'a', 0o600);
}

/** Copies a log that has grown too large to `<path>.1` and empties it: the server keeps writing into its open file. */
export async function boundServerLog(path: string): Promise<void> {
  const file = await stat(path).catch(() => undefined);
  if (file === undefined || file.size <= maxBytes) return;
  await copyFile(path, `${path}.1`);
  await truncate(path);
}

/** The last lines of the log, for an error message: 2,000 characters at most. */
export async function serverLogTail(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.slice(-2_000).trim();
}
