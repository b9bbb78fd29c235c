import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { commandEndingWithParent } from '../../../src/platform/process/command-ending-with-parent.ts';
import { startProgramText } from '../../support/documents/run-program-text.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A process that starts a bound program and prints its pid. */
const starterOf = (program: readonly string[], steps: string) => `
import { spawn } from 'node:child_process';
import { commandEndingWithParent } from ${JSON.stringify(new URL('../../../src/platform/process/command-ending-with-parent.js', import.meta.url).href)};
const { file, args } = commandEndingWithParent('/bin/sh', ${JSON.stringify(program)}, ${steps});
const child = spawn(file, args, { stdio: ['pipe', 'inherit', 'inherit'], detached: true });
child.on('exit', (code, signal) => console.log(code, signal));
setInterval(() => {}, 60_000);
`;

const lives = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

for (const [what, script] of Object.entries({
  'a program': 'echo $$; exec sleep 3600',
  'a program that ignores the first signal': 'trap "" INT; echo $$; while :; do sleep 1; done',
}))
  test(`${what} ends with a process that is killed`, async (t) => {
    const starter = startProgramText(t, starterOf(['-c', script], `[['SIGINT', 1], ['SIGKILL', 0]]`));
    const output: unknown[] = await once(starter.stdout, 'data');
    const pid = Number(String(output[0]).trim());
    assert.ok(lives(pid));
    starter.kill('SIGKILL');
    await waitFor('the end of the program', () => (lives(pid) ? undefined : true));
  });

test('the exit code, the output and the arguments of a program that ends are its own', async () => {
  const { file, args } = commandEndingWithParent(
    '/bin/sh',
    ['-c', 'echo "$1"; cat; exit 7', 'sh', "it's $a"],
    [['SIGKILL', 0]],
  );
  const ended = await promisify(execFile)(file, args).catch((error: unknown) => error);
  const { code, stdout } = ended as { code: unknown; stdout: unknown }; // how execFile rejects
  assert.deepEqual([code, stdout], [7, "it's $a\n"]);
});

test('a program that does not exist has an exit code of its own', async () => {
  const { file, args } = commandEndingWithParent('/nowhere/program', [], [['SIGKILL', 0]]);
  await assert.rejects(promisify(execFile)(file, args), { code: 127 });
});
