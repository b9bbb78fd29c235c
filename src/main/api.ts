#!/usr/bin/env node
import { startApi } from './start-api.ts';
import { runProcess } from './run-process.ts';

// The API alone: PostgreSQL and Temporal are somewhere else. Several of these may run side by side.
await runProcess(startApi);
