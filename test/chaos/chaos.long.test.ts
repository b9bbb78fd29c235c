import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runChaos } from './chaos.ts';
import { printed } from './report.ts';

test('a short seeded run of the breaker leaves no task unfinished, no answer untrue and no credit missing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-chaos-'));
  const report = await runChaos({
    seed: 7,
    seconds: 12,
    apis: 1,
    workers: 1,
    kinds: [],
    createsPerSecond: 3,
    faultEverySeconds: 1,
    settleLimitSeconds: 300,
    waitsForBooks: false,
    folder,
    say: () => undefined,
  });
  assert.deepEqual(report.violations, [], `${printed(report)}\nlogs are in ${folder}`);
  assert.ok(Object.keys(report.faults).length > 8, 'it was hurt in many ways');
  assert.ok((report.tasks['success'] ?? 0) > 0, 'and did its work all the same');
  const manners = Object.keys(report.faults).filter((name) => name.startsWith('upstream '));
  assert.ok(manners.length > 8, 'also where the paid upstream was bad');
  await rm(folder, { recursive: true, force: true });
});
