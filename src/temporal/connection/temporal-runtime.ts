import { DefaultLogger, type LogLevel, Runtime } from '@temporalio/worker';
import { lookup } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { SetupError } from '../../platform/setup-errors-and-error-messages.ts';
import type { Log } from '../../platform/log/log.ts';

let installed: Promise<void> | undefined;

/** Installs the SDK's one runtime: its log lines go to ours, its metrics to `TEMPORAL_METRICS_PORT`, signals to the entry points. */
export function installTemporalRuntime(log: Log, settings: RuntimeSettings = {}): Promise<void> {
  return (installed ??= install(log, settings));
}

type RuntimeSettings = { readonly host?: string; readonly temporalMetricsPort?: number | undefined };

async function install(log: Log, settings: RuntimeSettings): Promise<void> {
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) =>
    log[ourLogLevelOf(level, message)](meta, message),
  );
  const bindAddress = await metricsAddress(settings);
  try {
    Runtime.install({
      logger,
      shutdownSignals: [],
      telemetryOptions: {
        // Otherwise the native part of the SDK writes to the terminal, over our output.
        logging: { forward: {} },
        ...(bindAddress !== undefined && { metrics: { prometheus: { bindAddress, ...conventions } } }),
      },
    });
  } catch (cause) {
    if (bindAddress === undefined) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new SetupError(`The metrics of Temporal's SDK cannot be served on ${bindAddress}: ${message}`, { cause });
  }
}

/** Names follow the conventions of Prometheus. */
const conventions = { countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };

/** The SDK accepts no host names. */
async function metricsAddress({ host, temporalMetricsPort: port }: RuntimeSettings): Promise<string | undefined> {
  if (host === undefined || port === undefined) return undefined;
  const { address } = await lookup(host);
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Most of our workers have no workflows, about which the SDK warns. */
const expectedWarning = 'No workflows registered, not polling for workflow tasks';

export function ourLogLevelOf(level: LogLevel, message: string) {
  return message === expectedWarning ? 'info' : levels[level];
}

const levels: Record<LogLevel, 'trace' | 'debug' | 'warn' | 'error'> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
};
