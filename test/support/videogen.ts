import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../cli.js', import.meta.url));

export type Finished = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs `videogen …` to its end. */
export async function videogen(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Finished> {
  const running = spawnVideogen(env, ...args);
  const [code] = (await once(running.child, 'close')) as [number | null]; // what 'close' carries
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

export type Running = { readonly child: ChildProcess; readonly stdout: () => string; readonly stderr: () => string };

/** Starts `videogen …`; its output so far can be read at any time. */
export function spawnVideogen(env: NodeJS.ProcessEnv, ...args: readonly string[]): Running {
  const child = spawn(process.execPath, [cli, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  return { child, stdout: () => stdout.join(''), stderr: () => stderr.join('') };
}
