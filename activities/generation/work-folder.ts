import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Gives `work` an empty folder, which is deleted after it. */
export async function withWorkFolder<T>(root: string, name: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(root, { recursive: true });
  const folder = await mkdtemp(join(root, `${name}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Deletes the folders of killed workers, which have not changed for longer than any attempt lives. */
export async function sweepWorkFolder(root: string, olderThanMs: number): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const name of await readdir(root)) {
    const folder = join(root, name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > olderThanMs) await rm(folder, { recursive: true, force: true });
  }
}
