#!/usr/bin/env node
import { startApi } from './start-api.ts';
import { runProcess } from './run-process.ts';

// The API only. Several of these processes may run side by side.
await runProcess((settings, log, metrics) => startApi(settings, log, metrics));
