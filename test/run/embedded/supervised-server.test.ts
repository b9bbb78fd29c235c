import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import timers from 'node:timers/promises';
import { type ServerProgram, startSupervisedServer, stopOrphan } from '../../../src/run/embedded/supervised-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

// Real servers that are killed: test/run/embedded/postgres and temporal.

/** A server that is this script, and what it was started for and has said. */
async function programOf(t: TestContext, script: string, given: Partial<ServerProgram> = {}) {
  const folder = await temporaryFolder(t);
  const launches: unknown[] = [];
  const said: string[] = [];
  const program: ServerProgram = {
    name: 'Tool',
    folder,
    logFile: join(folder, 'tool.log'),
    launch: async (start) => {
      launches.push(start);
      return { file: 'sh', args: ['-c', script], options: {} };
    },
    serves: () => Promise.resolve(true),
    stopSteps: [{ signal: 'SIGKILL', waitMs: 180_000 }],
    log: (message) => void said.push(message),
    ...given,
  };
  return { program, launches, said, folder };
}

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a server that dies is restarted until it is stopped, and each restart is logged', async (t) => {
  const { program, launches, said } = await programOf(t, 'exec sleep 600');
  const [begun, cleared] = [t.mock.method(globalThis, 'setInterval'), t.mock.method(globalThis, 'clearInterval')];
  const server = await startSupervisedServer(program);
  t.after(server.stop);
  const [bounding, ...others] = begun.mock.calls.map(({ result }) => result);
  assert.ok(bounding !== undefined && others.length === 0, 'the size of its log is watched');
  const first = server.pid;
  assert.ok(isRunning(first));
  process.kill(first, 'SIGKILL');
  await waitFor('the restart', () => said[1]);
  const second = server.pid;
  assert.notEqual(second, first);
  await server.stop();
  await server.stop();
  assert.deepEqual([isRunning(first), isRunning(second)], [false, false]);
  assert.ok(cleared.mock.calls.some(({ arguments: [timer] }) => timer === bounding));
  assert.deepEqual(launches, [{ isRestart: false }, { isRestart: true }]);
  assert.deepEqual(said, [
    `Tool (process ${first}) has died; restarting it.`,
    `Tool was restarted (process ${second}).`,
  ]);
});

test('a first start is tried six times, with pauses, and its error has the advice and the end of the log', async (t) => {
  const { program, launches, folder } = await programOf(t, 'echo no room; exit 1', {
    serves: () => Promise.resolve(false),
    advice: 'Make room.',
  });
  const pauses: unknown[] = [];
  const { setImmediate: turn } = timers;
  const mocked = t.mock.method(timers, 'setTimeout', (ms?: number) => (pauses.push(ms), turn()));
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  await assert.rejects(startSupervisedServer(program), {
    name: 'SetupError',
    message: `Tool does not start on ${folder}. Make room. The end of its log:\n${'no room\n'.repeat(6).trim()}`,
  });
  assert.deepEqual(
    launches,
    Array.from({ length: 6 }, () => ({ isRestart: false })),
  );
  assert.deepEqual(
    pauses.filter((ms) => ms === 300),
    Array.from({ length: 6 }, () => 300),
  );
});

test('a server that has ended is not taken for the program that responds at its address', async (t) => {
  let isFirst = true;
  const { program, launches } = await programOf(t, 'exec sleep 600', {
    serves: async (child) => {
      if (isFirst) {
        isFirst = false;
        child.kill('SIGKILL');
        await waitFor('its end', () => child.signalCode ?? undefined);
      }
      return true;
    },
  });
  const server = await startSupervisedServer(program);
  t.after(server.stop);
  assert.ok(isRunning(server.pid));
  assert.deepEqual(launches, [{ isRestart: false }, { isRestart: false }]);
});

test('a start that is cancelled leaves no process behind', async (t) => {
  const stopping = new AbortController();
  const pids: number[] = [];
  const { program, launches } = await programOf(t, 'exec sleep 600', {
    signal: stopping.signal,
    serves: async ({ pid = 0 }) => {
      pids.push(pid);
      stopping.abort();
      return false;
    },
  });
  await assert.rejects(startSupervisedServer(program), { name: 'AbortError' });
  assert.deepEqual([pids.length, pids.some(isRunning), launches.length], [1, false, 1]);
  await assert.rejects(startSupervisedServer(program), { name: 'AbortError' });
  assert.equal(launches.length, 1, 'nothing is started afterwards');
});

test('a server that outlived its process is stopped, which is logged', async (t) => {
  const { program, said } = await programOf(t, 'exec sleep 600');
  const server = await startSupervisedServer({ ...program, log: () => undefined });
  t.after(server.stop);
  const { pid } = server;
  await stopOrphan(program, () => Promise.resolve(undefined));
  assert.deepEqual([isRunning(pid), said], [true, []]);
  await stopOrphan(program, async () => (server.pid === pid && isRunning(pid) ? pid : undefined));
  assert.deepEqual(said, [`Tool was still running (process ${pid}); restarting it.`]);
  assert.equal(isRunning(pid), false);
});
