import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** One process of the service that is started again whenever it ends, as an orchestrator would. */
export type SupervisedProcess = {
  readonly name: string;
  /** Unix milliseconds of every signal that hurt it. */
  readonly hurtAt: readonly number[];
  /** How it ended each time that neither `kill` nor `stop` had ended it. */
  readonly ended: readonly string[];
  /** SIGKILL; the next one starts after a short pause. */
  kill(): void;
  /** SIGSTOP for so long: it lives, holds its connections, and does nothing. */
  freeze(ms: number): Promise<void>;
  /** SIGTERM, and no further start; false when it had to be killed, or did not end with 0. */
  stop(): Promise<boolean>;
};

const restartPauseMs = 300;
const stopLimitMs = 60_000;

/** Runs `node script`, again and again until `stop`; its output is appended to `logFile`. */
export function keepRunning(name: string, script: string, env: NodeJS.ProcessEnv, logFile: string): SupervisedProcess {
  const hurtAt: number[] = [];
  const ended: string[] = [];
  const killed = new WeakSet<ChildProcess>();
  let isStopping = false;
  let child = start();

  function start(): ChildProcess {
    const log = openSync(logFile, 'a');
    const started = spawn(process.execPath, ['--enable-source-maps', script], { env, stdio: ['ignore', log, log] });
    closeSync(log);
    started.once('exit', (code, signal) => {
      if (!isStopping && !killed.has(started)) ended.push(`${name} ended with ${signal ?? code}`);
      if (!isStopping) setTimeout(restart, restartPauseMs);
    });
    return started;
  }
  function restart(): void {
    if (!isStopping) child = start();
  }
  return {
    name,
    hurtAt,
    ended,
    kill: () => {
      hurtAt.push(Date.now());
      killed.add(child);
      child.kill('SIGKILL');
    },
    freeze: async (ms) => {
      hurtAt.push(Date.now());
      const frozen = child;
      if (!frozen.kill('SIGSTOP')) throw new Error(`${name} does not run`);
      await delay(ms);
      frozen.kill('SIGCONT');
    },
    stop: async () => {
      isStopping = true;
      const current = child;
      if (current.exitCode !== null || current.signalCode !== null) return true;
      const timer = setTimeout(() => current.kill('SIGKILL'), stopLimitMs);
      current.kill('SIGTERM');
      await once(current, 'exit');
      clearTimeout(timer);
      return current.exitCode === 0;
    },
  };
}
