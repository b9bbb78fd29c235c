import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { endOf, startProgram } from './programs.ts';

export type Finished = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs `videogen …` to its end. */
export async function videogen(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Finished> {
  const { child, stdout, stderr, closed } = spawnVideogen(env, ...args);
  const { code } = await endOf(child);
  await closed;
  return { code, stdout: stdout(), stderr: stderr() };
}

export type Running = {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves when all of its output is there. */
  readonly closed: Promise<unknown>;
};

/** Starts `videogen …`; its output so far can be read at any time. */
export function spawnVideogen(env: NodeJS.ProcessEnv, ...args: readonly string[]): Running {
  return spawnEntryPoint('cli', env, ...args);
}

/** Starts `videogen …` in a folder, against which it resolves the names of files. */
export function spawnVideogenIn(cwd: string, env: NodeJS.ProcessEnv, ...args: readonly string[]): Running {
  return spawnProgram('../../../src/run/cli/cli.js', { env, cwd }, args);
}

/** Starts one of the programs that `src/` holds. */
export function spawnEntryPoint(name: 'api' | 'cli' | 'worker', env: NodeJS.ProcessEnv, ...args: string[]): Running {
  return spawnProgram(`../../../src/run/${name === 'cli' ? 'cli' : 'main'}/${name}.js`, { env }, args);
}

type Surroundings = { readonly env: NodeJS.ProcessEnv; readonly cwd?: string };

function spawnProgram(file: string, { env, cwd }: Surroundings, args: readonly string[]): Running {
  const dataFolder = env['VIDEOGEN_DATA'];
  const child = startProgram(file, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'], dataFolder });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  return { child, stdout: () => stdout.join(''), stderr: () => stderr.join(''), closed: once(child, 'close') };
}
