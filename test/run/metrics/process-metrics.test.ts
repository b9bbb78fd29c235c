import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { buildVersion, exportProcessMetrics } from '../../../src/run/metrics/process-metrics.ts';

const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as Readonly<Record<string, string>>;

test('a process exports its build and what it uses, without sums that have the names of counters', async () => {
  const metrics = createMetrics();
  exportProcessMetrics(metrics);
  const text = await metrics.registry.metrics();
  const [{ version = '' }, { state = '' }] = [await read('package.json'), await read('dist/build.json')];
  assert.equal(buildVersion(), version);
  const labels = `version="${version}",revision="${state.slice(0, 12)}",node="${process.versions.node}"`;
  assert.ok(text.includes(`\nvideogen_build_info{${labels}} 1\n`), /^videogen_build_info.*$/m.exec(text)?.[0]);
  assert.match(text, /^process_resident_memory_bytes \d/m);
  for (const of of ['handles', 'requests', 'resources']) assert.ok(!text.includes(`nodejs_active_${of}_total`), of);
});
