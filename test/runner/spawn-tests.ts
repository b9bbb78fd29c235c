import { spawn } from 'node:child_process';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killAll, remainingOf } from '../support/processes/processes.ts';
import { outputSeparator, type ReportedFile, type ReportedTest } from './reporter.ts';

export type FileReport = ReportedFile & {
  /** The output of the file and of the programs it started. */
  readonly output: string;
  /** Errors of the file besides the tests that failed. */
  readonly errors: readonly string[];
  /** Processes that still ran after its process had ended, and were killed. */
  readonly leftProcesses: readonly string[];
};

export type ProcessRun = {
  /** Holds what the files leave behind; removed afterwards. */
  readonly folder: string;
  /** The test files' names are relative to this folder. */
  readonly testFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Aborting kills the process and all it has started; the reason is reported. */
  readonly signal: AbortSignal;
  /** The time that processes have to end after the test files. */
  readonly exitGraceMs: number;
};

const program = fileURLToPath(new URL('./test-process.js', import.meta.url));
const reporter = new URL('./reporter.js', import.meta.url).href;

/** Runs test files one after another in one process. A file that ends the process does not prevent those behind it from running. */
export async function runInProcess(files: readonly string[], run: ProcessRun): Promise<readonly FileReport[]> {
  const reports = new Map<string, FileReport>();
  for (let left = files; left.length > 0; left = left.filter((file) => !reports.has(file)))
    for (const report of await runOnce(left, run)) reports.set(report.file, report);
  return [...reports.values()];
}

/**
 * At least one report: of the files that the process reported and of the one that it ended in. From Node 22, the reports of the files
 * before that one may be lost with the process.
 */
async function runOnce(files: readonly string[], run: ProcessRun): Promise<readonly FileReport[]> {
  if (run.signal.aborted) return files.map((file) => failedReport(file, `not run: ${String(run.signal.reason)}`));
  const startedAt = performance.now();
  const temporary = join(run.folder, 'tmp');
  const [results, output] = [join(run.folder, 'results'), join(run.folder, 'output')];
  await mkdir(temporary, { recursive: true });
  try {
    const { end, leftProcesses } = await endOfProcess(files, { ...run, temporary, results, output });
    // The text after the last line break is a line that was cut off with the process.
    const reported = (await textOf(results)).split('\n').slice(0, -1);
    const outputs = outputsOf(await textOf(output), run.testFolder);
    const reports = reported.map((line): FileReport => {
      const parsed = JSON.parse(line) as ReportedFile; // The reporter wrote it.
      const file = nameOf(parsed.file, run.testFolder);
      return { ...parsed, file, output: outputs.get(file) ?? '', errors: [], leftProcesses };
    });
    const isExplained = reports.some(({ tests }) => tests.some(({ outcome }) => outcome === 'failed'));
    const running = [...outputs.keys()].at(-1);
    const interrupted =
      reports.length < files.length ? (files.find((file) => file === running) ?? files[0]) : undefined;
    if (interrupted !== undefined && !reports.some(({ file }) => file === interrupted)) {
      const error = run.signal.aborted ? String(run.signal.reason) : `the process ended (${end}) before the file did`;
      const durationMs = performance.now() - startedAt - reports.reduce((sum, one) => sum + one.durationMs, 0);
      const report = failedReport(interrupted, error);
      reports.push({ ...report, durationMs, output: outputs.get(interrupted) ?? outputs.get('') ?? '', leftProcesses });
    } else if (run.signal.aborted || (end !== '0' && !isExplained)) {
      const error = run.signal.aborted ? String(run.signal.reason) : `the process ended with ${end} after its tests`;
      return reports.map((report, index) => (index === reports.length - 1 ? { ...report, errors: [error] } : report));
    }
    return reports;
  } finally {
    await rm(run.folder, { recursive: true, force: true });
  }
}

type Paths = { readonly temporary: string; readonly results: string; readonly output: string };

/** Runs the process in a group and with a `TMPDIR` of its own, by which everything that it starts is found again. */
async function endOfProcess(files: readonly string[], run: ProcessRun & Paths) {
  const args = ['--enable-source-maps', `--test-reporter=${reporter}`, `--test-reporter-destination=${run.results}`];
  // Into a file: a pipe would stay open for as long as a child that was left behind lives.
  const output = await open(run.output, 'w');
  const child = spawn(process.execPath, [...args, program, ...files.map((file) => join(run.testFolder, file))], {
    // With the context of a test that runs this, node:test would report to it.
    env: { ...run.env, TMPDIR: run.temporary, NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', output.fd, output.fd],
    detached: true,
  });
  const started = { group: child.pid, folder: run.temporary };
  const abort = () => void killAll(started);
  run.signal.addEventListener('abort', abort, { once: true });
  const end = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message)).once('exit', (code, by) => resolve(String(code ?? by)));
  });
  run.signal.removeEventListener('abort', abort);
  await output.close();
  const leftProcesses = run.signal.aborted ? [] : await remainingOf(started, run.exitGraceMs);
  await killAll(started);
  return { end, leftProcesses };
}

function failedReport(file: string, error: string): FileReport {
  return { file, tests: [], durationMs: 0, output: '', errors: [error], leftProcesses: [] };
}

export function failedTests({ tests }: FileReport): readonly ReportedTest[] {
  return tests.filter(({ outcome }) => outcome === 'failed');
}

/** A file without any test proves nothing and is a failure. */
export function hasPassed(report: FileReport): boolean {
  return report.errors.length === 0 && report.tests.length > 0 && failedTests(report).length === 0;
}

const nameOf = (path: string, testFolder: string) => path.slice(testFolder.length + 1);

/** The output of each file; under the empty name, what was written before the first. */
function outputsOf(text: string, testFolder: string): ReadonlyMap<string, string> {
  const [before = '', ...parts] = text.split(outputSeparator);
  const split = parts.map((part) => {
    const end = part.indexOf('\n');
    return [nameOf(part.slice(0, end), testFolder), part.slice(end + 1)] as const;
  });
  return new Map([['', before], ...split]);
}

const maxCharacters = 1_000_000;

async function textOf(path: string): Promise<string> {
  return (await readFile(path, 'utf8').catch(() => '')).slice(-maxCharacters);
}
