#!/usr/bin/env node
import { runWorker } from './run-worker.ts';

// Workers of the queues in WORKER_QUEUES. Several of these processes may run side by side.
await runWorker();
