import { cp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../src/platform/database/database.ts';
import { mountSmallDisk, skipsWithoutMount, type SmallDisk } from '../../support/servers/small-disk.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Random } from '../seeded-random.ts';

// Disks of the service that can be made full: of its results, of its log, and of its PostgreSQL, which has a disk of its own as in
// production.

const folders = { 'result store': 'results', log: 'logs', PostgreSQL: 'postgres' } as const;
export type DiskName = keyof typeof folders;
export const diskNames = ['result store', 'log', 'PostgreSQL'] as const satisfies readonly DiskName[];
/** Hours of a run have room; memory is used for what is written only. */
const megabytes = 4_096;

export type Disks = {
  /** Empty where no disk can be mounted. */
  readonly each: ReadonlyMap<DiskName, SmallDisk>;
  /** With `isKept` the contents stay in the folders, for a person who looks for the cause of a violation. */
  readonly unmount: (isKept: boolean) => Promise<void>;
};

/** Gives each of these folders a disk of its own, where that is possible. */
export async function mountDisks(folder: string, say: (message: string) => void): Promise<Disks> {
  const each = new Map<DiskName, SmallDisk>();
  if (skipsWithoutMount !== false) say(`no disk becomes full in this run: ${skipsWithoutMount}`);
  else for (const name of diskNames) each.set(name, await mountSmallDisk(join(folder, folders[name]), { megabytes }));
  const unmount = async (isKept: boolean) => {
    for (const [name, disk] of each) {
      const copy = `${disk.folder}.kept`;
      if (isKept) await cp(disk.folder, copy, { recursive: true });
      disk.unmount();
      if (isKept) await rename(copy, join(folder, folders[name]));
    }
    each.clear();
  };
  return { each, unmount };
}

/** A time in which a disk was full. */
export type FullDisk = {
  readonly name: DiskName;
  /** False if nothing failed for it, so that nothing was tried. */
  readonly wasNoticed: boolean;
  /** False if something still failed long after there was space. */
  readonly isUsable: boolean;
};

export type Fullness = {
  readonly name: DiskName;
  readonly disk: SmallDisk;
  readonly db: Database;
  readonly apis: readonly { readonly baseUrl: string }[];
  readonly random: Random;
};

/** Makes a disk full until this was noticed, and for some seconds more. Nothing is restarted for it. */
export async function fillDisk(fullness: Fullness): Promise<FullDisk> {
  const { name, disk, random } = fullness;
  const looks = looksOf(fullness);
  await disk.takeSpace();
  const wasNoticed = await isSeen(`the full disk: ${name}`, looks.isNoticed);
  if (wasNoticed) await delay(random.between(1_000, 8_000));
  disk.giveSpace();
  const isUsable = await isSeen(`a usable disk: ${name}`, looks.isUsable);
  return { name, wasNoticed, isUsable };
}

type Looks = { readonly isNoticed: () => Promise<boolean>; readonly isUsable: () => Promise<boolean> };

async function isSeen(what: string, look: () => Promise<boolean>): Promise<boolean> {
  const seen = waitFor(what, async () => (await look().catch(() => false)) || undefined);
  return await seen.catch(() => false);
}

function looksOf({ name, db, apis }: Fullness): Looks {
  if (name === 'PostgreSQL') {
    return { isNoticed: async () => !(await canWrite(db)), isUsable: () => canWrite(db) };
  }
  const named = () => Promise.all(apis.map(({ baseUrl }) => namesDisk(baseUrl, name)));
  return {
    isNoticed: async () => (await named()).includes(true),
    isUsable: async () => !(await named()).includes(true),
  };
}

/** True if an API says that this disk is full. One that is down says nothing, and fails the look. */
async function namesDisk(baseUrl: string, name: DiskName): Promise<boolean> {
  const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(30_000) });
  return new RegExp(`disk full: [^"]*\\b${name}\\b`).test(await response.text());
}

const writeRows = {
  name: 'chaos-write-rows',
  text: `insert into chaos_rows select repeat(md5(random()::text), 30) from generate_series(1, 2000)`,
};

/** True if PostgreSQL writes two megabytes, which is more than a disk has that was just made full. */
async function canWrite(db: Database): Promise<boolean> {
  try {
    await db.run({ name: 'chaos-rows', text: 'create table if not exists chaos_rows (words text)' });
    await db.run(writeRows);
    await db.run({ name: 'chaos-no-rows', text: 'truncate chaos_rows' });
    return true;
  } catch {
    return false;
  }
}
