import { copyFile, type FileHandle, open, readFile, stat, truncate } from 'node:fs/promises';

const maxBytes = 5 * 1024 * 1024;

/**
 * Opens the log of a child process. It is a file, because a server may outlive
 * this process, and writing to a broken pipe would end the server.
 */
export async function openServerLog(path: string): Promise<FileHandle> {
  // A full disk has no room for the copy, and must not keep the server from starting.
  await rotateServerLogIfLarge(path).catch(() => {});
  return open(path, 'a', 0o600);
}

/** Copies a large log to `<path>.1` and truncates it, because the server writes to its open file. */
export async function rotateServerLogIfLarge(path: string): Promise<void> {
  const file = await stat(path).catch(() => undefined);
  if (file === undefined || file.size <= maxBytes) return;
  await copyFile(path, `${path}.1`);
  await truncate(path);
}

/** Bounds a log every minute, because a service may run for months. Does not keep the process alive. */
export function rotateLogPeriodically(path: string): NodeJS.Timeout {
  return setInterval(() => void rotateServerLogIfLarge(path).catch(() => {}), 60_000).unref();
}

/** Returns the end of the log, for an error message. */
export async function serverLogTail(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.slice(-2_000).trim();
}
