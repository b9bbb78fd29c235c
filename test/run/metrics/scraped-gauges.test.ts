import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { exportScrapedGauges } from '../../../src/run/metrics/export-scraped-gauges.ts';
import { scrapedGauges, type ScrapeSnapshot } from '../../../src/run/metrics/scraped-gauges.ts';

const pool = { pool: 'fal/fast', limit: 4, occupying: 3, waiting: 2, oldestWaitMs: 61_500, coolingMs: 7_250 };
const idle = { pool: 'fal/slow', limit: 1, occupying: 0, waiting: 0, oldestWaitMs: undefined, coolingMs: undefined };
const unlimited = { ...pool, pool: 'fal/unlimited', limit: null };

/** Each figure is different, so that none stands for another one. */
const snapshot = {
  databases: [
    ['api', { idle: 1, busy: 2, limit: 10, waiting: 3 }],
    ['worker', { idle: 4, busy: 5, limit: 20, waiting: 6 }],
  ],
  maintenance: { auditedAt: 1_500, fullyAuditedAt: 2_500, reconciledAt: 3_500, ungrantedPayments: 11, violations: 12 },
  payments: { reconciledAt: 4_500 },
  stuck: { tasks: 13 },
  queues: {
    models: new Map([
      ['local', { isRemote: false }],
      ['remote', { isRemote: true }],
    ]),
    counts: [
      { model: 'local', state: 'waiting', tasks: 1, oldestMs: 1_250 },
      { model: 'local', state: 'queuing', tasks: 2, oldestMs: 2_250 },
      { model: 'remote', state: 'queuing', tasks: 3, oldestMs: 3_250 },
      { model: 'remote', state: 'generating', tasks: 4, oldestMs: 4_250 },
    ],
  },
  callbacks: { pending: 14, due: 15, oldestDueMs: 5_250 },
  providers: [
    { provider: 'fal', origin: 'https://fal.example', state: 'draining', pools: [pool, idle, unlimited] },
    { provider: 'preview', origin: null, state: 'enabled', pools: [{ ...pool, pool: 'preview/p' }] },
  ],
} as unknown as ScrapeSnapshot; // the fields that are read

const gauge = (name: string, from: Partial<ScrapeSnapshot> = snapshot) =>
  Object.fromEntries(
    scrapedGauges
      .filter((one) => one.name === `videogen_${name}`)
      .flatMap(({ samples }) => samples(from))
      .map(([labels, value]) => [Object.values(labels).join(' '), value]),
  );

const expected: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  database_connections: { 'api idle': 1, 'api busy': 2, 'worker idle': 4, 'worker busy': 5 },
  database_connections_limit: { api: 10, worker: 20 },
  database_callers_waiting: { api: 3, worker: 6 },
  ledger_audited_timestamp_seconds: { recent: 1.5, full: 2.5 },
  reconciled_timestamp_seconds: { '': 3.5 },
  payments_reconciled_timestamp_seconds: { '': 4.5 },
  ungranted_payments: { '': 11 },
  ledger_violations: { '': 12 },
  stuck_tasks: { '': 13 },
  tasks: {
    'waiting local': 1,
    'queuing local': 2,
    'generating local': 0,
    'waiting remote': 0,
    'queuing remote': 3,
    'generating remote': 4,
  },
  queue_depth: {
    'tasks local': 1,
    'generation local': 2,
    'tasks remote': 0,
    'generation-remote remote': 3,
    'callbacks ': 15,
  },
  queue_oldest_age_seconds: {
    'tasks local': 1.25,
    'generation local': 2.25,
    'tasks remote': 0,
    'generation-remote remote': 3.25,
    'callbacks ': 5.25,
  },
  callbacks_pending: { '': 14 },
  provider_slots: { 'fal fast': 4, 'fal slow': 1 },
  provider_slots_taken: { 'fal fast': 3, 'fal slow': 0 },
  provider_tasks_waiting: { 'fal fast': 2, 'fal slow': 0 },
  provider_longest_wait_seconds: { 'fal fast': 61.5, 'fal slow': 0 },
  provider_cooldown_seconds: { 'fal fast': 7.25, 'fal slow': 0 },
  provider_switch: { 'fal enabled': 0, 'fal draining': 1, 'fal off': 0 },
};

test('each gauge of a scrape has its own figure, and times in seconds', () => {
  assert.deepEqual(
    Object.keys(expected).toSorted((a, b) => a.localeCompare(b)),
    scrapedGauges.map(({ name }) => name.replace('videogen_', '')).toSorted((a, b) => a.localeCompare(b)),
  );
  for (const [name, samples] of Object.entries(expected)) assert.deepEqual(gauge(name), samples, name);
});

test('tasks of models that have left the catalogue count together', () => {
  const queues = {
    models: new Map(),
    counts: [1, 2].map((tasks) => ({ model: `m${tasks}`, state: 'waiting', tasks })),
  };
  const [[group, tasks] = []] = Object.entries(gauge('tasks', { queues } as unknown as ScrapeSnapshot)); // the fields that are read
  assert.match(group ?? '', /^waiting /);
  assert.equal(tasks, 3);
});

test('scrapes share their values for five seconds, and a gauge has none before each of its sources was read', async (t) => {
  let now = 1_000_000;
  t.mock.method(performance, 'now', () => now);
  const registry = new Registry();
  let [tasks, isUnavailable] = [1, true];
  const queues = () => Promise.resolve({ counts: [], models: snapshot.queues.models });
  const callbacks = () => (isUnavailable ? Promise.reject(new Error('a test')) : Promise.resolve(snapshot.callbacks));
  exportScrapedGauges(registry, { stuck: () => Promise.resolve({ tasks }), queues, callbacks });
  const scraped = async () => {
    const text = await registry.metrics();
    return [/^videogen_stuck_tasks (\d+)$/m.exec(text)?.[1], /^videogen_queue_depth\{/m.test(text)];
  };
  assert.deepEqual(await scraped(), ['1', false]);
  [tasks, isUnavailable] = [2, false];
  now += 4_999;
  assert.deepEqual(await scraped(), ['1', false]);
  now += 1;
  assert.deepEqual(await scraped(), ['2', true]);
});

test('no gauge has another figure than 0 for what was not read', () => {
  const figures = scrapedGauges.flatMap(({ samples }) => samples({}).map(([, value]) => value));
  assert.deepEqual(new Set(figures), new Set([0]));
});
