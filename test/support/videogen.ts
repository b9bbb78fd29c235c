import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

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
  return spawnEntryPoint('cli', env, ...args);
}

/** Starts one of the programs that `src/` holds. */
export function spawnEntryPoint(name: 'api' | 'cli' | 'worker', env: NodeJS.ProcessEnv, ...args: string[]): Running {
  const path = fileURLToPath(new URL(`../../src/${name}.js`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  return { child, stdout: () => stdout.join(''), stderr: () => stderr.join('') };
}
