import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { countNames, type Counts, noCounts, runTestFile, type TestFileReport } from './run-test-file.ts';

export type TestRun = {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** How many files run at a time. */
  readonly concurrency: number;
  /** Files that run after all others, one by one. */
  readonly alone?: readonly string[];
  /** How long one file may take, and all of them together. */
  readonly fileLimitMs: number;
  readonly limitMs: number;
  /** Aborting breaks the run off. */
  readonly signal: AbortSignal;
  /** `tap` for programs, `spec` for people. */
  readonly reporter: 'tap' | 'spec';
  readonly write: (text: string) => void;
};

/** Runs test files, writes what they report, each file in one piece, and answers whether all is well. */
export async function runTestFiles(files: readonly string[], run: TestRun): Promise<boolean> {
  const startedAt = performance.now();
  const all = new AbortController();
  const breakOff = () => all.abort('the run was broken off');
  if (run.signal.aborted) breakOff();
  run.signal.addEventListener('abort', breakOff);
  const limit = setTimeout(() => all.abort(tooLong('all test files together', run.limitMs)), run.limitMs);
  const reports: TestFileReport[] = [];
  if (run.reporter === 'tap') run.write('TAP version 13\n');
  const { alone = [] } = run;
  const runNext = async (waiting: [index: number, file: string][]): Promise<void> => {
    const [index, file] = waiting.shift() ?? [];
    if (index === undefined || file === undefined) return;
    const report = all.signal.aborted ? notRun(file, all.signal.reason) : await runOne(file, index, run, all.signal);
    reports.push(report);
    run.write(run.reporter === 'tap' ? inTap(report, reports.length) : forPeople(report));
    return runNext(waiting);
  };
  const entries = [...files.entries()];
  const together = entries.filter(([, file]) => !alone.includes(file));
  await Promise.all(Array.from({ length: run.concurrency }, () => runNext(together)));
  await runNext(entries.filter(([, file]) => alone.includes(file)));
  clearTimeout(limit);
  run.signal.removeEventListener('abort', breakOff);
  run.write(summary(reports, { tap: run.reporter === 'tap', durationMs: performance.now() - startedAt }));
  return reports.length > 0 && reports.every(isGood);
}

async function runOne(file: string, index: number, run: TestRun, outer: AbortSignal): Promise<TestFileReport> {
  const own = new AbortController();
  const limit = setTimeout(() => own.abort(tooLong('the file', run.fileLimitMs)), run.fileLimitMs);
  const folder = join(run.folder, String(index));
  try {
    const signal = AbortSignal.any([outer, own.signal]);
    return await runTestFile(file, { folder, env: run.env, reporter: run.reporter, signal });
  } finally {
    clearTimeout(limit);
    await rm(folder, { recursive: true, force: true });
  }
}

function tooLong(what: string, limitMs: number): string {
  return `${what} took longer than ${limitMs / 1000} s; what still ran was killed`;
}

function notRun(file: string, reason: unknown): TestFileReport {
  return {
    file,
    results: '',
    said: '',
    counts: noCounts,
    faults: [`it was not run: ${String(reason)}`],
    durationMs: 0,
  };
}

function isGood({ counts, faults }: TestFileReport): boolean {
  return counts.fail === 0 && counts.cancelled === 0 && counts.tests + counts.suites > 0 && faults.length === 0;
}

/** A test point for each file, its tests as subtests. */
function inTap(report: TestFileReport, number: number): string {
  const { file, results, said, faults, durationMs } = report;
  const comments = indent(said, '    # ') + indent(faults.join('\n'), '# ');
  const point = `${isGood(report) ? 'ok' : 'not ok'} ${number} - ${file}\n`;
  return `# Subtest: ${file}\n${indent(results, '    ')}${comments}${point}  ---\n  duration_ms: ${durationMs}\n  ...\n`;
}

function forPeople({ file, results, said, faults }: TestFileReport): string {
  return `${file}\n${indent(results, '  ')}${indent(said, '  ')}${indent(faults.join('\n'), '✖ ')}`;
}

function indent(text: string, by: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => `${by}${line}\n`).join('');
}

const longestShown = 15;
/** Of one file. */
const failuresShown = 20;
const failureCharacters = 3_000;

/** The tests of a TAP report that failed, with their errors. Suites around them fail only because of them and are left out. */
function failuresOf(results: string): readonly string[] {
  const points = [...results.matchAll(/^( *)not ok .*\n\1 {2}---\n[^]*?^\1 {2}\.\.\.$/gm)].map(([point]) => point);
  const failed = points.filter((point) => !point.includes("failureType: 'subtestsFailed'"));
  return failed.slice(0, failuresShown).map((point) => point.slice(0, failureCharacters));
}

function failureLines({ file, results, faults }: TestFileReport): readonly string[] {
  const details = [...faults, ...failuresOf(results)].flatMap((text) => text.split('\n'));
  return [`failed: ${file}`, ...details.map((line) => `  ${line}`)];
}

/**
 * Last in the log, in the words of node:test; the failures are repeated here, since often only the end of a log is kept. A file that is
 * at fault counts as one more test that failed.
 */
function summary(
  reports: readonly TestFileReport[],
  { tap, durationMs }: { tap: boolean; durationMs: number },
): string {
  const counts = reports.map((report) => {
    const wasFoundOut = isGood(report) || report.counts.fail + report.counts.cancelled > 0;
    return wasFoundOut ? report.counts : { ...report.counts, tests: report.counts.tests + 1, fail: 1 };
  });
  const total = (name: keyof Counts) => counts.reduce((sum, one) => sum + one[name], 0);
  const slowest = reports.toSorted((one, other) => other.durationMs - one.durationMs).slice(0, longestShown);
  const lines = ['the files that took longest:']
    .concat(slowest.map(({ file, durationMs: ms }) => `  ${(ms / 1000).toFixed(1)} s ${file}`))
    .concat(reports.filter((report) => !isGood(report)).flatMap(failureLines))
    .concat(
      countNames.map((name) => `${name} ${total(name)}`),
      `duration_ms ${durationMs}`,
    );
  return (tap ? `1..${reports.length}\n` : '\n') + lines.map((line) => `${tap ? '#' : 'ℹ'} ${line}\n`).join('');
}
