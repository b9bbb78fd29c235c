import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { killAll, processesOf } from '../support/processes/processes.ts';
import type { Plan } from './plan.ts';
import { runPlan, type TestRun } from './run-files.ts';
import { fileLines, isGreen, summaryLines } from './summary.ts';

const testFolder = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const fixture = (name: string) => `runner/fixtures/${name}.js`;

async function runFixtures(
  processes: readonly (readonly string[])[],
  options: Partial<TestRun> & { readonly exclusive?: Plan['exclusive']; readonly env?: NodeJS.ProcessEnv } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-runner-'));
  const { exclusive = [], ...overrides } = options;
  const ended: string[] = [];
  const plan = { processes: processes.map((files) => files.map(fixture)), exclusive };
  try {
    const result = await runPlan(plan, {
      folder,
      testFolder,
      concurrency: 1,
      processLimitMs: () => 300_000,
      limitMs: 300_000,
      exitGraceMs: 0,
      signal: new AbortController().signal,
      onReport: (report) => ended.push(fileLines(report)),
      ...overrides,
      env: { ...process.env, ...options.env },
    });
    const summary = summaryLines(result, { seed: 7, durationMs: 1_000 });
    return { ...result, isGreen: isGreen(result), ended, summary, left: await processesOf({ folder }) };
  } finally {
    await killAll({ folder });
    await rm(folder, { recursive: true });
  }
}

