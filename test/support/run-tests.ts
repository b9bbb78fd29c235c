import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { findTemporalCli } from '../../src/embedded/temporal-cli.ts';
import { startTemporal } from '../../src/embedded/temporal-server.ts';
import { outcomesVariable, unproducedOutcomes } from './recorded-outcomes.ts';

// `npm test`: one PostgreSQL and one Temporal server for all test files, each of which makes itself a database and task
// queues of its own. Arguments are parts of file names to run; without any, everything runs. `--script FILE …` runs a
// script beside the same servers instead.

/** Test files at a time: more would measure waiting, not the code, on the two cores this is made for. */
const concurrency = 2;

const say = (message: string) => process.stderr.write(`${message}\n`);
const { cacheFolder, path: searchPath, temporalCliPath } = readConfig();
const folder = await mkdtemp(join(tmpdir(), 'videogen-tests-'));
const explicitPath = temporalCliPath === undefined ? {} : { explicitPath: temporalCliPath };
const cliPath = await findTemporalCli({ cacheFolder, searchPath, log: say, ...explicitPath });
const [postgres, temporal] = await Promise.all([
  startPostgres({ folder: join(folder, 'postgres'), log: say }),
  startTemporal({
    cliPath,
    namespace: 'default',
    log: say,
  }),
]);
const [first, ...rest] = process.argv.slice(2);
const outcomes = join(folder, 'outcomes');
const code = first === '--script' ? await runNode(rest) : await runTests(await testFiles(process.argv.slice(2)));
const unproduced = first === undefined && code === 0 ? unproducedOutcomes(outcomes) : [];
if (unproduced.length > 0)
  say(`These refusals are documented, and no test produces them:\n  ${unproduced.join('\n  ')}`);
await Promise.all([postgres.stop(), temporal.stop()]);
await rm(folder, { recursive: true, force: true });
process.exit(unproduced.length > 0 ? 1 : code);

async function testFiles(wanted: readonly string[]): Promise<readonly string[]> {
  const names = await readdir('dist/test', { recursive: true });
  const files = names.filter((name) => name.endsWith('.test.js')).toSorted();
  const chosen = files.filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
  if (chosen.length === 0) throw new Error(`no test file matches ${wanted.join(', ')}`);
  return chosen.map((name) => join('dist/test', name));
}

function runTests(files: readonly string[]): Promise<number> {
  return runNode(['--enable-source-maps', '--test', `--test-concurrency=${concurrency}`, ...files]);
}

function runNode(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      VIDEOGEN_TEST_POSTGRES: postgres.url,
      VIDEOGEN_TEST_TEMPORAL: temporal.address,
      [outcomesVariable]: outcomes,
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (exitCode) => resolve(exitCode ?? 1));
  });
}
