import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { killAll, processesOf } from './processes.ts';
import { runTestFiles, type TestRun } from './run-test-files.ts';
import { waitFor } from './wait-for.ts';

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}.js`, import.meta.url));

type Limits = Partial<Pick<TestRun, 'concurrency' | 'alone' | 'fileLimitMs' | 'limitMs' | 'signal'>>;

async function runFixtures(names: readonly string[], limits: Limits = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-runner-'));
  const written: string[] = [];
  try {
    const isGood = await runTestFiles(names.map(fixture), {
      folder,
      // Without this, node:test would take itself for a part of the test that runs here.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      concurrency: 1,
      fileLimitMs: 300_000,
      limitMs: 300_000,
      signal: new AbortController().signal,
      reporter: 'tap',
      write: (text) => written.push(text),
      ...limits,
    });
    const text = written.join('');
    return { isGood, text, last: text.slice(text.lastIndexOf('\n1..')), left: await processesOf({ folder }) };
  } finally {
    await killAll({ folder });
    await rm(folder, { recursive: true });
  }
}

test('files that pass are reported with the sum of their tests, and with the files that took longest', async () => {
  const { isGood, text, last } = await runFixtures(['passes', 'passes']);
  assert.equal(isGood, true, text);
  assert.match(text, /^ok 1 - \S+passes\.js$/m);
  assert.match(last, /\n1\.\.2\n# the files that took longest:\n# {3}[\d.]+ s \S+passes\.js\n/);
  assert.match(
    last,
    /\n# tests 4\n# suites 0\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 2\n# todo 0\n# duration_ms/,
  );
});

test('a file that hangs is killed at its limit with its child, is a failure, and does not keep the next one from running', async () => {
  const { isGood, text, last, left } = await runFixtures(['hangs', 'passes'], { fileLimitMs: 5_000 });
  assert.deepEqual([isGood, left], [false, []]);
  assert.match(text, /# the file took longer than 5 s; what still ran was killed\nnot ok 1 - \S+hangs\.js/);
  assert.match(text, /^ok 2 - \S+passes\.js$/m);
  assert.match(
    last,
    /\n# failed: \S+hangs\.js\n# {3}the file took longer than 5 s; what still ran was killed\n# tests 3\n.*\n# pass 1\n# fail 1\n/,
  );
});

test('a test that fails stands with its error in the summary, too, without the suite around it', async () => {
  const { isGood, last } = await runFixtures(['fails', 'passes']);
  assert.equal(isGood, false);
  assert.match(last, /# failed: \S+fails\.js\n# +not ok 1 - adds up\n(?:# .*\n)*# +error: 'one and one is three'\n/);
  assert.doesNotMatch(last, /arithmetic/);
  assert.match(last, /\n# tests 3\n# suites 1\n# pass 1\n# fail 1\n/);
});

test('a file that is to run alone runs after all others, wherever it stands', async () => {
  const { isGood, text } = await runFixtures(['ends-early', 'passes', 'passes'], {
    concurrency: 2,
    alone: [fixture('ends-early')],
  });
  assert.equal(isGood, false);
  assert.deepEqual(
    text.match(/^(?:not )?ok \d - \S+?[a-z-]+\.js$/gm)?.map((line) => line.replace(/\S+\//, '')),
    ['ok 1 - passes.js', 'ok 2 - passes.js', 'not ok 3 - ends-early.js'],
  );
});

test('a file whose tests pass but leave processes is a failure, and they are killed', async () => {
  const { isGood, text, last, left } = await runFixtures(['leaves-child']);
  assert.deepEqual([isGood, left], [false, []]);
  assert.match(text, /# it left processes running, which were killed:\n(?:# {3}\d+ \S+node.*\n){2}not ok 1/);
  assert.match(last, /# pass 1\n# fail 1\n/);
});

test('a file that ends before its tests, with whatever exit code, is a failure', async () => {
  const { isGood, text } = await runFixtures(['ends-early']);
  assert.equal(isGood, false);
  assert.match(text, /^not ok 1 - \S+ends-early\.js$/m);
});

test('a file that cannot be loaded is a failure, and its complaint is shown', async () => {
  const { isGood, text } = await runFixtures(['no-such-file']);
  assert.equal(isGood, false);
  assert.match(text, /Cannot find module.*no-such-file[^]*\n# it ended with 1, not with its tests\nnot ok 1/);
});

test('the limit of all files together kills what runs, and names what was not run', async () => {
  const { isGood, text, left } = await runFixtures(['hangs', 'passes'], { limitMs: 5_000 });
  assert.deepEqual([isGood, left], [false, []]);
  assert.match(text, /# all test files together took longer than 5 s; what still ran was killed\nnot ok 1 - \S+hangs/);
  assert.match(text, /# it was not run: all test files together took longer than 5 s.*\nnot ok 2 - \S+passes/);
});

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`npm test that gets ${signal} stops its servers and what its test files started, and removes its folder`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'videogen-runner-'));
    const program = fileURLToPath(new URL('./run-tests.js', import.meta.url));
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined, TMPDIR: folder };
    const runner = spawn(process.execPath, [program, 'support/fixtures/hangs.js'], { env, stdio: 'ignore' });
    try {
      await waitFor('the child of the file that hangs', async () => {
        const found = await processesOf({ folder });
        return found.some((line) => line.includes('setInterval')) ? true : undefined;
      });
      for (const server of [/postgres/, /temporal/]) assert.match((await processesOf({ folder })).join('\n'), server);
      const ended = once(runner, 'exit');
      runner.kill(signal);
      assert.deepEqual(await ended, [code, null]);
      assert.deepEqual([await processesOf({ folder }), await readdir(folder)], [[], []]);
    } finally {
      await killAll({ folder });
      await rm(folder, { recursive: true });
    }
  });
}
