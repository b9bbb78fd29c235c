import { randomInt } from 'node:crypto';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism, constants, homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, parseEnv } from 'node:util';
import pg from 'pg';
import { readConfig } from '../../src/run/config/config.ts';
import { startPostgres } from '../../src/run/embedded/postgres/postgres-server.ts';
import { findOrDownloadFfmpeg } from '../../src/run/embedded/find-or-download-ffmpeg.ts';
import { findOrDownloadTemporalCli } from '../../src/run/embedded/temporal/temporal-cli.ts';
import { startTemporal } from '../../src/run/embedded/temporal/temporal-server.ts';
import { browserVariable, startSharedBrowser } from '../support/console/browser.ts';
import { killAll } from '../support/processes/processes.ts';
import { outcomesVariable, unproducedOutcomes } from '../support/documents/produced-refusals.ts';
import { seedVariable, type Tier, tierVariable, tiers } from '../support/tier.ts';
import { planRun } from './plan.ts';
import { runPlan } from './run-files.ts';
import { fileLines, isGreen, summaryLines } from './summary.ts';

// Runs the tests: `main.js [--tier fast|full|long] [--without-fast] [PART…]`. Starts one PostgreSQL and one Temporal server for all test
// files, each of which creates its own database and task queues. PART selects the files whose names contain it, of any tier.
// `--script FILE…` runs a script with the same servers instead. The servers are stopped and their folder is removed at the end, also
// after a signal.

const usage = 'main.js [--tier fast|full|long] [--without-fast] [PART…] | --script FILE…';

/** The limit of a process; far above what any takes on a busy machine. */
const processLimitMs = 20 * 60_000;
/** The limit of a whole run is for one that hangs: a machine with ten times the load must not reach it. */
const limitMs: Readonly<Record<Tier, number>> = { fast: 80 * 60_000, full: 120 * 60_000, long: 240 * 60_000 };
/** Processes that run beside one per core: each of them waits for a server, a browser or a timer a fifth of the time and more. */
const processesThatWait = 2;
/** A program takes long to end on a busy machine. */
const exitGraceMs = 60_000;
const testFolder = 'dist/test';
/** Temporal deletes a history only when it has noted, every 30 seconds by default, that the list of workflows has its end. */
const promptDeletion = ['history.visibilityProcessorUpdateAckInterval="1s"'];

const log = (message: string) => process.stderr.write(`${message}\n`);
const stopping = new AbortController();
let stoppedBy: NodeJS.Signals | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stoppedBy = signal;
    stopping.abort();
  });
}

const folder = await mkdtemp(join(tmpdir(), 'videogen-tests-'));
// The servers' own folders, too.
process.env['TMPDIR'] = folder;
let code = 1;
try {
  code = await main(process.argv.slice(2));
} catch (error) {
  log(String(error));
} finally {
  await killAll({ folder });
  await rm(folder, { recursive: true, force: true });
}
// The exit code of a program that a signal ended is 128 and the number of the signal.
const exitCode = stoppedBy === undefined ? code : 128 + constants.signals[stoppedBy];
process.stdout.write('', () => process.exit(exitCode));

async function main(args: readonly string[]): Promise<number> {
  if (args[0] === '--script') return withServers((env) => runScript(args.slice(1), env));
  const options = {
    tier: { type: 'string', default: 'fast' },
    'without-fast': { type: 'boolean', default: false },
  } as const;
  const { values, positionals: parts } = parseArgs({ args: [...args], options, allowPositionals: true });
  const tier = tiers.find((one) => one === values.tier);
  if (tier === undefined) throw new Error(`unknown tier ${values.tier}; usage: ${usage}`);
  return withServers((env) => runTests({ tier, withoutFast: values['without-fast'], parts }, env));
}

