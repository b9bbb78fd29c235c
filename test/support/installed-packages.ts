import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

// Clients of other APIs that are installed on their own, once per machine, because they fit no package of ours.

const run = promisify(execFile);
const cacheFolder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'videogen-tests');

/** Returns the Python of an environment that has exactly these packages. */
export async function pythonWith(...packages: readonly string[]): Promise<string> {
  const folder = await installed('python', packages, async (path) => {
    await run('python3', ['-m', 'venv', path]);
    await run(join(path, 'bin/pip'), ['install', '--quiet', ...packages]);
  });
  return join(folder, 'bin/python');
}

/** Returns the `node_modules` with these packages, also if they ask for a later Node.js than this one. */
export async function nodeModulesWith(...packages: readonly string[]): Promise<string> {
  const folder = await installed('npm', packages, async (path) => {
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'package.json'), '{"private":true}');
    const options = ['--ignore-scripts', '--engine-strict=false', '--no-audit', '--no-fund', '--silent'];
    await run('npm', ['install', ...options, ...packages], { cwd: path });
  });
  return join(folder, 'node_modules');
}

async function installed(kind: string, packages: readonly string[], install: (folder: string) => Promise<void>) {
  const digest = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 12);
  const folder = join(cacheFolder, `${kind}-${digest}`);
  const isComplete = await stat(join(folder, 'complete')).then(
    () => true,
    () => false,
  );
  if (isComplete) return folder;
  await rm(folder, { recursive: true, force: true });
  await install(folder);
  await writeFile(join(folder, 'complete'), '');
  return folder;
}
