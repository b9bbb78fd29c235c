import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { processFromPs } from '../../../src/embedded/processes/process-from-ps.ts';
import { isStillRunning, runningProcess } from '../../../src/embedded/processes/running-process.ts';

for (const [name, look] of [
  ['the usual way', runningProcess],
  ['ps, the way of macOS', processFromPs],
] as const) {
  test(`${name}: a process is found with its arguments, the same at each look, and not after its end`, async (t) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)', 'some argument'], { stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    const first = await look(pid);
    assert.ok(first !== undefined);
    assert.match(first.command, / some argument$/);
    assert.equal((await look(pid))?.startedAt, first.startedAt);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(await look(pid), undefined);
  });
}

test('a process that has the pid of a dead one is not taken for it', async () => {
  const self = await runningProcess(process.pid);
  assert.ok(self !== undefined);
  assert.equal(await isStillRunning(self), true);
  assert.equal(await isStillRunning({ ...self, startedAt: 'long ago' }), false);
});
