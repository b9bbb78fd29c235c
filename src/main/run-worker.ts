import { setFlagsFromString } from 'node:v8';
import { runProcess } from './run-process.ts';
import type { Settings } from './settings.ts';
import { startWorker } from './start-worker.ts';

/** The whole life of a process with workers alone; PostgreSQL and Temporal are somewhere else. */
export function runWorker(given: Partial<Pick<Settings, 'workerQueues'>> = {}): Promise<void> {
  keepHeapsSmall();
  return runProcess((settings, log, metrics, onFatal) => startWorker(settings, log, onFatal, metrics), given);
}

/**
 * Has V8 collect its heaps early, in every thread of the process. By default they grow to a multiple of what is in use first: with
 * 2,000 tasks outstanding a worker held 590 MB then, and 400 to 440 MB so.
 */
export function keepHeapsSmall(): void {
  setFlagsFromString('--heap-growing-percent=10');
  setFlagsFromString('--max-semi-space-size=4');
}
