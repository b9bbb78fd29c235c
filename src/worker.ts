#!/usr/bin/env node
import { runRole } from './roles/run-role.ts';
import { startWorkerRole } from './roles/worker-role.ts';

// The workers alone: PostgreSQL and Temporal are somewhere else. Several of these may run side by side.
await runRole((settings, log, metrics, onFatal) => startWorkerRole(settings, log, onFatal, metrics));
