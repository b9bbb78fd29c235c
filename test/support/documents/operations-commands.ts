import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Commands of docs/operations, run as they are written there, in a shell.

const pages = readdirSync('docs/operations');

/** The lines of the only block of commands, of all pages or of one, that has this command. A line that ends in `\` continues in the next one. */
export function commandsBeside(command: string, page?: string): readonly string[] {
  const texts = (page === undefined ? pages : [page]).map((name) => readFileSync(`docs/operations/${name}`, 'utf8'));
  const blocks = texts.flatMap((text) => [...text.matchAll(/^```\w*\n(.*?)^```$/gms)]).map(([, text = '']) => text);
  const found = blocks.filter((text) => text.split('\n').some((line) => line.startsWith(command)));
  assert.equal(found.length, 1, `blocks with "${command}"`);
  const [block = ''] = found;
  return block
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line !== '');
}

export type Shell = {
  /** Runs a line to its end; one that fails is a failure of the test. */
  readonly run: (line: string) => Promise<string>;
  /** Starts a command that runs until it is stopped. */
  readonly start: (line: string) => ChildProcess;
};

/** A shell in which `videogen` is the command line of this build; `folder` holds it. */
export async function createShell(
  folder: string,
  env: NodeJS.ProcessEnv,
  path: readonly string[] = [],
): Promise<Shell> {
  const programs = join(folder, 'bin');
  await mkdir(programs, { recursive: true });
  const cli = fileURLToPath(new URL('../../../src/run/cli/cli.js', import.meta.url));
  await writeFile(join(programs, 'videogen'), `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`);
  await chmod(join(programs, 'videogen'), 0o755);
  const surroundings = { ...env, PATH: [programs, ...path, process.env['PATH']].join(delimiter) };
  const start = (line: string) =>
    spawn('bash', ['-euo', 'pipefail', '-c', line], { env: surroundings, stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    start,
    run: async (line) => {
      const child = start(line);
      const [stdout, stderr]: [string[], string[]] = [[], []];
      child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
      await once(child, 'close');
      assert.equal(child.exitCode, 0, `${line}\n${stdout.join('')}${stderr.join('')}`);
      return stdout.join('');
    },
  };
}
