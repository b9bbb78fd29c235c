import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { killAll, processesOf } from '../support/processes/processes.ts';
import { waitFor } from '../support/wait-for.ts';

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`the test runner that gets ${signal} stops its servers and what test files started, and removes its folder`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'videogen-runner-'));
    const program = fileURLToPath(new URL('./main.js', import.meta.url));
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined, TMPDIR: folder };
    const runner = spawn(process.execPath, [program, 'runner/fixtures/hangs.js'], { env, stdio: 'ignore' });
    try {
      await waitFor('the child of the file that hangs', async () => {
        const found = await processesOf({ folder });
        return found.some((line) => line.includes('setInterval')) ? true : undefined;
      });
      for (const server of [/postgres/, /temporal/]) assert.match((await processesOf({ folder })).join('\n'), server);
      const ended = once(runner, 'exit');
      runner.kill(signal);
      assert.deepEqual(await ended, [code, null]);
      assert.deepEqual([await processesOf({ folder }), await readdir(folder)], [[], []]);
    } finally {
      await killAll({ folder });
      await rm(folder, { recursive: true });
    }
  });
}
