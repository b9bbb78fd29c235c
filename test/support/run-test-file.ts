import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { killAll, remainingOf } from './processes.ts';

export const countNames = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const;
export type Counts = Readonly<Record<(typeof countNames)[number], number>>;

export type TestFileReport = {
  readonly file: string;
  /** What node:test reports, without its counts. */
  readonly results: string;
  /** What the tests and the programs they started wrote to stdout and stderr. */
  readonly said: string;
  readonly counts: Counts;
  /** What is wrong with the file as a whole, beside the tests that fail. */
  readonly faults: readonly string[];
  readonly durationMs: number;
};

export type TestFileRun = {
  /** Does not exist yet; whatever the file leaves is in it. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly reporter: 'tap' | 'spec';
  /** Aborting kills the file with all that it has started; the reason says why. */
  readonly signal: AbortSignal;
};

/** A program that has been told to end needs a moment, on a busy machine a long one. */
const endsByItselfMs = 15_000;

/**
 * Runs one test file in a process group and with a `TMPDIR` of its own, by which everything that it starts is found again: what
 * still runs after its end is killed and is a fault.
 */
export async function runTestFile(
  file: string,
  { folder, env, reporter, signal }: TestFileRun,
): Promise<TestFileReport> {
  const temporary = join(folder, 'tmp');
  await mkdir(temporary, { recursive: true });
  const [results, said] = [join(folder, 'results'), join(folder, 'said')];
  const startedAt = performance.now();
  const args = ['--enable-source-maps', `--test-reporter=${reporter}`, `--test-reporter-destination=${results}`, file];
  // Into a file: a pipe would stay open for as long as a child that was left behind lives.
  const output = await open(said, 'w');
  const stdio: ['ignore', number, number] = ['ignore', output.fd, output.fd];
  const child = spawn(process.execPath, args, { env: { ...env, TMPDIR: temporary }, stdio, detached: true });
  const theirs = { group: child.pid, folder: temporary };
  const faults: string[] = [];
  const end = await endOf(child, signal, () => killAll(theirs));
  await output.close();
  if (signal.aborted) {
    faults.push(String(signal.reason));
  } else {
    const left = await remainingOf(theirs, endsByItselfMs);
    if (left.length > 0) faults.push(`it left processes running, which were killed:\n  ${left.join('\n  ')}`);
  }
  await killAll(theirs);
  const report = await textOf(results);
  const counts = readCounts(report);
  const isExplained = faults.length > 0 || (counts !== undefined && counts.fail + counts.cancelled > 0);
  if (!isExplained && (counts === undefined || end !== '0')) faults.push(`it ended with ${end}, not with its tests`);
  const durationMs = performance.now() - startedAt;
  const body = report.replaceAll(/^(?:TAP version 13|(?:#|ℹ) (?:[a-z]+|duration_ms) [\d.]+)\n/gm, '');
  return { file, results: body, said: await textOf(said), counts: counts ?? noCounts, faults, durationMs };
}

/** Its exit code or the signal that killed it. Never rejects. */
async function endOf(child: ChildProcess, signal: AbortSignal, kill: () => Promise<void>): Promise<string> {
  let killed: Promise<void> | undefined;
  const abort = () => {
    killed = kill();
  };
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  const end = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message)).once('exit', (code, by) => resolve(String(code ?? by)));
  });
  signal.removeEventListener('abort', abort);
  await killed;
  return end;
}

/** The summary that node:test writes at the end; undefined when it is not there. */
function readCounts(report: string): Counts | undefined {
  const found = countNames.map((name) => new RegExp(`^(?:#|ℹ) ${name} (\\d+)$`, 'm').exec(report)?.[1]);
  if (found.includes(undefined)) return undefined;
  return { ...noCounts, ...Object.fromEntries(countNames.map((name, index) => [name, Number(found[index])])) };
}

export const noCounts: Counts = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };

const mostCharacters = 1_000_000;

async function textOf(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.length > mostCharacters ? `… ${text.slice(-mostCharacters)}` : text;
}
