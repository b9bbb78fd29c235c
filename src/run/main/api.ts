#!/usr/bin/env node
import { startApi } from './start-api.ts';
import { runPartUntilSignal } from './run-api-or-worker-process.ts';

// The API only. Several of these processes may run side by side.
await runPartUntilSignal((settings, log, metrics) => startApi(settings, log, metrics));