// Two of them wait for a limit.
describe('the runner', { concurrency: 3 }, () => {
  test('a file of a process finds the variables and the working folder that the one before it found', async () => {
    const env = { VIDEOGEN_TEST_GIVEN: 'given' };
    const run = await runFixtures([['changes-process', 'finds-process']], { env });
    assert.equal(run.isGreen, true, run.summary);
  });

  test('files share a process, and each reports its own tests, duration and reasons to skip', async () => {
    const run = await runFixtures([['passes', 'skips']]);
    assert.equal(run.isGreen, true, run.summary);
    assert.deepEqual(
      run.reports.map(({ file, tests }) => [file, tests.length]),
      [
        [fixture('passes'), 1],
        [fixture('skips'), 3],
      ],
    );
    assert.match(
      run.summary,
      /^slowest files:\n(?: +[\d.]+ s {2}runner\/fixtures\/\w+\.js\n){2}by folder:\n +[\d.]+ s {2}runner \(2 files\)\n/,
    );
    assert.match(
      run.summary,
      /\nskipped:\n {2}runner\/fixtures\/skips\.js: is skipped: no reason given\n {2}runner\/fixtures\/skips\.js: needs a program and 1 more: promtool is not installed\n/,
    );
    assert.match(run.summary, /\n2 files in 1 s, seed 7\n1 passed, 0 failed, 3 skipped\n$/);
  });

  test('a test that fails is shown with its error and its output, when it ends and in the summary, and fails the run', async () => {
    const run = await runFixtures([['fails', 'passes']]);
    assert.equal(run.isGreen, false);
    const [failed = ''] = run.ended;
    assert.match(
      failed,
      /^FAIL .*fails\.js \(1 test\)\n +arithmetic > adds up\n[^]*one and one is three[^]*\| written by a test that fails\n$/,
    );
    assert.match(
      run.summary,
      /\nfailed: runner\/fixtures\/fails\.js\n +arithmetic > adds up\n[^]*one and one is three/,
    );
    assert.match(run.summary, /\n1 passed, 1 failed, 0 skipped\n$/);
  });

  test('a file that hangs is killed at the limit with its child, and fails without the files beside it', async () => {
    const run = await runFixtures([['hangs'], ['passes']], {
      processLimitMs: ([file = '']) => (file.includes('hangs') ? 5_000 : 300_000),
    });
    assert.deepEqual([run.isGreen, run.left], [false, []]);
    assert.match(
      run.ended[0] ?? '',
      /FAIL .*hangs\.js \(0 tests\)\n +the process took longer than 5 s and was killed\n/,
    );
    assert.match(run.summary, /\n1 passed, 1 failed, 0 skipped\n$/);
  });

  test('a file that ends its process fails; the other files of the process run', async () => {
    const run = await runFixtures([['passes', 'ends-early', 'skips']]);
    assert.equal(run.isGreen, false);
    const errors = Object.fromEntries(run.reports.map((report) => [report.file, report.errors]));
    assert.deepEqual(errors, {
      [fixture('passes')]: [],
      [fixture('ends-early')]: ['the process ended (0) before the file did'],
      [fixture('skips')]: [],
    });
    assert.match(run.summary, /\n1 passed, 1 failed, 3 skipped\n$/);
  });

  test('a file that cannot be loaded fails, and its error is shown', async () => {
    const run = await runFixtures([['no-such-file', 'passes']]);
    assert.match(run.ended[0] ?? '', /^FAIL .*no-such-file\.js[^]*can be loaded\n[^]*Cannot find module/);
    assert.match(run.summary, /\n1 passed, 1 failed, 0 skipped\n$/);
  });

  test('processes that a passing file leaves behind are killed and reported, and do not fail it', async () => {
    const run = await runFixtures([['leaves-child']]);
    assert.deepEqual([run.isGreen, run.left], [true, []]);
    assert.match(
      run.ended[0] ?? '',
      /^ok .*leaves-child\.js \(1 test\)\n(?: +left running, killed: \d+ \S+node.*\n){2}$/,
    );
  });

  test('the limit of the whole run kills what runs and names what has not run', async () => {
    const run = await runFixtures([['hangs'], ['passes']], { limitMs: 5_000 });
    assert.deepEqual([run.isGreen, run.left], [false, []]);
    assert.match(run.summary, /hangs\.js\n +the whole run took longer than 5 s and was killed\n/);
    assert.match(run.summary, /passes\.js\n +not run: the whole run took longer than 5 s and was killed\n/);
  });

  test('files that need the machine to themselves run after all others', async () => {
    const run = await runFixtures([['passes'], ['skips']], { concurrency: 2, exclusive: [[fixture('fails')]] });
    assert.match(run.ended.at(-1) ?? '', /fails\.js/);
  });

  test('a file that may run again and passes then is flaky: it is named with its error and does not fail the run', async () => {
    const counts = await mkdtemp(join(tmpdir(), 'videogen-flaky-'));
    try {
      const env = { VIDEOGEN_TEST_FLAKY: join(counts, 'runs') };
      const refused = await runFixtures([['fails-once']], { env });
      assert.deepEqual([refused.isGreen, refused.flaky.length], [false, 0], 'this folder may not run again');
      await rm(env.VIDEOGEN_TEST_FLAKY);
      const run = await runFixtures([['fails-once'], ['passes']], {
        env,
        mayRunAgain: (file) => file.includes('once'),
      });
      assert.deepEqual([run.isGreen, await readFile(env.VIDEOGEN_TEST_FLAKY, 'utf8')], [true, '..']);
      assert.match(
        run.summary,
        /\nflaky: runner\/fixtures\/fails-once\.js \(passed when run again; load average at the failure [\d.]+, seed 7\)\n +passes the second time\n[^]*the first time/,
      );
      assert.match(run.summary, /\n2 passed, 0 failed, 0 skipped\n$/);
    } finally {
      await rm(counts, { recursive: true });
    }
  });

  test('more than two flaky files fail the run', () => {
    const report = { file: 'console/x.full.test.js', durationMs: 1, output: '', errors: [], leftProcesses: [] };
    const passed = { ...report, tests: [{ path: ['passes'], outcome: 'passed' as const }] };
    const flake = { failed: { ...report, tests: [{ path: ['passes'], outcome: 'failed' as const }] }, loadAverage: 1 };
    assert.equal(isGreen({ reports: [passed], flaky: [flake, flake] }), true);
    assert.equal(isGreen({ reports: [passed], flaky: [flake, flake, flake] }), false);
    assert.match(
      summaryLines({ reports: [passed], flaky: [flake, flake, flake] }, { seed: 1, durationMs: 1 }),
      /3 files were flaky; more than 2 fail the run/,
    );
  });

  test('a documented refusal that no test produced fails the run, unless skipped tests may produce it', () => {
    const report = { file: 'http/x.test.js', durationMs: 1, output: '', errors: [], leftProcesses: [] };
    const resultOf = (...outcomes: readonly ('passed' | 'skipped')[]) => ({
      reports: [{ ...report, tests: outcomes.map((outcome) => ({ path: ['a test'], outcome })) }],
      flaky: [],
    });
    const totals = { seed: 1, durationMs: 1, unproduced: ['getTask task_not_found'] };
    const complete = resultOf('passed');
    assert.equal(isGreen(complete, []), true);
    assert.equal(isGreen(complete, totals.unproduced), false);
    assert.match(
      summaryLines(complete, totals),
      /\nfailed: no test produced the documented refusal: getTask task_not_found\n[^]*\n1 passed, 1 failed, 0 skipped\n$/,
    );
    const partial = resultOf('passed', 'skipped');
    assert.equal(isGreen(partial, totals.unproduced), true);
    assert.match(
      summaryLines(partial, totals),
      /\nnot verified, because tests were skipped: the documented refusal getTask task_not_found\n[^]*\n1 passed, 0 failed, 1 skipped\n$/,
    );
  });
});
