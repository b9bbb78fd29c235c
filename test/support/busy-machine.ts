import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Saturates the machine with processes that only compute, until `stop`. They end by themselves when this process is gone. */
export function startBusyLoops(count: number): { stop(): Promise<void> } {
  // The id of its parent changes when that is gone, whatever killed it.
  const program = `const parent = process.ppid; while (process.ppid === parent) for (let n = 0; n < 1e8; n += 1);`;
  const loops: ChildProcess[] = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', program], { stdio: 'ignore' }),
  );
  return {
    stop: async () => {
      const exits = loops.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      const gone = exits.map((loop) => once(loop, 'exit'));
      for (const loop of exits) loop.kill('SIGKILL');
      await Promise.all(gone);
    },
  };
}
