import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { findTemporalCli } from '../../src/embedded/temporal-cli.ts';
import { startTemporal } from '../../src/embedded/temporal-server.ts';
import { killAll } from './processes.ts';
import { outcomesVariable, unproducedOutcomes } from './recorded-outcomes.ts';
import { runTestFiles } from './run-test-files.ts';

// `npm test`: one PostgreSQL and one Temporal server for all test files, each of which makes itself a database and task
// queues of its own. Arguments are parts of file names to run; without any, everything runs. `--script FILE …` runs a
// script beside the same servers instead, and `--production` runs the tests of test/production, which bring up whole
// installations and have the machine for themselves. Whatever happens, a signal included, the servers are stopped and the folder with
// everything in it is removed.

/** Test files at a time: more would measure waiting, not the code, on the two cores this is made for. */
const concurrency = 2;
/**
 * One looks at the order in which a burst of tasks is generated, the other one saturates the machine. A server of Temporal's that gets no
 * processor loses tasks that it hands out (docs/decisions.md).
 */
const alone = ['survival/outages.test.js', 'survival/overload.test.js'].map((name) => join('dist/test', name));
/**
 * Far above what the longest file takes on a busy machine. All together took 33 minutes on one machine, and more than 45 on a slower one;
 * with what `.ci/run` does before them they stay below an hour.
 */
const fileLimitMs = 15 * 60_000;
const limitMs = 55 * 60_000;

const say = (message: string) => process.stderr.write(`${message}\n`);
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
  code = await run(process.argv.slice(2));
} catch (error) {
  say(String(error));
} finally {
  await killAll({ folder });
  await rm(folder, { recursive: true, force: true });
}
// The exit code of a program that a signal ended is 128 and the number of the signal.
const exitCode = stoppedBy === undefined ? code : 128 + constants.signals[stoppedBy];
process.stdout.write('', () => process.exit(exitCode));

async function run(args: readonly string[]): Promise<number> {
  const { cacheFolder, path: searchPath, temporalCliPath } = readConfig();
  const explicitPath = temporalCliPath === undefined ? {} : { explicitPath: temporalCliPath };
  const cliPath = await findTemporalCli({ cacheFolder, searchPath, log: say, ...explicitPath });
  const starting = [
    startPostgres({ folder: join(folder, 'postgres'), log: say }),
    startTemporal({ cliPath, folder: join(folder, 'temporal'), inMemory: true, namespace: 'default', log: say }),
  ] as const;
  try {
    const [postgres, temporal] = await Promise.all(starting);
    const outcomes = join(folder, 'outcomes');
    const env = {
      ...process.env,
      VIDEOGEN_TEST_POSTGRES: postgres.url,
      VIDEOGEN_TEST_TEMPORAL: temporal.address,
      [outcomesVariable]: outcomes,
    };
    if (args[0] === '--script') return await runScript(args.slice(1), env);
    const isProduction = args[0] === '--production';
    const files = await testFiles(isProduction ? args.slice(1) : args, isProduction);
    const reporter = process.stdout.isTTY ? 'spec' : 'tap';
    const write = (text: string) => process.stdout.write(text);
    const limits = {
      concurrency: isProduction ? 1 : concurrency,
      alone,
      fileLimitMs,
      limitMs,
      signal: stopping.signal,
    };
    if (!(await runTestFiles(files, { folder, env, reporter, write, ...limits }))) return 1;
    const unproduced = args.length === 0 ? unproducedOutcomes(outcomes) : [];
    if (unproduced.length === 0) return 0;
    say(`These refusals are documented, and no test produces them:\n  ${unproduced.join('\n  ')}`);
    return 1;
  } finally {
    // Also the one that did start when the other did not.
    const started = (await Promise.allSettled(starting)).filter((one) => one.status === 'fulfilled');
    await Promise.allSettled(started.map(({ value }) => value.stop()));
  }
}

/** A name in full means this file, whether it holds tests of the product or not. */
async function testFiles(wanted: readonly string[], isProduction: boolean): Promise<readonly string[]> {
  const all = (await readdir('dist/test', { recursive: true })).toSorted();
  const names = all.filter((name) => name.startsWith('production') === isProduction);
  const isWanted = (name: string) => wanted.length === 0 || wanted.some((part) => name.includes(part));
  const chosen = names.filter(
    (name) => (name.endsWith('.js') && wanted.includes(name)) || (name.endsWith('.test.js') && isWanted(name)),
  );
  if (chosen.length === 0) throw new Error(`no test file matches ${wanted.join(', ')}`);
  return chosen.map((name) => join('dist/test', name));
}

async function runScript(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, args, { stdio: 'inherit', env });
  stopping.signal.addEventListener('abort', () => child.kill('SIGTERM'));
  const [ended] = (await once(child, 'exit')) as [number | null]; // what 'exit' carries
  return ended ?? 1;
}
