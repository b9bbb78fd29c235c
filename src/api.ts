#!/usr/bin/env node
import { readConfig } from './config.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { startApiRole } from './roles/api-role.ts';
import { externalSettings, type Role } from './roles/settings.ts';
import { startMetricsRole } from './roles/metrics-role.ts';
import { fatalErrors, runUntilSignal, sayAndExit } from './roles/run-until-signal.ts';

// The API alone: PostgreSQL and Temporal are somewhere else. Several of these may run side by side.
process.umask(0o077);
try {
  const settings = externalSettings(readConfig());
  const log = createLog({ level: settings.logLevel });
  const metrics = createMetrics();
  const watched = await startMetricsRole(settings, log, metrics);
  const role = await startApiRole(settings, log, metrics);
  const both: Role = { ...role, close: () => role.close().then(() => watched.close()) };
  await runUntilSignal(both, fatalErrors().promise, log, { delayMs: settings.shutdownDelayMs });
} catch (error) {
  sayAndExit(error);
}
