#!/usr/bin/env node
import { runWorker } from './run-worker.ts';

// Workers alone, of the queues in WORKER_QUEUES: PostgreSQL and Temporal are somewhere else. Several of these may run side by side.
await runWorker();
