import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Runtime } from '@temporalio/worker';
import { createLog } from '../../../src/platform/log/log.ts';
import { installTemporalRuntime, ourLogLevelOf } from '../../../src/temporal/connection/temporal-runtime.ts';

// The runtime ends with its last worker.
after(() => Runtime.instance().shutdown());

test("a warning of Temporal's SDK is one of ours, but for the one about workers that are meant to be without workflows", () => {
  assert.equal(ourLogLevelOf('WARN', 'Failed to encode heartbeat details, cancelling Activity'), 'warn');
  assert.equal(ourLogLevelOf('WARN', 'No workflows registered, not polling for workflow tasks'), 'info');
});

test("the native part of Temporal's SDK writes into our log, not over what stands in the terminal", async () => {
  await installTemporalRuntime(createLog({ level: 'silent' }));
  assert.equal(Runtime.instance().options.runtimeOptions.logExporter.type, 'forward');
});
