#!/usr/bin/env node
import { readConfig } from './config.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { startApiRole } from './roles/api-role.ts';
import { externalSettings } from './roles/external-settings.ts';
import { startMetricsRole } from './roles/metrics-role.ts';
import { fatalErrors, runUntilSignal } from './roles/run-until-signal.ts';
import { sayAndExit } from './say-and-exit.ts';

// The API alone: PostgreSQL and Temporal are somewhere else. Several of these may run side by side.
try {
  const settings = externalSettings(readConfig());
  const log = createLog({ level: settings.logLevel });
  const metrics = createMetrics();
  const watched = await startMetricsRole(settings, log, metrics);
  const role = await startApiRole(settings, log, metrics);
  await runUntilSignal({ close: () => role.close().then(() => watched.close()) }, fatalErrors().promise, log);
} catch (error) {
  sayAndExit(error);
}
