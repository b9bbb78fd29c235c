import { mkdir, mkdtemp, readdir, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../src/media/is-missing.ts';

/** Gives `work` an empty folder that lives exactly as long as it. */
export async function withWorkFolder<T>(root: string, name: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await newFolder(root, name);
  try {
    return await work(folder);
  } finally {
    await removeFolder(folder);
  }
}

/** The folder above is there but for the first time. */
async function newFolder(root: string, name: string): Promise<string> {
  const make = () => mkdtemp(join(root, `${name}-`));
  return make().catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    await mkdir(root, { recursive: true });
    return make();
  });
}

/** Nearly every one holds files only, and then half the calls to the disk suffice that a recursive removal makes. */
async function removeFolder(folder: string): Promise<void> {
  try {
    for (const name of await readdir(folder)) await unlink(join(folder, name));
    await rmdir(folder);
  } catch {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Deletes what killed workers left behind: folders untouched for longer than any attempt lives. */
export async function sweepWorkFolder(root: string, olderThanMs: number): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const name of await readdir(root)) {
    const folder = join(root, name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > olderThanMs) await rm(folder, { recursive: true, force: true });
  }
}
