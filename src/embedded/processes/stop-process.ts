import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '../../domain/setup-error.ts';
import { isStillRunning, type RunningProcess } from './running-process.ts';

export type StopStep = { readonly signal: NodeJS.Signals; readonly waitMs: number };

/** Sends the signals one after another, each with its time, until the process is gone; false when it outlived them all. */
export async function stopProcess(running: RunningProcess, steps: readonly StopStep[]): Promise<boolean> {
  for (const { signal, waitMs } of steps) {
    if (!(await isStillRunning(running))) return true;
    send(running.pid, signal);
    if (await isGoneWithin(running, waitMs)) return true;
  }
  return !(await isStillRunning(running));
}

/** True as soon as the process is gone, false when it is still there after the time. */
export async function isGoneWithin(running: RunningProcess, waitMs: number): Promise<boolean> {
  const deadline = Date.now() + waitMs;
  while (Date.now() < deadline) {
    if (!(await isStillRunning(running))) return true;
    await pause(30);
  }
  return false;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended by itself between the look and the signal, which is what we wanted.
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
