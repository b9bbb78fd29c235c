import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { Task } from '../../catalogue/tasks/task.ts';

export const maxArchived = 50;

export type ArchiveEntry = {
  readonly name: string;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  readonly open: () => Promise<Readable>;
};

/**
 * Makes a ZIP file of these entries, stored without compression, because videos are compressed already. An entry is opened once the reader
 * has read those before it. An entry that fails, or is shorter than announced, breaks the whole file; if the file is destroyed, the open
 * entry is closed.
 */
export async function zipOfFiles(entries: readonly ArchiveEntry[]): Promise<{ body: Readable; sizeBytes: number }> {
  const zip = new ZipFile();
  const { outputStream: body } = zip;
  if (!(body instanceof Readable)) throw new Error('the output of the archive is not a stream of Node');
  let current: Readable | undefined;
  const fail = (error: Error) => void body.destroy(error);
  zip.once('error', fail);
  body.once('close', () => current?.destroy());
  for (const { name, sizeBytes: size, modifiedAt: mtime, open } of entries) {
    zip.addReadStreamLazy(name, { size, mtime, compress: false }, (pump) => {
      if (body.destroyed) return;
      open().then((source) => {
        current = source;
        source.once('error', fail);
        // The reader may have left while the entry was opened.
        if (body.destroyed) source.destroy();
        else pump(undefined, source);
      }, fail);
    });
  }
  // The declared type of the callback lacks its argument.
  const sizeBytes = await new Promise<number>((resolve) =>
    zip.end(undefined, (...[size]: unknown[]) => resolve(Number(size))),
  );
  return { body, sizeBytes };
}

/** "2026-01-31-videogen-2.0-fast-0a1b2c3d.mp4". The end of an id distinguishes it from its neighbors. */
export function archivedVideoName({ taskId, createdAt, param: { model } }: Task): string {
  const day = new Date(createdAt).toISOString().slice(0, 10);
  return `${day}-${model.replaceAll(/[^\w.-]+/g, '-')}-${taskId.slice(-8)}.mp4`;
}
