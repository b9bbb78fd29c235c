#!/usr/bin/env node
import { readConfig } from './config.ts';
import { createLog } from './log.ts';
import { startApiRole } from './roles/api-role.ts';
import { externalSettings } from './roles/external-settings.ts';
import { fatalErrors, runUntilSignal } from './roles/run-until-signal.ts';
import { sayAndExit } from './say-and-exit.ts';

// The API alone: PostgreSQL and Temporal are somewhere else. Several of these may run side by side.
try {
  const settings = externalSettings(readConfig());
  const log = createLog({ level: settings.logLevel });
  await runUntilSignal(await startApiRole(settings, log), fatalErrors().promise, log);
} catch (error) {
  sayAndExit(error);
}
