import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';
import { promtool, skipsWithoutPromtool } from '../support/documents/promtool.ts';

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          labels: z.object({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.object({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
        }),
      ),
    }),
  ),
});
const { groups } = rulesSchema.parse(parse(readFileSync('ops/prometheus/alerts.yml', 'utf8')));
const alerts = groups.flatMap(({ rules }) => rules);

test('each alert leads to a runbook of its own that begins with a command, and each runbook is of an alert', () => {
  const page = readFileSync('docs/operations/runbooks.md', 'utf8');
  const headings = [...page.matchAll(/^## (\w+)\n\n```sh\n(?:.+\n)+```\n\n\S/gm)].map(([, heading = '']) => heading);
  assert.equal(page.match(/^## /gm)?.length, headings.length);
  assert.deepEqual(headings.toSorted(), alerts.map(({ alert }) => alert).toSorted());
  for (const { alert, annotations } of alerts)
    assert.equal(annotations.runbook_url, `docs/operations/runbooks.md#${alert.toLowerCase()}`);
});

test('each alert is raised in a test of its own', () => {
  const tests = readFileSync('ops/prometheus/alerts.test.yml', 'utf8');
  const untested = alerts.filter(({ alert }) => !tests.includes(`alertname="${alert}"}', value: 1`));
  assert.deepEqual(untested, []);
});

test(
  'the rules are what Prometheus takes, and are raised when they should be',
  { skip: skipsWithoutPromtool },
  async () => {
    const run = promisify(execFile);
    await run(promtool, ['check', 'rules', 'ops/prometheus/alerts.yml']);
    await run(promtool, ['check', 'config', 'ops/prometheus/prometheus.yml']);
    await run(promtool, ['test', 'rules', 'ops/prometheus/alerts.test.yml']);
  },
);