async function withServers(run: (env: NodeJS.ProcessEnv) => Promise<number>): Promise<number> {
  const { cacheFolder, path: searchPath, temporalCliPath, ffmpegPath } = readConfig();
  const explicitPath = temporalCliPath === undefined ? {} : { explicitPath: temporalCliPath };
  const cliPath = await findOrDownloadTemporalCli({ cacheFolder, searchPath, log, ...explicitPath });
  const ffmpeg = await findOrDownloadFfmpeg({ explicitPath: ffmpegPath, cacheFolder, log });
  const starting = [
    startPostgres({ folder: join(folder, 'postgres'), log }),
    startTemporal({
      cliPath,
      folder: join(folder, 'temporal'),
      inMemory: true,
      namespace: 'default',
      dynamicConfig: promptDeletion,
      log,
    }),
  ] as const;
  try {
    const [postgres, temporal] = await Promise.all(starting);
    await forgoDurability(postgres.url);
    return await run({
      ...(await provisionedPrograms()),
      ...process.env,
      FFMPEG_PATH: ffmpeg,
      VIDEOGEN_TEST_POSTGRES: postgres.url,
      VIDEOGEN_TEST_TEMPORAL: temporal.address,
    });
  } finally {
    // Also the one that did start when the other did not.
    const started = (await Promise.allSettled(starting)).filter((one) => one.status === 'fulfilled');
    await Promise.allSettled(started.map(({ value }) => value.stop()));
  }
}

/** The databases of the tests need not survive a crash of the machine; each of the thousands of commits would wait for the disk. */
async function forgoDurability(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      await client.query(`alter system set ${setting} = off`);
    }
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
}

/** Variables with the paths of the programs that `ops/ci/provision.sh` has installed on this machine. */
async function provisionedPrograms(): Promise<NodeJS.ProcessEnv> {
  const { XDG_CACHE_HOME: cache = join(homedir(), '.cache') } = process.env;
  return parseEnv(await readFile(join(cache, 'videogen-tests/env'), 'utf8').catch(() => ''));
}

type Selection = Parameters<typeof planRun>[1];

async function runTests(selection: Selection, serverEnv: NodeJS.ProcessEnv): Promise<number> {
  const startedAt = performance.now();
  const { tier, withoutFast, parts } = selection;
  const isTestFile = (name: string) => name.endsWith('.test.js') || (name.endsWith('.js') && parts.includes(name));
  const names = (await readdir(testFolder, { recursive: true })).filter(isTestFile).toSorted();
  if (!names.some((name) => name.startsWith('counterparts/')))
    log('counterparts/ not built: npm ci --workspaces --include-workspace-root installs the SDKs that its tests use');
  const plan = planRun(names, selection);
  if (plan.processes.length + plan.exclusive.length === 0) throw new Error(`no test file matches ${parts.join(', ')}`);
  const seed = Number(process.env[seedVariable] ?? randomInt(2 ** 31));
  log(`tier ${tier}, seed ${seed}`);
  const outcomes = join(folder, 'outcomes');
  const env = { ...serverEnv, [outcomesVariable]: outcomes, [tierVariable]: tier, [seedVariable]: String(seed) };
  const browserFiles = plan.processes.flat().filter((file) => file.startsWith('console/'));
  const browser = browserFiles.length > 1 ? await startSharedBrowser() : undefined;
  const result = await runPlan(plan, {
    folder,
    testFolder,
    env: browser === undefined ? env : { ...env, [browserVariable]: browser.wsEndpoint },
    concurrency: Math.max(2, availableParallelism()) + processesThatWait,
    processLimitMs: () => processLimitMs,
    limitMs: limitMs[tier],
    exitGraceMs,
    signal: stopping.signal,
    onReport: (report) => process.stdout.write(fileLines(report)),
  });
  await browser?.close();
  // Every documented refusal has a test in the fast tier.
  const unproduced = parts.length === 0 && !withoutFast ? unproducedOutcomes(outcomes) : [];
  process.stdout.write(summaryLines(result, { seed, durationMs: performance.now() - startedAt, unproduced }));
  return isGreen(result, unproduced) ? 0 : 1;
}

async function runScript(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, args, { stdio: 'inherit', env });
  stopping.signal.addEventListener('abort', () => child.kill('SIGTERM'));
  const [ended] = (await once(child, 'exit')) as [number | null]; // The arguments of 'exit'.
  return ended ?? 1;
}
