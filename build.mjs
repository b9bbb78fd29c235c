// Builds the project into dist and clients/typescript/dist: `node build.mjs`,
// or `node build.mjs --if-needed`, which does nothing if both are up to date. A
// running service is not disturbed: all files are made in dist.next and then
// moved, each by one rename. `--without-console` is for `npm run openapi`: the
// types of the console follow the description that is about to be written.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const next = 'dist.next';
/** The longest wait for another build to end. */
const waitMs = 5 * 60_000;
const client = 'clients/typescript';

/**
 * Each step is a Node program with its arguments; the steps run sequentially.
 */
const steps = [
  ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--outDir', next],
  // The SDKs that these tests use are in a workspace of their own: `npm ci
  // --workspaces --include-workspace-root` installs them.
  ...(fs.existsSync('test/counterparts') && fs.existsSync('node_modules/openai')
    ? [['node_modules/typescript/bin/tsc', '-p', 'test/counterparts', '--outDir', next]]
    : []),
  ['node_modules/typescript/bin/tsc', '-p', client, '--outDir', `${next}/client-package`],
  ['node_modules/typescript/bin/tsc', '-p', 'src/console'],
  [`${next}/src/temporal/bundle-workflows.js`],
  [`${next}/src/build-console.js`],
];

/** The files that the build reads. The image is built without some of them. */
const sources = ['src', 'activities', 'workflows', 'clients', 'test', 'bench', 'build.mjs', 'tsconfig.json'].concat([
  'package.json',
  'package-lock.json',
]);
/** The folders that the build writes. */
const results = ['dist', `${client}/dist`];
/** Written last: a digest of the sources, and one of the results. */
const stampFile = 'dist/build.json';

const isWithoutConsole = process.argv.includes('--without-console');

process.chdir(import.meta.dirname);
if (process.argv.includes('--if-needed') && isCurrent()) process.exit(0);
await enter();
try {
  const state = stateOfSources();
  for (const step of steps.filter((args) => !isWithoutConsole || !args.join(' ').includes('console'))) run(step);
  const [own, clientFiles] = [filesIn(next), filesIn(`${next}/client-package`)];
  move(`${next}/client-package`, `${client}/dist`, clientFiles);
  move(
    next,
    'dist',
    own.filter((file) => !file.startsWith('client-package') && file !== 'pid'),
  );
  if (!isWithoutConsole) {
    fs.writeFileSync(`${next}/build.json`, JSON.stringify({ state, made: stateOf(results) }));
    fs.renameSync(`${next}/build.json`, stampFile);
  }
} finally {
  fs.rmSync(next, { recursive: true, force: true });
}

/**
 * Waits until no other build runs. The leftovers of a killed build are removed.
 */
async function enter() {
  const own = fs.mkdtempSync(`${next}-`);
  fs.writeFileSync(`${own}/pid`, `${process.pid}`);
  for (const giveUpAt = Date.now() + waitMs; Date.now() < giveUpAt; await pause(100)) {
    try {
      return fs.renameSync(own, next);
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    }
    if (!isAlive(Number(readOr(`${next}/pid`, '0')))) fs.rmSync(next, { recursive: true, force: true });
  }
  fs.rmSync(own, { recursive: true });
  throw new Error(`another build is under way; remove ${next} if there is none`);
}

function run([program, ...args]) {
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' });
  if (status !== 0) {
    fs.rmSync(next, { recursive: true, force: true });
    process.exit(status ?? 1);
  }
}

/** Moves the files, then removes what the build no longer makes. */
function move(from, to, files) {
  for (const file of files) {
    fs.mkdirSync(join(to, file, '..'), { recursive: true });
    fs.renameSync(join(from, file), join(to, file));
  }
  const made = new Set(files);
  const gone = filesIn(to).filter((file) => !made.has(file) && file !== 'build.json');
  for (const file of gone) fs.rmSync(join(to, file));
}

function isCurrent() {
  const { state, made } = JSON.parse(readOr(stampFile, '{}'));
  // The results are compared, too, because a compiler that runs without this
  // program changes them.
  return state === stateOfSources() && made === stateOf(results);
}

/**
 * Returns a digest of the sources and of the steps, which depend on the
 * installed packages.
 */
function stateOfSources() {
  return stateOf(sources, JSON.stringify(steps));
}

/**
 * Returns a digest of the text and the files. Results among the sources and the
 * stamp among the results are left out.
 */
function stateOf(paths, text = '') {
  const hash = createHash('sha256').update(text);
  for (const path of paths.filter((one) => fs.existsSync(one))) {
    const files = fs.statSync(path).isDirectory() ? filesIn(path).map((file) => join(path, file)) : [path];
    const isLeftOut = (file) => file === stampFile || (path === 'clients' && file.startsWith(join(client, 'dist')));
    for (const file of files.filter((one) => !isLeftOut(one)))
      hash.update(`${file}\0`).update(fs.readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

/** Returns every file below the folder, sorted. */
function filesIn(folder) {
  if (!fs.existsSync(folder)) return [];
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return paths.map((path) => path.slice(join(folder).length + 1)).toSorted();
}

function readOr(file, otherwise) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

function isAlive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}
