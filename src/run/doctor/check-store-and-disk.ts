import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskProblemOfCode, readDisk } from '../../platform/process/disk.ts';
import { errorCode, messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import { nameOfStore, type S3Config, type StoreLocation } from '../../media/store/store-location.ts';
import type { MediaFiles } from '../../media/store/result-store.ts';
import { parseAllowList } from '../../platform/outbound/guard/allow-list.ts';
import { createGuardedClient } from '../../platform/outbound/guarded-client.ts';
import { ensureStoreAccess, openMediaFiles } from '../../media/store/open-store.ts';
import { failure, type Finding, ok, warning } from './checks-and-findings.ts';

/** No task has this name. */
const probeFolder = 'doctor';
const probeText = 'Written by videogen doctor; it may be deleted.\n';
const requestMs = 5_000;

/** Writes a file into the store, reads it, opens its link and deletes it. */
export async function checkStore(
  setting: 'RESULT_STORE' | 'RESULT_STORE_ALSO',
  location: StoreLocation,
  config: S3Config,
  tempFolder: string,
): Promise<readonly Finding[]> {
  const check = setting === 'RESULT_STORE' ? 'result store' : 'second result store';
  const remedy = `Correct ${setting} and what belongs to it, or the rights to read, write and delete there.`;
  try {
    await ensureStoreAccess(location, setting, config, { writes: true });
    const linked = await tryFiles(await openMediaFiles(location, config), tempFolder);
    const shown = `${nameOfStore(location)} stores, returns and deletes files`;
    const space =
      location.kind === 'folder' ? await checkFreeSpace(`${check} space`, location.path, videoSpaceThresholds) : [];
    if (linked !== undefined) return [failure(check, linked, 'Compare the clocks of this machine and of the store.')];
    return [ok(check, shown), ...space];
  } catch (error) {
    return [diskErrorFinding(check, nameOfStore(location), error) ?? failure(check, messageOf(error), remedy)];
  }
}

/** Returns what is wrong with links to the store; throws if files cannot be written, read or deleted. */
async function tryFiles(files: MediaFiles, tempFolder: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(tempFolder, 'videogen-doctor-'));
  const key = `${probeFolder}/${process.pid}-${Date.now()}.jpg`;
  try {
    await writeFile(join(folder, 'probe'), probeText);
    await files.put(key, join(folder, 'probe'));
    if ((await files.sizeOf(key)) !== probeText.length) throw new Error('what was written is not there');
    if (!(await files.fetchTo(key, join(folder, 'read')))) throw new Error('what was written cannot be read');
    return await tryLink(files, key);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await files.delete(key);
  }
}

/** Opens a link that a bucket signed, as a client would. */
async function tryLink(files: MediaFiles, key: string): Promise<string | undefined> {
  const link = {
    key,
    contentType: 'image/jpeg',
    downloadName: 'probe.jpg',
    disposition: 'inline',
    linkExpiresAt: Date.now() + 60_000,
  } as const;
  const source = await files.sourceOf(link, 'GET');
  if (source?.kind !== 'redirect') return undefined;
  // The operator chose this address, so it may be private.
  const client = createGuardedClient({ allow: parseAllowList(new URL(source.url).host) });
  try {
    const { status } = await client.get(source.url, { maxBytes: 10_000, maxRedirects: 0, timeoutMs: requestMs });
    return status === 200 ? undefined : `a signed link returned ${status}`;
  } finally {
    await client.close();
  }
}

export type SpaceThresholds = { readonly leastBytes: number; readonly enoughBytes: number };

export const videoSpaceThresholds: SpaceThresholds = { leastBytes: 500e6, enoughBytes: 5e9 };

const freeSpace = 'Free some space, or lower MEDIA_RETENTION_DAYS.';

/** Explains an error of a full or read-only disk; undefined for any other error. */
export function diskErrorFinding(check: string, path: string, error: unknown): Finding | undefined {
  const problem = diskProblemOfCode(errorCode(error));
  if (problem === undefined) return undefined;
  const remedy =
    problem === 'disk full' ? freeSpace : 'Check the disk and how it is mounted; see the log of the system.';
  return failure(check, `${problem}: ${path}`, remedy);
}

/** Checks a folder of the servers of `npm start`; nothing before it exists. */
export async function checkEmbeddedFolderDisk(check: string, path: string): Promise<readonly Finding[]> {
  const disk = await readDisk(path);
  if (disk === undefined) return [];
  const free = `${Math.floor(disk.freeBytes / 1e6)} MB free in ${path}`;
  if (disk.problem === undefined) return [ok(check, free)];
  return [failure(check, `${disk.problem}: ${free}; no tasks are accepted`, freeSpace)];
}

export async function checkFreeSpace(check: string, path: string, space: SpaceThresholds): Promise<readonly Finding[]> {
  const disk = await readDisk(path);
  if (disk === undefined) return [];
  const { freeBytes, problem } = disk;
  const free = freeBytes < 1e9 ? `${Math.floor(freeBytes / 1e6)} MB` : `${(freeBytes / 1e9).toFixed(1)} GB`;
  const shown = `${free} free in ${path}`;
  if (problem !== undefined) return [failure(check, `${problem}: ${shown}; no tasks are accepted`, freeSpace)];
  if (freeBytes < space.leastBytes) return [failure(check, shown, freeSpace)];
  return [freeBytes < space.enoughBytes ? warning(check, shown, freeSpace) : ok(check, shown)];
}
