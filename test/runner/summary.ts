import { topFolder } from './plan.ts';
import type { Flake, RunResult } from './run-files.ts';
import { type FileReport, failedTests, hasPassed } from './spawn-tests.ts';

// A run prints a line for each file that ended, and at the end what a reader of only the last lines of a log needs.

/** More files than this that pass only the second time fail the run. */
export const maxFlaky = 2;

const slowestShown = 30;
const failuresShown = 20;
const outputLinesShown = 100;

/** The lines about a file that has just ended; a failed one with its output. */
export function fileLines(report: FileReport): string {
  const { file, tests, durationMs, leftProcesses } = report;
  const counts = `${tests.length} ${tests.length === 1 ? 'test' : 'tests'}`;
  const left = leftProcesses.map((line) => `     left running, killed: ${line}`);
  if (hasPassed(report)) return lines([`ok   ${seconds(durationMs)}  ${file} (${counts})`, ...left]);
  const output = report.output.trimEnd().split('\n').slice(-outputLinesShown);
  const shownOutput = output.map((line) => `     | ${line}`);
  return lines([`FAIL ${seconds(durationMs)}  ${file} (${counts})`, ...failureLines(report), ...left, ...shownOutput]);
}

function failureLines({ errors, ...report }: FileReport): readonly string[] {
  const failed = failedTests({ errors, ...report });
  const hidden = failed.length - failuresShown;
  return [
    ...errors,
    ...failed.slice(0, failuresShown).map(({ path, detail = '' }) => `${path.join(' > ')}\n${detail}`),
    ...(hidden > 0 ? [`and ${hidden} more`] : []),
  ].flatMap((text) => text.split('\n').map((line) => `     ${line}`));
}

export type Totals = {
  readonly seed: number;
  readonly durationMs: number;
  /** Documented refusals that no test produced; each counts as a failed test, unless tests were skipped, which may produce them. */
  readonly unproduced?: readonly string[];
};

/** The end of the log. Its last line counts the tests. */
export function summaryLines({ reports, flaky }: RunResult, { seed, durationMs, unproduced = [] }: Totals): string {
  const failed = reports.filter((report) => !hasPassed(report));
  const outcomes = reports.flatMap(({ tests }) => tests.map(({ outcome }) => outcome));
  const count = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
  // A file that failed without a test that did counts as one.
  const failedFiles = failed.filter((report) => failedTests(report).length === 0).length;
  const missing = hasSkipped(reports) ? [] : unproduced;
  const unverified = hasSkipped(reports) ? unproduced : [];
  return lines([
    ...durationTables(reports),
    ...skippedLines(reports),
    ...failed.flatMap((report) => [`failed: ${report.file}`, ...failureLines(report)]),
    ...flaky.flatMap((flake) => flakeLines(flake, seed)),
    ...missing.map((refusal) => `failed: no test produced the documented refusal: ${refusal}`),
    ...unverified.map((refusal) => `not verified, because tests were skipped: the documented refusal ${refusal}`),
    ...(flaky.length > maxFlaky ? [`${flaky.length} files were flaky; more than ${maxFlaky} fail the run`] : []),
    `${reports.length} files in ${Math.round(durationMs / 1000)} s, seed ${seed}`,
    `${count('passed')} passed, ${count('failed') + failedFiles + missing.length} failed, ${count('skipped')} skipped`,
  ]);
}

function durationTables(reports: readonly FileReport[]): readonly string[] {
  const slowest = reports.toSorted((one, other) => other.durationMs - one.durationMs).slice(0, slowestShown);
  const folders = [...new Set(reports.map(({ file }) => topFolder(file)))].map((folder) => {
    const inFolder = reports.filter(({ file }) => topFolder(file) === folder);
    return { folder, files: inFolder.length, durationMs: inFolder.reduce((sum, one) => sum + one.durationMs, 0) };
  });
  return [
    'slowest files:',
    ...slowest.map(({ file, durationMs }) => `  ${seconds(durationMs)}  ${file}`),
    'by folder:',
    ...folders
      .toSorted((one, other) => other.durationMs - one.durationMs)
      .map(({ folder, files, durationMs }) => `  ${seconds(durationMs)}  ${folder} (${files} files)`),
  ];
}

/** Tests that were skipped for one reason in one file, such as a program that is not installed, take one line. */
function skippedLines(reports: readonly FileReport[]): readonly string[] {
  const found = reports.flatMap(({ file, tests }) => {
    const skipped = tests.filter(({ outcome }) => outcome === 'skipped');
    const reasons = [...new Set(skipped.map(({ detail = '' }) => detail))];
    return reasons.map((reason) => {
      const [first, ...others] = skipped.filter(({ detail = '' }) => detail === reason);
      const more = others.length === 0 ? '' : ` and ${others.length} more`;
      return `  ${file}: ${first?.path.join(' > ')}${more}: ${reason === '' ? 'no reason given' : reason}`;
    });
  });
  return found.length === 0 ? [] : ['skipped:', ...found];
}

function flakeLines({ failed, loadAverage }: Flake, seed: number): readonly string[] {
  const facts = `passed when run again; load average at the failure ${loadAverage.toFixed(1)}, seed ${seed}`;
  return [`flaky: ${failed.file} (${facts})`, ...failureLines(failed)];
}

export function isGreen({ reports, flaky }: RunResult, unproduced: readonly string[] = []): boolean {
  const isComplete = unproduced.length === 0 || hasSkipped(reports);
  return isComplete && reports.length > 0 && reports.every(hasPassed) && flaky.length <= maxFlaky;
}

function hasSkipped(reports: readonly FileReport[]): boolean {
  return reports.some(({ tests }) => tests.some(({ outcome }) => outcome === 'skipped'));
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(6)} s`;
const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
