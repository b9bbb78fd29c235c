import { Worker } from '@temporalio/worker';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

// Recorded from real runs by `npm run record-histories`; workflows of these shapes may be in flight at a deploy.
const folder = 'test/workflows/histories';
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
const workflowBundle = { codePath: fileURLToPath(import.meta.resolve('#workflow-bundle')) };
const tracedBundle = { codePath: fileURLToPath(import.meta.resolve('#workflow-bundle-traced')) };
/** A replay exports no spans. */
const silentSinks = { exporter: { export: { fn: () => {}, callDuringReplay: false } } };

for (const file of files) {
  test(`today's workflows replay ${file}`, async () => {
    await Worker.runReplayHistory({ workflowBundle }, history(file));
  });

  test(`so does the bundle of workers that export traces, which may be switched on at any time: ${file}`, async () => {
    await Worker.runReplayHistory({ workflowBundle: tracedBundle, sinks: silentSinks }, history(file));
  });
}

test('there is a history of every workflow, and of every way a task can go', () => {
  for (const shape of [
    'success',
    'success-with-callback',
    'success-with-late-callback',
    'success-after-a-repeat',
    'fail-with-callback',
    'cancelled',
    'success-remote',
    'waited-for-a-place',
    'callback',
    'reconcile',
    'reconcile-payments',
    'housekeeping',
    'audit',
    'close-account',
  ]) {
    assert.ok(
      files.some((file) => file.endsWith(`-${shape}.json`)),
      shape,
    );
  }
});

test('a history that today’s code would not write is refused', async () => {
  const file = files.find((name) => name.endsWith('-success-remote.json'));
  assert.ok(file);
  const altered = JSON.parse(
    JSON.stringify(history(file)).replaceAll('"storeResult"', '"storeSomethingElse"'),
  ) as unknown;
  await assert.rejects(Worker.runReplayHistory({ workflowBundle }, altered));
});

function history(file: string): unknown {
  return JSON.parse(readFileSync(join(folder, file), 'utf8')) as unknown;
}
