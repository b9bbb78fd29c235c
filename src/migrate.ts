#!/usr/bin/env node
import { migrate } from './commands/migrate.ts';
import { readConfig } from './config.ts';
import { sayAndExit } from './roles/run-until-signal.ts';

// Brings database and Temporal namespace up to date, once per deploy, before api and worker.
process.umask(0o077);
try {
  const { lines } = await migrate(readConfig());
  for (const line of lines) process.stdout.write(`${line}\n`);
} catch (error) {
  sayAndExit(error);
}
