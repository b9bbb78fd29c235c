#!/usr/bin/env node
import { readConfig } from './config.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { externalSettings } from './roles/settings.ts';
import { startMetricsRole } from './roles/metrics-role.ts';
import { fatalErrors, runUntilSignal, sayAndExit } from './roles/run-until-signal.ts';
import { startWorkerRole } from './roles/worker-role.ts';

// The workers alone: PostgreSQL and Temporal are somewhere else. Several of these may run side by side.
process.umask(0o077);
try {
  const settings = externalSettings(readConfig());
  const log = createLog({ level: settings.logLevel });
  const fatal = fatalErrors();
  const metrics = createMetrics();
  const watched = await startMetricsRole(settings, log, metrics);
  const role = await startWorkerRole(settings, log, fatal.reject, metrics);
  await runUntilSignal({ close: () => role.close().then(() => watched.close()) }, fatal.promise, log);
} catch (error) {
  sayAndExit(error);
}
