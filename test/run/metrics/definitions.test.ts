import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { installationSources } from '../../../src/run/metrics/scrape-sources.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { exportProcessMetrics } from '../../../src/run/metrics/process-metrics.ts';
import { exportScrapedGauges } from '../../../src/run/metrics/export-scraped-gauges.ts';
import { createDatabase } from '../../../src/platform/database/database.ts';
import { promtool, skipsWithoutPromtool } from '../../support/documents/promtool.ts';

// Everything that a process with an API and a worker defines, and what the alerts, the dashboard, and the documentation claim exists.

const exposed = createMetrics();
exportProcessMetrics(exposed);
const unused = createDatabase({ url: 'postgres://nowhere.invalid/none' });
exportScrapedGauges(exposed.registry, installationSources(unused, builtInCatalogue, { sellsCredits: true }));
const metrics = exposed.registry
  .getMetricsAsArray()
  .map(({ name, help, type }) => ({ name, help, type: String(type) }));

test('names follow the conventions of Prometheus', () => {
  for (const { name, type, help } of metrics) {
    assert.match(name, /^(?:videogen|process|nodejs)(?:_[a-z0-9]+)+$/);
    assert.equal(name.endsWith('_total'), type === 'counter', `${name}: counters, and no others, end in _total`);
    assert.doesNotMatch(name, /_(?:ms|milliseconds|minutes|kb|mb|percent)(?:_|$)/, 'base units');
    if (type === 'histogram') assert.match(name, /_(?:seconds|bytes)$/);
    assert.ok(help.length > 10 || !name.startsWith('videogen_'), name);
  }
});

test('the build of a process is exported with its version, that of Node.js, and its sources', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }; // every package has one
  const [line = '', ...others] = (await exposed.registry.metrics())
    .split('\n')
    .filter((one) => one.startsWith('videogen_build'));
  const { revision = '', ...labels } = Object.fromEntries(
    [...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  assert.deepEqual([labels, others], [{ version, node: process.versions.node }, []]);
  assert.match(revision, /^(?:unknown|[0-9a-f]{12})$/);
  assert.ok(line.endsWith('} 1'));
});

test('promtool accepts them', { skip: skipsWithoutPromtool }, async () => {
  const text = await exposed.registry.metrics();
  const { stdout, stderr, status } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  assert.deepEqual([stdout, stderr, status], ['', '', 0]);
});

test('alerts and dashboard use only metrics that exist', () => {
  const names = new Set(
    metrics.flatMap(({ name, type }) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  for (const file of ['ops/prometheus/alerts.yml', 'ops/prometheus/alerts.test.yml', 'ops/grafana/videogen.json']) {
    const used = readFileSync(file, 'utf8').match(/\b(?:videogen|process|nodejs)_[a-z0-9_]+/g) ?? [];
    assert.ok(used.length > 20, file);
    assert.deepEqual(
      [...new Set(used)].filter((name) => !names.has(name)),
      [],
      file,
    );
  }
});

test('the documents explain every metric, and no other', () => {
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  const rows = pages
    .flatMap((name) => readFileSync(join('docs', name), 'utf8').split('\n'))
    .filter((line) => line.startsWith('| `videogen_') && line.split('|').length === 6);
  const explained = rows.flatMap((row) => row.match(/`videogen_[a-z_]+/g) ?? []).map((name) => name.slice(1));
  const own = metrics.map(({ name }) => name).filter((name) => name.startsWith('videogen_'));
  assert.deepEqual([...new Set(explained)].toSorted(), own.toSorted());
});

test('the reference has the tables of commands and metrics that the program defines', () => {
  const { stderr, status } = spawnSync('node', ['ops/write-reference.mjs', '--check'], { encoding: 'utf8' });
  assert.deepEqual([stderr, status], ['', 0]);
});
