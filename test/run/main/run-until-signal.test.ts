import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { pino } from 'pino';
import { SetupError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import {
  createFatalPromise,
  printErrorAndExit,
  drainAndExitOnSignal,
  sameCtrlCPressMs,
  listenForStopSignal,
  type StopOptions,
  tolerateOutputErrors,
} from '../../../src/run/main/run-until-signal.ts';
import { untilTurn } from '../../support/until-turn.ts';

/** The mock returns, unlike `process.exit`. */
function mockExit(t: TestContext) {
  return t.mock.method(process, 'exit', (() => undefined) as unknown as typeof process.exit);
}

test('the first signal stops a process in order, and the second one, half a second later or more, at once', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const exit = mockExit(t);
  const names = ['SIGTERM', 'SIGINT'] as const;
  const before = names.map((name) => process.listeners(name));
  const stopped = listenForStopSignal();
  // The test's own process has listeners of its own, which are not called.
  const [onTerminate, onInterrupt] = names.map((name, index) => {
    const [added, ...others] = process.listeners(name).filter((one) => before[index]?.includes(one) === false);
    assert.ok(added !== undefined && others.length === 0);
    t.after(() => process.off(name, added));
    return () => added(name);
  });
  onTerminate?.();
  assert.equal(await stopped, 'SIGTERM');
  for (const later of [0, sameCtrlCPressMs - 1]) {
    t.mock.timers.setTime(later);
    for (const press of [onTerminate, onInterrupt]) press?.();
    assert.equal(exit.mock.callCount(), 0, 'one press of Ctrl-C may arrive twice');
  }
  t.mock.timers.setTime(500);
  onInterrupt?.();
  assert.deepEqual(
    exit.mock.calls.map((call) => call.arguments),
    [[1]],
  );
});

type Stopped = {
  readonly signal: 'SIGTERM' | 'SIGINT' | undefined;
  readonly delayMs: number;
  readonly leaves: boolean;
};

/** Runs a part that notes its calls until the signal, or without one until a fatal error. */
function stop(t: TestContext, { signal, delayMs, leaves }: Stopped, close = () => Promise.resolve()) {
  const calls: string[] = [];
  const lines: string[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) });
  const fatal = createFatalPromise();
  if (signal === undefined) fatal.reject(new Error('a test'));
  t.mock.method(process, 'exit', ((code: number) => void calls.push(`exit ${code}`)) as unknown as typeof process.exit);
  const part = {
    ...(leaves && { leave: () => void calls.push('leave') }),
    close: () => {
      calls.push('close');
      return close();
    },
  };
  const given: StopOptions = {
    signal: signal === undefined ? new Promise(() => {}) : Promise.resolve(signal),
    delayMs,
  };
  const ended: Promise<unknown> = drainAndExitOnSignal(part, fatal.promise, log, given);
  return { calls, lines, ended };
}

test('only SIGTERM announces the end before the drain, and only a fatal error is a failure', async (t) => {
  const rows: readonly (readonly [Stopped['signal'], delayMs: number, leaves: boolean, calls: readonly string[]])[] = [
    ['SIGTERM', 1, true, ['leave', 'close', 'exit 0']],
    ['SIGTERM', 0, true, ['close', 'exit 0']],
    ['SIGTERM', 1, false, ['close', 'exit 0']],
    ['SIGINT', 1, true, ['close', 'exit 0']],
    [undefined, 1, true, ['close', 'exit 1']],
  ];
  for (const [signal, delayMs, leaves, expected] of rows) {
    const { calls, lines, ended } = stop(t, { signal, delayMs, leaves });
    await ended;
    assert.deepEqual(calls, expected, `${signal} ${delayMs} ${leaves}`);
    const logged = lines.join('');
    assert.equal(/"level":60,"err":\{.*"message":"a test"/.test(logged), signal === undefined, logged);
    assert.equal(/"level":30,"delayMs":1,"msg":"shutdown announced/.test(logged), calls.includes('leave'), logged);
    assert.match(logged, /"msg":"draining"\}\n.*"msg":"stopped"\}\n$/);
    t.mock.restoreAll();
  }
});

test('the listener stays open for the delay, and a process that does not drain in 45 seconds ends', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { calls, lines } = stop(t, { signal: 'SIGTERM', delayMs: 8_000, leaves: true }, () => new Promise(() => {}));
  const is = (...expected: readonly string[]) => untilTurn(expected.join(), () => calls.join() === expected.join());
  await is('leave');
  t.mock.timers.tick(7_999);
  await is('leave');
  t.mock.timers.tick(1);
  await is('leave', 'close');
  t.mock.timers.tick(44_999);
  await is('leave', 'close');
  t.mock.timers.tick(1);
  await is('leave', 'close', 'exit 1');
  assert.match(lines.at(-1) ?? '', /"level":50,"msg":"drain timed out"/);
});

test('an error of the start is printed, a bug with its stack, and is the exit code', (t) => {
  const [bug, type] = [new Error('a bug'), new TypeError('a type')];
  const rows: readonly (readonly [unknown, string | undefined, number])[] = [
    [new SetupError('no ffmpeg'), 'no ffmpeg', 1],
    [Object.assign(new SetupError('in use'), { exitCode: 3 }), 'in use', 3],
    [bug, bug.stack, 1],
    [type, type.stack, 1],
    ['a text', 'a text', 1],
  ];
  // Returns here, where `process.exit` does.
  const print: (error: unknown) => unknown = printErrorAndExit;
  for (const [error, printed, code] of rows) {
    const exit = mockExit(t);
    const write = t.mock.method(process.stderr, 'write', () => true);
    print(error);
    const written = write.mock.calls.map((call) => call.arguments[0]);
    const exits = exit.mock.calls.map((call) => call.arguments);
    t.mock.restoreAll();
    assert.deepEqual([written, exits], [[`${printed}\n`], [[code]]]);
  }
});

test('a full disk behind the output does not end the process', (t) => {
  const outputs = [process.stdout, process.stderr];
  const before = outputs.map((output) => output.listeners('error'));
  tolerateOutputErrors();
  for (const [index, output] of outputs.entries()) {
    const added = output.listeners('error').filter((one) => before[index]?.includes(one) === false);
    t.after(() => added.forEach((one) => output.off('error', one as () => void))); // as it was added
    assert.equal(added.length, 1);
    assert.ok(output.emit('error', new Error('ENOSPC')));
  }
});
