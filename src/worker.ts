#!/usr/bin/env node
import { readConfig } from './config.ts';
import { createLog } from './log.ts';
import { externalSettings } from './roles/external-settings.ts';
import { fatalErrors, runUntilSignal } from './roles/run-until-signal.ts';
import { startWorkerRole } from './roles/worker-role.ts';
import { sayAndExit } from './say-and-exit.ts';

// The workers alone: PostgreSQL and Temporal are somewhere else. Several of these may run side by side.
try {
  const settings = externalSettings(readConfig());
  const log = createLog({ level: settings.logLevel });
  const fatal = fatalErrors();
  await runUntilSignal(await startWorkerRole(settings, log, fatal.reject), fatal.promise, log);
} catch (error) {
  sayAndExit(error);
}
