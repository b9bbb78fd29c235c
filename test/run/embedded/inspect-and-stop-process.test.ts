import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { commandLineFromPs, commandLineOf, stopProcess } from '../../../src/run/embedded/inspect-and-stop-process.ts';

for (const [name, read] of [
  ['the usual way', commandLineOf],
  ['ps, the way of macOS', commandLineFromPs],
] as const) {
  test(`${name}: a process is found with its arguments, and not after its end`, async (t) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)', 'some argument'], { stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    assert.match((await read(pid)) ?? '', / some argument$/);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(await read(pid), undefined);
  });

  test(`${name}: a process that has ended and is never reaped counts as ended`, async (t) => {
    // The shell becomes a program that does not know of its child, so the child is a zombie once it has ended.
    const parent = spawn('/bin/sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 3600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.after(() => parent.kill('SIGKILL'));
    const received: unknown[] = await once(parent.stdout, 'data');
    const pid = Number(String(received[0]));
    const hasEnded = async () => (await read(pid)) === undefined;
    await stopProcess(pid, hasEnded, [{ signal: 'SIGKILL', waitMs: 180_000 }]);
  });
}

test('a process gets each signal until it has ended, and no other; one that outlives them all is an error', async (t) => {
  const steps = [
    { signal: 'SIGTERM', waitMs: 0 },
    { signal: 'SIGKILL', waitMs: 0 },
  ] as const;
  let code: string | undefined;
  const kill = t.mock.method(process, 'kill', () => {
    if (code !== undefined) throw Object.assign(new Error('a test'), { code });
    return true;
  });
  /** The signals to a process that has ended after so many checks. */
  const signalsUntil = async (checks: number) => {
    kill.mock.resetCalls();
    let done = 0;
    await stopProcess(7, () => Promise.resolve((done += 1) > checks), steps);
    return kill.mock.calls.map((call) => call.arguments.join());
  };
  assert.deepEqual(await signalsUntil(0), []);
  assert.deepEqual(await signalsUntil(1), ['7,SIGTERM']);
  assert.deepEqual(await signalsUntil(2), ['7,SIGTERM', '7,SIGKILL']);
  await assert.rejects(signalsUntil(3), /process 7 does not end/);
  code = 'ESRCH';
  assert.deepEqual(await signalsUntil(1), ['7,SIGTERM'], 'it ended before the signal');
  code = 'EPERM';
  await assert.rejects(signalsUntil(1), { code });
});
