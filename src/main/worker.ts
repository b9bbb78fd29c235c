#!/usr/bin/env node
import { runProcess } from './run-process.ts';
import { startWorker } from './start-worker.ts';

// The workers alone: PostgreSQL and Temporal are somewhere else. Several of these may run side by side.
await runProcess((settings, log, metrics, onFatal) => startWorker(settings, log, onFatal, metrics));
