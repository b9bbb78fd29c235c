import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLockFile, newClaim, releaseLockFile } from './processes/lock-file.ts';

/** Another process of Videogen that is alive owns the data folder. The message is for the operator. */
export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(
      `The data folder ${folder} is in use by process ${pid}. Stop that one first, or set VIDEOGEN_DATA to another folder.`,
    );
    this.pid = pid;
  }
}

export type DataFolderLock = { readonly release: () => Promise<void> };

/**
 * Makes this process the only owner of the data folder (created when missing), until `release` or the end of the process
 * in any manner, `kill -9` included. Throws `DataFolderInUse` at once when a live process owns it.
 * It covers one machine and one pid namespace: two containers that share a folder do not see each other.
 */
export async function lockDataFolder(folder: string): Promise<DataFolderLock> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'videogen.lock');
  const claim = await newClaim();
  const holderPid = await acquireLockFile(path, claim);
  if (holderPid !== undefined) throw new DataFolderInUse(folder, holderPid);
  return { release: () => releaseLockFile(path, claim) };
}
