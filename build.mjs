// Builds the project into dist and clients/typescript/dist.
//   node build.mjs              checks the types and builds
//   node build.mjs --if-needed  does nothing if the last build is up to date
//   node build.mjs --quick      does not check types, for edits: `npm run check` does
// The bundles of the workflows and of the console are built again only if one
// of their files has changed. A running service is not disturbed: all files are
// made in dist.next and then moved, each by one rename.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const next = 'dist.next';
/** The longest wait for another build to end. */
const waitMs = 5 * 60_000;
const client = 'clients/typescript';

/** The types that console and client read, made from openapi.json. They stand among the sources, which import them. */
const contracts = ['src/console/api/contract.ts', `${client}/src/contract.ts`];
/** The files that the build reads. The image is built without some of them. */
const sources = ['src', 'activities', 'workflows', 'clients', 'test', 'bench', 'build.mjs', 'tsconfig.json'].concat([
  'package.json',
  'package-lock.json',
  'openapi.json',
]);
/** What the build writes. */
const results = ['dist', `${client}/dist`, ...contracts];
/** Written last: digests of the sources, of the inputs of each bundle, and of the results. */
const stampFile = 'dist/build.json';

const isQuick = process.argv.includes('--quick');

process.chdir(import.meta.dirname);
// The SDKs that these tests use are in a workspace of their own: `npm ci
// --workspaces --include-workspace-root` installs them.
const hasCounterparts = fs.existsSync('test/counterparts') && fs.existsSync('node_modules/openai');
const stamp = JSON.parse(readOr(stampFile, '{}'));
if (process.argv.includes('--if-needed') && isCurrent()) process.exit(0);
await enter();
try {
  const state = stateOf(sources);
  await writeContracts();
  compile('tsconfig.json', next);
  if (hasCounterparts) compile('test/counterparts', next);
  compile(client, `${next}/client-package`);
  if (!isQuick) run('node_modules/typescript/bin/tsc', '-p', 'src/console');
  const bundles = { workflows: stateOfWorkflows(), console: stateOfConsole(), clients: stateOfClients() };
  const kept = [
    ...bundle('workflows', `${next}/src/temporal/bundle-workflows.js`, isWorkflowBundle),
    ...bundle('console', `${next}/src/run/build/build-console.js`, isConsole),
    ...bundle('clients', `${next}/src/run/build/pack-client-archives.js`, isClientArchive, `${next}/client-package`),
  ];
  const own = filesIn(next).filter((file) => !file.startsWith('client-package') && file !== 'pid');
  move(`${next}/client-package`, `${client}/dist`, filesIn(`${next}/client-package`));
  move(next, 'dist', own, kept);
  const made = stateOf(results);
  fs.writeFileSync(`${next}/build.json`, JSON.stringify({ state, isChecked: !isQuick, bundles, made }));
  fs.renameSync(`${next}/build.json`, stampFile);

  /** Builds a bundle, or returns the files of the last build if they are up to date. */
  function bundle(name, program, isPart, ...args) {
    const existing = filesIn('dist').filter(isPart);
    if (existing.length > 0 && stamp.bundles?.[name] === bundles[name]) return existing;
    run(program, ...args);
    return [];
  }
} finally {
  fs.rmSync(next, { recursive: true, force: true });
}

/** Before the first compilation, so another compiler makes the program that writes them. */
async function writeContracts() {
  const { buildSync } = await import('esbuild');
  const outfile = `${next}/write-contracts.mjs`;
  buildSync({ entryPoints: ['clients/write-contracts.ts'], bundle: true, platform: 'node', format: 'esm', outfile });
  run(outfile);
  fs.rmSync(outfile);
}

function compile(project, outDir) {
  run('node_modules/typescript/bin/tsc', '-p', project, '--outDir', outDir, ...(isQuick ? ['--noCheck'] : []));
}

function isWorkflowBundle(file) {
  return /^workflow-bundle[\w-]*\.js$/.test(file);
}

function isConsole(file) {
  return file.startsWith('console/');
}

function isClientArchive(file) {
  return file.startsWith('client-archives/');
}

function stateOfClients() {
  return stateOf([
    'clients/typescript',
    'clients/python',
    `${next}/client-package`,
    'src/run/build/pack-client-archives.ts',
  ]);
}

/** Returns a digest of the compiled modules that the workflows import, and of the packages. */
function stateOfWorkflows() {
  const entries = ['workflows/index.js', 'workflows/trace-interceptors.js', 'src/temporal/bundle-workflows.js'];
  return stateOf([...withImports(entries.map((file) => `${next}/${file}`)), 'package-lock.json']);
}

/** Returns a digest of the sources of the console, of the modules that they import, and of the packages. */
function stateOfConsole() {
  const own = filesIn('src/console').map((file) => `src/console/${file}`);
  return stateOf([...withImports([...own, 'src/run/build/build-console.ts']), 'package-lock.json']);
}

/** Returns the modules and what they import from this project, types excluded. */
function withImports(entries) {
  const found = new Set();
  const pending = [...entries];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    const imports = fs.readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^'"]*?from '(\.[^']+)'/gm);
    for (const [, path] of imports) pending.push(join(dirname(file), path));
  }
  return [...found].toSorted((one, other) => (one < other ? -1 : 1));
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

function run(program, ...args) {
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' });
  if (status !== 0) {
    fs.rmSync(next, { recursive: true, force: true });
    process.exit(status ?? 1);
  }
}

/** Moves the files, then removes what the build no longer makes. */
function move(from, to, files, kept = []) {
  for (const file of files) {
    fs.mkdirSync(join(to, file, '..'), { recursive: true });
    fs.renameSync(join(from, file), join(to, file));
  }
  const made = new Set([...files, ...kept, 'build.json']);
  for (const file of filesIn(to).filter((one) => !made.has(one))) fs.rmSync(join(to, file));
}

function isCurrent() {
  const { state, isChecked, made } = stamp;
  // The results are compared, too, because a compiler that runs without this
  // program changes them.
  return (isChecked || isQuick) && state === stateOf(sources) && made === stateOf(results);
}

/** Returns a digest of the files. Results among the sources and the stamp among the results are left out. */
function stateOf(paths) {
  // It decides what is compiled.
  const hash = createHash('sha256').update(String(hasCounterparts));
  for (const path of paths.filter((one) => fs.existsSync(one))) {
    const files = fs.statSync(path).isDirectory() ? filesIn(path).map((file) => join(path, file)) : [path];
    const isResult = (file) => contracts.includes(file) || file.startsWith(join(client, 'dist'));
    const isLeftOut = (file) => file === stampFile || (!results.includes(path) && isResult(file));
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
