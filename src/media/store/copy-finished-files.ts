import { extname, join } from 'node:path';
import { sha256Of } from './file-hash.ts';
import type { MediaFiles, StoredFile } from './result-store.ts';
import { withTempFolder } from './with-temp-folder.ts';

/**
 * Files that never change again: results, and files that clients have uploaded. Those of unfinished tasks change, and are finished by
 * the workers that read both stores.
 */
const finishedFolders = ['results', 'uploads'] as const;
const unfinishedFolders = ['staging', 'references', 'incoming'] as const;

/** Files that are copied at the same time. */
const maxParallel = 4;
/** After so many failures the store is the cause, not the files. */
const maxFailed = 20;

export type CopyProgress = {
  readonly files: number;
  readonly bytes: number;
  /** Files that were checked, copied or not. */
  doneFiles: number;
  doneBytes: number;
  copied: number;
  /** The target had them already, from an earlier run or from a worker. */
  present: number;
  /** Deleted while they were copied; no copy is left. */
  deleted: number;
  readonly failed: { readonly key: string; readonly error: unknown }[];
  /** Files of unfinished tasks, which stay where they are. */
  unfinished: number;
};

export type CopyFilesInput = {
  readonly from: MediaFiles;
  readonly to: MediaFiles;
  /** Called often, with the same object. */
  readonly onProgress: (progress: Readonly<CopyProgress>) => void;
  /** After an abort it ends with the files in progress; copied files stay, and the next run continues there. */
  readonly signal: AbortSignal;
};

/**
 * Copies every finished file that `to` lacks, and reads each copy back to compare it. `from` is not changed. Workers may write to
 * `to`, and delete from both, meanwhile (two-stores.ts).
 */
export async function copyFinishedFiles({
  from,
  to,
  onProgress,
  signal,
}: CopyFilesInput): Promise<Readonly<CopyProgress>> {
  const found = await totalOf(listAll(from, finishedFolders));
  const progress: CopyProgress = {
    ...found,
    doneFiles: 0,
    doneBytes: 0,
    copied: 0,
    present: 0,
    deleted: 0,
    failed: [],
    unfinished: 0,
  };
  const running = new Set<Promise<void>>();
  for await (const file of listAll(from, finishedFolders)) {
    if (signal.aborted || progress.failed.length >= maxFailed) break;
    const copy = copyOne(from, to, file).then(
      (outcome) => {
        progress[outcome] += 1;
      },
      (error: unknown) => {
        progress.failed.push({ key: file.key, error });
      },
    );
    const counted: Promise<void> = copy.then(() => {
      progress.doneFiles += 1;
      progress.doneBytes += file.sizeBytes;
      running.delete(counted);
      onProgress(progress);
    });
    running.add(counted);
    if (running.size >= maxParallel) await Promise.race(running);
  }
  await Promise.all(running);
  progress.unfinished = (await totalOf(listAll(from, unfinishedFolders))).files;
  return progress;
}

async function* listAll(files: MediaFiles, folders: readonly string[]): AsyncGenerator<StoredFile> {
  for (const folder of folders) yield* files.list(folder);
}

async function totalOf(listed: AsyncIterable<StoredFile>): Promise<{ files: number; bytes: number }> {
  const total = { files: 0, bytes: 0 };
  for await (const { sizeBytes } of listed) {
    total.files += 1;
    total.bytes += sizeBytes;
  }
  return total;
}

function copyOne(from: MediaFiles, to: MediaFiles, { key }: StoredFile): Promise<'copied' | 'present' | 'deleted'> {
  return withTempFolder(async (folder) => {
    // A store shows a file whole or not at all, and one that a worker has written is newer.
    if ((await to.sizeOf(key)) !== undefined) return 'present';
    const [path, backPath] = ['file', 'back'].map((name) => join(folder, `${name}${extname(key)}`)) as [string, string]; // of two
    if (!(await from.fetchTo(key, path))) return 'deleted';
    await to.put(key, path);
    if (!(await to.fetchTo(key, backPath)) || (await sha256Of(path)) !== (await sha256Of(backPath))) {
      await to.delete(key);
      throw new Error('what was read back is not what was copied');
    }
    if ((await from.sizeOf(key)) !== undefined) return 'copied';
    // The file was deleted in between. A delete begins with `from`, so that of `to` may have preceded this copy.
    await to.delete(key);
    return 'deleted';
  });
}
