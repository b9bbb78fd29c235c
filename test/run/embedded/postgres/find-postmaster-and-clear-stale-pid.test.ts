import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  clearStalePid,
  findPostmaster,
  folderMarkSetting,
  recordedPostmaster,
} from '../../../../src/run/embedded/postgres/find-postmaster-and-clear-stale-pid.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const port = 15_432;

/** A program with these arguments that waits to be killed. */
async function startProgram(t: TestContext, ...args: readonly string[]): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)', '--', ...args], { stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  return Object.assign(child, { pid: child.pid ?? 0 });
}

async function recordPid(cluster: string, pid: number, state = 'ready'): Promise<void> {
  const lines = [pid, '/var/lib/cluster', 1_790_000_000, port, '/tmp', '127.0.0.1', '123 4', `${state}   `];
  await writeFile(join(cluster, 'postmaster.pid'), lines.join('\n'));
}

const isRecorded = (cluster: string) =>
  access(join(cluster, 'postmaster.pid')).then(
    () => true,
    () => false,
  );

test('the server of a folder is found by its mark, and not in a copy of the folder', async (t) => {
  const [cluster, copy] = [await temporaryFolder(t), await temporaryFolder(t)];
  const { pid } = await startProgram(t, await folderMarkSetting(cluster));
  assert.deepEqual([await recordedPostmaster(cluster), await findPostmaster(cluster)], [undefined, undefined]);
  for (const folder of [cluster, copy]) await recordPid(folder, pid);
  assert.deepEqual(await findPostmaster(cluster), { pid, port, isReady: true });
  assert.equal(await findPostmaster(copy), undefined);
  await recordPid(cluster, pid, 'starting');
  assert.deepEqual(await findPostmaster(cluster), { pid, port, isReady: false });
  await writeFile(join(cluster, 'postmaster.pid'), '0\n');
  assert.equal(await recordedPostmaster(cluster), undefined);
});

test('a pid file is deleted if another program has its pid, and stays if its process may be the server or has ended', async (t) => {
  const [cluster, other] = [await temporaryFolder(t), await temporaryFolder(t)];
  const rows: readonly (readonly [args: readonly string[], stays: boolean])[] = [
    [[await folderMarkSetting(cluster)], true],
    [[await folderMarkSetting(other)], false],
    [['postgres', '-p', `${port}`, '-F'], true],
    [['postgres', '-p', `${port + 1}`, '-F'], false],
    [['mysqld', '-p', `${port}`, '-F'], false],
    // A server on another folder may have the same port.
    [['postgres', '-p', `${port}`, await folderMarkSetting(other)], false],
  ];
  for (const [args, stays] of rows) {
    await recordPid(cluster, (await startProgram(t, ...args)).pid);
    await clearStalePid(cluster);
    assert.equal(await isRecorded(cluster), stays, args.join(' '));
  }
  const ended = await startProgram(t);
  ended.kill('SIGKILL');
  await once(ended, 'exit');
  await recordPid(cluster, ended.pid);
  await clearStalePid(cluster);
  assert.ok(await isRecorded(cluster), 'PostgreSQL finds surviving backends by it');
});
