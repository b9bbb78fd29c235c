import { createHash, randomBytes } from 'node:crypto';
import { link, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '../../domain/setup-error.ts';
import { runningProcess } from './running-process.ts';
import { writeSynced } from '../write-file-atomically.ts';

/** The text of a lock file: who holds it. Unique for every holder, so a text once seen as stale stays stale. */
export type Claim = string;

/** Taking over lasts milliseconds, so this waits two seconds at most for another one to finish. */
const maxTries = 100;
const pauseMs = 20;

/** A guard goes stale only when its holder is killed within those milliseconds; five times in a row is no accident. */
const maxDepth = 5;

export async function newClaim(): Promise<Claim> {
  const self = await runningProcess(process.pid);
  if (self === undefined) throw new Error('this process cannot read its own start time');
  return JSON.stringify({ pid: self.pid, startedAt: self.startedAt, nonce: randomBytes(8).toString('hex') });
}

/**
 * Takes the lock file; answers undefined on success, otherwise the pid of its live holder.
 *
 * Node has no flock, so: a free lock is taken by `link`, which fails when the name exists and shows the whole text at once.
 * A stale one (its holder is dead) may be replaced only by whoever holds its guard: a lock file of its own, taken in the same
 * manner and named after the stale text. A stale text never comes back, so a late contender that gets the guard after
 * everything is over sees another text and leaves it alone. That closes the gap between looking and removing.
 */
export async function acquireLockFile(path: string, claim: Claim, depth = 0): Promise<number | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    if (await createLock(path, claim)) return undefined;
    const seen = await textOf(path);
    if (seen === undefined) continue;
    const holderPid = await livePid(seen);
    if (holderPid !== undefined) return holderPid;
    if (await takeOver(path, seen, claim, depth)) return undefined;
    await pause(pauseMs);
  }
  throw new Error(`the lock file ${path} stayed contended for ${(maxTries * pauseMs) / 1000} seconds`);
}

/** Removes the lock when it is ours. Nobody else touches the lock of a live holder, so looking first is enough. */
export async function releaseLockFile(path: string, claim: Claim): Promise<void> {
  if ((await textOf(path)) === claim) await rm(path, { force: true });
}

async function createLock(path: string, claim: Claim): Promise<boolean> {
  return withDraft(path, claim, async (draft) => {
    try {
      await link(draft, path);
      return true;
    } catch (error) {
      if (errorCode(error) === 'EEXIST') return false;
      throw error;
    }
  });
}

async function takeOver(path: string, stale: Claim, claim: Claim, depth: number): Promise<boolean> {
  if (depth >= maxDepth) throw new Error(`the lock file ${path} and its guards are stale; remove them by hand`);
  const guard = `${path}.guard-${createHash('sha256').update(stale).digest('hex').slice(0, 16)}`;
  if ((await acquireLockFile(guard, claim, depth + 1)) !== undefined) return false;
  try {
    if ((await textOf(path)) !== stale) return false;
    await withDraft(path, claim, (draft) => rename(draft, path));
    await removeGuards(path, guard);
    return true;
  } finally {
    await releaseLockFile(guard, claim);
  }
}

/** Guards left by holders killed in the act. They stand for texts that are gone, so nobody can act on them any more. */
async function removeGuards(path: string, ours: string): Promise<void> {
  const names = await readdir(dirname(path));
  const left = names.filter((name) => name.startsWith(`${basename(path)}.guard-`) && name !== basename(ours));
  await Promise.all(left.map((name) => rm(join(dirname(path), name), { force: true })));
}

/** The text is on the disk before the name exists, so a lock is never seen empty, not even after a power cut. */
async function withDraft<T>(path: string, claim: Claim, use: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    await writeSynced(draft, claim, 0o644);
    return await use(draft);
  } finally {
    await rm(draft, { force: true });
  }
}

async function textOf(path: string): Promise<Claim | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The holder's pid when it still is the process that wrote the claim; undefined when it is dead or the text is not ours. */
async function livePid(claim: Claim): Promise<number | undefined> {
  const match = /^\{"pid":(\d+),"startedAt":"([^"]+)"/.exec(claim);
  const [, pid, startedAt] = match ?? [];
  if (pid === undefined || startedAt === undefined) return undefined;
  const running = await runningProcess(Number(pid));
  return running?.startedAt === startedAt ? running.pid : undefined;
}
