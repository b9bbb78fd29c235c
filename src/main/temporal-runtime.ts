import { DefaultLogger, type LogLevel, Runtime } from '@temporalio/worker';
import type { Log } from '../log.ts';

let installed = false;

/** Sends the SDK's log lines to ours and leaves signals to the entry points. A process has one runtime: the first call counts. */
export function installTemporalRuntime(log: Log): void {
  if (installed) return;
  installed = true;
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) => log[levels[level]](meta, message));
  // Otherwise the native part of the SDK writes to the terminal by itself, over our own output.
  Runtime.install({ logger, shutdownSignals: [], telemetryOptions: { logging: { forward: {} } } });
}

// The SDK warns of a worker without workflows, which is what the workers of two of our queues are meant to be.
const levels: Record<LogLevel, 'trace' | 'debug' | 'info' | 'error'> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'info',
  ERROR: 'error',
};
