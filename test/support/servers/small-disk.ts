import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, open, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '../../../src/platform/setup-errors-and-error-messages.ts';
import { waitFor } from '../wait-for.ts';

/** Why no disk can be mounted here; false if one can. */
export const skipsWithoutMount: string | false = tryMount();

function tryMount(): string | false {
  if (process.platform !== 'linux') return 'only Linux mounts a disk in memory';
  const folder = mkdtempSync(join(tmpdir(), 'videogen-mount-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
  if (status === 0) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
  return status === 0 ? false : 'this account may not mount a disk';
}

export type SmallDisk = Awaited<ReturnType<typeof mountSmallDisk>>;

/** Mounts a small disk in memory on a folder, which is created if it is missing. */
export async function mountSmallDisk(folder: string, { megabytes, files }: { megabytes: number; files?: number }) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const limits = `size=${megabytes}m,mode=700${files === undefined ? '' : `,nr_inodes=${files}`}`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', limits, 'tmpfs', folder]);
  const resize = (size: string) => execFileSync('mount', ['-o', `remount,size=${size}`, folder], { stdio: 'ignore' });
  const [filler, many] = [join(folder, 'filler'), join(folder, 'many')];
  return {
    folder,
    fill: () => fillFile(filler),
    /** Makes the disk as large as its content, so that it is full without a large file. */
    takeSpace: () =>
      waitFor('a full disk', async () => {
        const { blocks, bfree, bsize } = await statfs(folder);
        try {
          resize(`${(blocks - bfree) * bsize}`);
          return true;
        } catch {
          // Something was written since the content was measured.
          return undefined;
        }
      }),
    giveSpace: () => void resize(`${megabytes}m`),
    useInodes: async () => {
      await mkdir(many, { recursive: true });
      await untilFull(async (count) => writeFile(join(many, String(count)), ''));
    },
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', folder]),
    makeWritable: () => void execFileSync('mount', ['-o', 'remount,rw', folder]),
    empty: async () => {
      await rm(filler, { force: true });
      await rm(many, { recursive: true, force: true });
    },
    unmount: () => void execFileSync('umount', ['-l', folder]),
  };
}

async function fillFile(path: string): Promise<void> {
  await using file = await open(path, 'w');
  for (const bytes of [1024 * 1024, 4096]) await untilFull(async () => void (await file.write(Buffer.alloc(bytes))));
}

/** Also what the service writes meanwhile counts. */
async function untilFull(write: (count: number) => Promise<void>): Promise<void> {
  for (let count = 0; ; count += 1) {
    try {
      await write(count);
    } catch (error) {
      if (errorCode(error) === 'ENOSPC') return;
      throw error;
    }
  }
}
