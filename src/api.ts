#!/usr/bin/env node
import { startApiRole } from './roles/api-role.ts';
import { runRole } from './roles/run-role.ts';

// The API alone: PostgreSQL and Temporal are somewhere else. Several of these may run side by side.
await runRole(startApiRole);
