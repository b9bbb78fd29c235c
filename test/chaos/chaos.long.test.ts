import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { skipsWithoutMount } from '../support/servers/small-disk.ts';
import { seedVariable } from '../support/tier.ts';
import { runChaos } from './chaos.ts';
import { diskNames } from './faults/full-disks.ts';
import { printed } from './report.ts';

test('ten minutes of failures of every part leave no task unfinished, no answer untrue and no credit missing', async (t) => {
  const seed = Number(process.env[seedVariable]);
  t.diagnostic(`seed ${seed}`);
  const folder = await mkdtemp(join(tmpdir(), 'videogen-chaos-'));
  const report = await runChaos({ seed, seconds: 600, folder, say: () => undefined });
  assert.deepEqual(report.violations, [], `seed ${seed}\n${printed(report)}`);
  assert.ok(Object.keys(report.faults).length > 8, 'many kinds of failures were injected');
  assert.ok((report.tasks['success'] ?? 0) > 0, 'tasks succeeded all the same');
  assert.ok(
    Object.keys(report.wishes).some((name) => name.startsWith('spend cap reached')),
    'a cap was reached',
  );
  assert.ok(report.codes > 100, 'many codes were redeemed by two accounts at the same time');
  assert.ok((report.checkouts['paid'] ?? 0) > 100, 'many packages of credits were paid');
  assert.ok((report.tasks['success, partly refunded'] ?? 0) > 0, 'videos fell short, and were refunded in part');
  assert.ok((report.tasks['fail result_invalid'] ?? 0) > 0, 'videos fell short, and were refunded in full');
  if (skipsWithoutMount === false)
    for (const name of diskNames) assert.ok((report.faults[`full disk: ${name}`] ?? 0) > 0, `the ${name} had no space`);
  const network = Object.keys(report.faults).filter((name) => name.startsWith('network: '));
  assert.ok(network.length > 8, 'the upstreams and their networks failed in many ways');
  await rm(folder, { recursive: true, force: true });
});
