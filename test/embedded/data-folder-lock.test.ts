import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { DataFolderInUse, lockDataFolder } from '../../src/embedded/data-folder-lock.ts';
import { awkwardFolder, runStarter } from '../support/embedded-processes.ts';

test('a second process is refused with the pid of the first', async (t) => {
  const folder = await awkwardFolder();
  const owner = await runStarter('lock', folder);
  t.after(owner.kill);
  assert.equal(owner.said['locked'], true);
  await assert.rejects(lockDataFolder(folder), (error) => {
    assert.ok(error instanceof DataFolderInUse);
    assert.equal(error.pid, owner.child.pid);
    assert.match(error.message, /in use by process \d+/);
    return true;
  });
});

test('the same process is refused a second time', async (t) => {
  const folder = await awkwardFolder();
  const lock = await lockDataFolder(folder);
  t.after(lock.release);
  await assert.rejects(lockDataFolder(folder), DataFolderInUse);
});

test('a released folder can be locked again and nothing is left in it', async () => {
  const folder = await awkwardFolder();
  await (await lockDataFolder(folder)).release();
  await (await lockDataFolder(folder)).release();
  assert.deepEqual(await readdir(folder), []);
});

test('the lock of a killed process is taken over', async () => {
  const folder = await awkwardFolder();
  await (await runStarter('lock', folder)).kill();
  const lock = await lockDataFolder(folder);
  assert.deepEqual(await readdir(folder), ['videogen.lock']);
  await lock.release();
});

test('the lock of a dead process is taken over although another program has its pid now', async () => {
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'videogen.lock'), JSON.stringify({ pid: 1, startedAt: 'long ago', nonce: 'x' }));
  await (await lockDataFolder(folder)).release();
});

test('an unreadable lock file, as a machine crash may leave it, does not block', async () => {
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'videogen.lock'), '');
  await (await lockDataFolder(folder)).release();
});

test('a guard left by a process killed while taking over does not block', async () => {
  const folder = await awkwardFolder();
  await (await runStarter('lock', folder)).kill();
  const stale = await readFile(join(folder, 'videogen.lock'), 'utf8');
  const { createHash } = await import('node:crypto');
  const guard = `videogen.lock.guard-${createHash('sha256').update(stale).digest('hex').slice(0, 16)}`;
  await writeFile(join(folder, guard), JSON.stringify({ pid: 1, startedAt: 'long ago', nonce: 'y' }));
  const lock = await lockDataFolder(folder);
  assert.deepEqual(await readdir(folder), ['videogen.lock']);
  await lock.release();
});

test('of eight processes that find the same stale lock exactly one gets it', async (t) => {
  const folder = await awkwardFolder();
  await (await runStarter('lock', folder)).kill();
  const contenders = await Promise.all(Array.from({ length: 8 }, () => runStarter('lock', folder)));
  t.after(() => Promise.all(contenders.map((contender) => contender.kill())));
  assert.equal(contenders.filter(({ said }) => said['locked'] === true).length, 1);
});

test('of many contenders in one process, over many rounds, exactly one gets a stale lock', async () => {
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  for (let round = 0; round < 30; round++) {
    const stale = JSON.stringify({ pid: 1, startedAt: 'long ago', nonce: String(round) });
    await writeFile(join(folder, 'videogen.lock'), stale);
    const tries = await Promise.allSettled(Array.from({ length: 12 }, () => lockDataFolder(folder)));
    const won = tries.filter((tried) => tried.status === 'fulfilled');
    assert.equal(won.length, 1, `round ${round}`);
    for (const { value } of won) await value.release();
  }
});
