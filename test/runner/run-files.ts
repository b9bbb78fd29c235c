import { loadavg } from 'node:os';
import { join } from 'node:path';
import { mayRunAgain as mayRunAgainByDefault, type Plan } from './plan.ts';
import { type FileReport, hasPassed, type ProcessRun, runInProcess } from './spawn-tests.ts';

export type TestRun = Omit<ProcessRun, 'signal'> & {
  /** Processes that run at a time. */
  readonly concurrency: number;
  /** The limit of the process of these files. */
  readonly processLimitMs: (files: readonly string[]) => number;
  /** The limit of the whole run. */
  readonly limitMs: number;
  /** Aborting ends the run. */
  readonly signal: AbortSignal;
  /** True when a file that failed may run once more. */
  readonly mayRunAgain?: (file: string) => boolean;
  /** Called when a file has ended. */
  readonly onReport: (report: FileReport) => void;
};

export type RunResult = {
  readonly reports: readonly FileReport[];
  /** Files that failed, and passed when they ran once more. Their reports are of the run that passed. */
  readonly flaky: readonly Flake[];
};
export type Flake = { readonly failed: FileReport; readonly loadAverage: number };

/** More files than this are not run again: so many failures are not a matter of chance. */
const maxRunAgain = 5;

/** Runs the processes of the plan, then once more, one at a time, the files that failed and may run again. */
export async function runPlan(plan: Plan, run: TestRun): Promise<RunResult> {
  const { mayRunAgain = mayRunAgainByDefault } = run;
  const all = new AbortController();
  const cancel = () => all.abort('the run was canceled');
  if (run.signal.aborted) cancel();
  run.signal.addEventListener('abort', cancel);
  const limit = setTimeout(() => all.abort(tookTooLong('the whole run', run.limitMs)), run.limitMs);
  const reports: FileReport[] = [];
  const loadAverages = new Map<string, number>();
  let count = 0;
  const runNext = async (waiting: (readonly string[])[]): Promise<void> => {
    const files = waiting.shift();
    if (files === undefined) return;
    count += 1;
    for (const report of await runLimited(files, join(run.folder, String(count)), run, all.signal)) {
      reports.push(report);
      loadAverages.set(report.file, loadavg()[0] ?? 0);
      run.onReport(report);
    }
    return runNext(waiting);
  };
  const waiting = [...plan.processes];
  await Promise.all(Array.from({ length: run.concurrency }, () => runNext(waiting)));
  await runNext([...plan.exclusive]);
  const failed = reports.filter((report) => !hasPassed(report) && mayRunAgain(report.file));
  if (failed.length <= maxRunAgain) await runNext(failed.map(({ file }) => [file]));
  clearTimeout(limit);
  run.signal.removeEventListener('abort', cancel);
  // The last report of a file counts.
  const last = new Map(reports.map((report) => [report.file, report]));
  const flaky = failed.filter(({ file }) => reportPassed(last.get(file)));
  return {
    reports: [...last.values()],
    flaky: flaky.map((report) => ({ failed: report, loadAverage: loadAverages.get(report.file) ?? 0 })),
  };
}

function reportPassed(report: FileReport | undefined): boolean {
  return report !== undefined && hasPassed(report);
}

async function runLimited(
  files: readonly string[],
  folder: string,
  run: TestRun,
  outer: AbortSignal,
): Promise<readonly FileReport[]> {
  const own = new AbortController();
  const limitMs = run.processLimitMs(files);
  const limit = setTimeout(() => own.abort(tookTooLong('the process', limitMs)), limitMs);
  try {
    return await runInProcess(files, { ...run, folder, signal: AbortSignal.any([outer, own.signal]) });
  } finally {
    clearTimeout(limit);
  }
}

function tookTooLong(what: string, limitMs: number): string {
  return `${what} took longer than ${limitMs / 1000} s and was killed`;
}
