import assert from 'node:assert/strict';
import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runVideoReader, ReadTimeoutError } from '../../../src/media/video/run-video-reader.ts';
import { VideoFileError } from '../../../src/media/video/video-file-error.ts';
import { livingProcesses } from '../../support/processes/processes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Returns a path that blocks its reader, because nothing ever writes to this pipe. */
async function endlessPath(t: TestContext): Promise<string> {
  const path = join(await temporaryFolder(t), 'silent');
  execFileSync('mkfifo', [path]);
  return path;
}

/** Lists the living readers by the ids of their processes; without a parent, those of all. */
async function readers(parent?: number): Promise<readonly number[]> {
  const found = (await livingProcesses()).filter(({ args }) => args.includes('video-reader.js'));
  return found.filter((one) => parent === undefined || one.parent === parent).map(({ pid }) => pid);
}

/** Waits for a reader. It has its order or receives it next. */
function readerOf(parent: number | undefined): Promise<number> {
  return waitFor('a reader', async () => (await readers(parent))[0]);
}

test('an error of the system is not blamed on the file', async (t) => {
  const folder = await temporaryFolder(t);
  for (const [path, code] of [
    [join(folder, 'swept.mp4'), /ENOENT/],
    // A folder can be opened, and fails when it is read.
    [folder, /EISDIR/],
  ] as const) {
    for (const reading of ['facts', 'streams', 'lastPictureSeconds', 'videoClip'] as const) {
      await assert.rejects(runVideoReader(reading, path), (error) => {
        assert.ok(error instanceof Error && !(error instanceof VideoFileError), String(error));
        assert.match(error.message, code);
        return true;
      });
    }
  }
});

test('a canceled reading rejects with the reason, and its reader ends', async (t) => {
  const [controller, reason] = [new AbortController(), new Error('canceled')];
  const reading = assert.rejects(
    runVideoReader('facts', await endlessPath(t), controller.signal),
    (error) => error === reason,
  );
  await readerOf(process.pid);
  controller.abort(reason);
  await reading;
  await waitFor('the end of all readers', async () => ((await readers(process.pid)).length === 0 ? true : undefined));
});

test('a canceled reading that waits for a reader rejects before it has one', async (t) => {
  const [path, running, waiting] = [await endlessPath(t), new AbortController(), new AbortController()];
  // More readings than readers: the last one waits behind those that never end.
  const blocked = Array.from({ length: 2 }, () =>
    assert.rejects(runVideoReader('facts', path, running.signal), /over/),
  );
  const reason = new Error('canceled');
  const queued = assert.rejects(runVideoReader('facts', path, waiting.signal), (error) => error === reason);
  waiting.abort(reason);
  await queued;
  running.abort(new Error('over'));
  await Promise.all(blocked);
});

test('a reading that takes too long is a timeout, which is not blamed on the file', async (t) => {
  const path = await endlessPath(t);
  // A mocked timer does not keep this process running until the reader has ended.
  const running = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(running));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reading = assert.rejects(runVideoReader('facts', path), ReadTimeoutError);
  // The timer is set in a microtask.
  await new Promise(setImmediate);
  t.mock.timers.tick(5 * 60_000);
  await reading;
});

test('a crash of the reader is an error of the file, and its end by another signal is not', async (t) => {
  const path = await endlessPath(t);
  const endedBy = async (signal: NodeJS.Signals) => {
    const reading = runVideoReader('facts', path).catch((error: unknown) => error);
    process.kill(await readerOf(process.pid), signal);
    return reading;
  };
  for (const crash of ['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS'] as const)
    assert.ok((await endedBy(crash)) instanceof VideoFileError, crash);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const error = await endedBy(signal);
    assert.ok(error instanceof Error && !(error instanceof VideoFileError), signal);
    assert.equal(error.message, `the reader of videos ended with ${signal}`);
  }
});

test('an unexpected error of a reader is a crash, and says where it happened', async (t) => {
  const program = fileURLToPath(new URL('../../../src/media/video/video-reader.js', import.meta.url));
  const reader = fork(program, [`${process.pid}`], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  t.after(() => reader.kill('SIGKILL'));
  assert.ok(reader.stderr);
  const said = text(reader.stderr);
  // Not an order. Its declared type forbids that.
  reader.send(null as unknown as object);
  await once(reader, 'exit');
  assert.equal(reader.signalCode, 'SIGABRT');
  assert.match(await said, /^TypeError: .*\n +at /m);
});

test('a reader ends with the process that started it, also while it is blocked', async (t) => {
  const module = new URL('../../../src/media/video/run-video-reader.js', import.meta.url);
  const script = `(await import(${JSON.stringify(module)})).runVideoReader('facts', ${JSON.stringify(await endlessPath(t))})`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'ignore' });
  t.after(() => parent.kill('SIGKILL'));
  const reader = await readerOf(parent.pid);
  parent.kill('SIGKILL');
  await waitFor('the end of the reader', async () => ((await readers()).includes(reader) ? undefined : true));
});
