import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';

/** Runs the text of a module in a process of its own, which is killed with the test. */
export function startProgramText(t: TestContext, text: string): ChildProcessByStdio<null, Readable, null> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  return child;
}
