import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
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
    // Not `bin/pip`: the script names its folder, which is renamed later.
    await run(join(path, 'bin/python'), ['-m', 'pip', 'install', '--quiet', ...packages]);
  });
  return join(folder, 'bin/python');
}

/** Returns the `node_modules` with these packages, also if they ask for a later Node.js than this one. */
export async function nodeModulesWith(...packages: readonly string[]): Promise<string> {
  const folder = await installed('npm', packages, async (path) => {
    await writeFile(join(path, 'package.json'), '{"private":true}');
    const options = ['--ignore-scripts', '--engine-strict=false', '--no-audit', '--no-fund', '--silent'];
    await run('npm', ['install', ...options, ...packages], { cwd: path });
  });
  return join(folder, 'node_modules');
}

async function installed(kind: string, packages: readonly string[], install: (folder: string) => Promise<void>) {
  const digest = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 12);
  const folder = join(cacheFolder, `${kind}-${digest}`);
  if (await exists(folder)) return folder;
  // Two files that need the same packages may install them at once. Each installs into a folder of its own, and one becomes the shared one.
  await mkdir(cacheFolder, { recursive: true });
  const own = await mkdtemp(`${folder}-`);
  await install(own);
  await rename(own, folder).catch(async (error: unknown) => {
    if (!(await exists(folder))) throw error;
    await rm(own, { recursive: true });
  });
  return folder;
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
