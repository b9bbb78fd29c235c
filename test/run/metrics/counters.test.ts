import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Catalogue } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { createMetrics, eventMetrics, type Metrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import type { ServiceEvent } from '../../../src/run/metrics/service-event.ts';
import { catalogueFrom } from '../../providers/open-providers-stage.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

// What each event changes at /metrics. That the events are emitted is tested with their emitters.

type Kind = ServiceEvent['kind'];
type Fields<Event> = Event extends ServiceEvent ? Omit<Event, 'kind'> : never;
/** Samples by name and labels, without `videogen_` and the buckets of histograms. */
type Samples = Readonly<Record<string, number>>;
type Counted = {
  readonly [K in Kind]: readonly (readonly [Fields<Extract<ServiceEvent, { readonly kind: K }>>, Samples])[];
};

const duration = (name: string, labels: string, seconds: number): Samples => ({
  [`${name}_seconds_sum${labels}`]: seconds,
  [`${name}_seconds_count${labels}`]: 1,
});

const param = { ...taskParam('a film'), model: 'film' };
const job = { provider: 'studio', pool: 'studio/wan', outcome: 'success', runMs: 2500 } as const;
const unpriced = { costMicros: undefined, costCurrency: undefined, costBasis: undefined };
const priced = { costMicros: 70, costCurrency: 'EUR', costBasis: 'reported' } as const;
const jobsEnded = (outcome: string) => `provider_jobs_ended_total{provider="studio",model="wan",outcome="${outcome}"}`;
const jobDuration = (seconds: number) => duration('provider_job_duration', '{provider="studio",model="wan"}', seconds);
const request = { route: '/media/*', method: 'GET', status: '206' };
const requests = 'http_requests_total{route="/media/*",method="GET",status="206"}';
const attempt = (outcome: string) => ({
  [`callback_attempts_total{outcome="${outcome}"}`]: 1,
  ...duration('callback_attempt_duration', '', 0.04),
});
const disk = (isWritable: number) => ({
  'disk_free_bytes{folder="work folder"}': 3,
  'disk_size_bytes{folder="work folder"}': 9,
  'disk_writable{folder="work folder"}': isWritable,
});
/** The time of the test's clock. */
const nowMs = 7000;

const counted: Counted = {
  request_finished: [
    [
      { ...request, durationSeconds: 0.5 },
      { [requests]: 1, ...duration('http_request_duration', '{route="/media/*",method="GET"}', 0.5) },
    ],
    [{ ...request, durationSeconds: undefined }, { [requests]: 1 }],
  ],
  logged_requests_dropped: [[{ requests: 3 }, { logged_requests_dropped_total: 3 }]],
  content_checked: [
    [
      { outcome: 'refused', durationMs: 250 },
      {
        'moderation_checks_total{outcome="refused"}': 1,
        ...duration('moderation_check_duration', '', 0.25),
      },
    ],
  ],
  callback_attempted: [
    [{ status: 200, durationMs: 40 }, attempt('delivered')],
    [{ status: 299, durationMs: 40 }, attempt('delivered')],
    [{ status: 300, durationMs: 40 }, attempt('refused')],
    [{ status: 199, durationMs: 40 }, attempt('refused')],
    [{ status: 410, durationMs: 40 }, attempt('rejected')],
    [{ status: undefined, durationMs: 40 }, attempt('unreachable')],
  ],
  payment_settled: [[{ outcome: 'granted_late' }, { 'payments_total{outcome="granted_late"}': 1 }]],
  stage_ended: [
    [{ stage: 'store', durationMs: 1500 }, duration('task_stage_duration', '{stage="store"}', 1.5)],
    // The clocks of two machines may differ.
    [{ stage: 'generation', durationMs: -20 }, duration('task_stage_duration', '{stage="generation"}', 0)],
  ],
  task_charged: [[{ model: 'film', credits: 7 }, { 'credits_charged_total{model="film"}': 7 }]],
  task_ended: [
    [
      { task: { param, state: 'success', failure: undefined, creditsRefunded: 0 } },
      { 'tasks_ended_total{model="film",state="success",fail_code=""}': 1 },
    ],
    [
      { task: { param, state: 'fail', failure: { failCode: 'timeout', failMsg: 'A test.' }, creditsRefunded: 7 } },
      {
        'tasks_ended_total{model="film",state="fail",fail_code="timeout"}': 1,
        'credits_refunded_total{model="film"}': 7,
      },
    ],
  ],
  order_difference: [
    [
      { model: 'film', aspect: 'sound', outcome: 'accepted' },
      { 'order_differences_total{model="film",aspect="sound",outcome="accepted"}': 1 },
    ],
  ],
  uncertain_create_resolved: [[{ outcome: 'too_late' }, { 'uncertain_creates_resolved_total{outcome="too_late"}': 1 }]],
  task_reconciled: [[{ outcome: 'started' }, { 'tasks_reconciled_total{outcome="started"}': 1 }]],
  reconcile_finding: [[{ finding: 'callback_owed' }, { 'reconcile_findings_total{finding="callback_owed"}': 1 }]],
  provider_call: [
    [{ provider: 'studio', outcome: 'busy' }, { 'provider_calls_total{provider="studio",outcome="busy"}': 1 }],
  ],
  provider_lookup: [
    [{ provider: 'studio', outcome: 'found' }, { 'provider_lookups_total{provider="studio",outcome="found"}': 1 }],
  ],
  provider_resubmission: [[{ provider: 'studio' }, { 'provider_resubmissions_total{provider="studio"}': 1 }]],
  provider_poll: [
    [{ provider: 'studio', outcome: 'unclear' }, { 'provider_polls_total{provider="studio",outcome="unclear"}': 1 }],
  ],
  provider_download: [
    [{ provider: 'studio', outcome: 'failed' }, { 'provider_downloads_total{provider="studio",outcome="failed"}': 1 }],
    [
      { provider: 'studio', outcome: 'complete', bytes: 9 },
      {
        'provider_downloads_total{provider="studio",outcome="complete"}': 1,
        'provider_downloaded_bytes_total{provider="studio"}': 9,
      },
    ],
  ],
  job_ended: [
    [
      { job: { ...job, ...priced } },
      {
        [jobsEnded('success')]: 1,
        ...jobDuration(2.5),
        'provider_cost_micros_total{provider="studio",currency="EUR",basis="reported"}': 70,
      },
    ],
    [
      { job: { ...job, ...priced, costBasis: undefined, outcome: 'fail', runMs: -20 } },
      {
        [jobsEnded('fail')]: 1,
        ...jobDuration(0),
        'provider_cost_micros_total{provider="studio",currency="EUR",basis="unknown"}': 70,
      },
    ],
    [{ job: { ...job, ...unpriced, outcome: 'abandoned' } }, { [jobsEnded('abandoned')]: 1 }],
    [{ job: { ...job, ...unpriced, runMs: undefined } }, { [jobsEnded('success')]: 1 }],
    // A job on our own machine.
    [{ job: { ...job, ...priced, pool: undefined } }, {}],
  ],
  database_checked: [
    [{ part: 'api', isUp: true }, { 'database_up{of="api"}': 1 }],
    [{ part: 'api', isUp: false }, { 'database_up{of="api"}': 0 }],
  ],
  temporal_checked: [
    [{ part: 'worker', isUp: true }, { 'temporal_up{of="worker"}': 1 }],
    [{ part: 'worker', isUp: false }, { 'temporal_up{of="worker"}': 0 }],
  ],
  schedule_checked: [
    [{ queue: 'tasks', schedule: 'audit', isPresent: true }, { 'schedule_present{queue="tasks",schedule="audit"}': 1 }],
    [
      { queue: 'tasks', schedule: 'audit', isPresent: false },
      { 'schedule_present{queue="tasks",schedule="audit"}': 0 },
    ],
  ],
  clock_checked: [[{ part: 'api', offsetMs: -1500 }, { 'clock_offset_seconds{of="api"}': -1.5 }]],
  disk_checked: [
    [{ folder: 'work folder', freeBytes: 3, sizeBytes: 9, isWritable: true }, disk(1)],
    [{ folder: 'work folder', freeBytes: 3, sizeBytes: 9, isWritable: false }, disk(0)],
  ],
  log_lines_dropped: [[{ lines: 3 }, { log_lines_dropped_total: 3 }]],
  catalogue_read: [
    [
      { part: 'worker', isRefused: false },
      { 'catalogue_stale{of="worker"}': 0, 'catalogue_loaded_timestamp_seconds{of="worker"}': nowMs / 1000 },
    ],
    [{ part: 'worker', isRefused: true }, { 'catalogue_stale{of="worker"}': 1 }],
  ],
};

const tiers = [[{ provider: 'studio', model: 'wan' }]];
const withNames = catalogueFrom({
  providers: { studio: { kind: 'own', baseUrl: 'http://studio.example' } },
  models: [{ model: 'film', title: 'Film', prices: [{ creditsPerSecond: 1 }], tiers }],
});

async function samplesOf({ registry }: Pick<Metrics, 'registry'>): Promise<Samples> {
  const lines = (await registry.metrics()).split('\n');
  const samples = lines.filter((line) => line.startsWith('videogen_') && !line.includes('_bucket{'));
  return Object.fromEntries(
    samples.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice('videogen_'.length, space), Number(line.slice(space))];
    }),
  );
}

/** Emits one event while this catalogue is in force, and returns the samples that it has added or changed. */
async function changesBy(event: ServiceEvent, catalogue: Catalogue): Promise<Samples> {
  const metrics = createMetrics();
  let inForce = withNames;
  const { emit } = metrics.eventsOf(() => inForce);
  const before = await samplesOf(metrics);
  inForce = catalogue;
  emit(event);
  const after = Object.entries(await samplesOf(metrics));
  return Object.fromEntries(after.filter(([name, value]) => before[name] !== value));
}

for (const [kind, cases] of Object.entries(counted)) {
  test(`${kind} is counted with its values and labels, and a name that has left the catalogue has no label of its own`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: nowMs });
    for (const [fields, samples] of cases) {
      const event = { kind, ...fields } as ServiceEvent; // The table has each kind with its fields.
      assert.deepEqual(await changesBy(event, withNames), samples);
      const removed = Object.entries(samples).map(([name, value]) => [
        name.replaceAll(/"(?:film|studio|wan)"/g, '"(removed)"'),
        value,
      ]);
      assert.deepEqual(await changesBy(event, builtInCatalogue()), Object.fromEntries(removed));
    }
  });
}

test('every event has a metric, and no metric has another event', () => {
  const kinds = new Set(eventMetrics.map(({ on }) => on.kind));
  assert.deepEqual([...kinds].toSorted(), Object.keys(counted).toSorted());
});

test('counters whose increase is an alert exist from the start', async () => {
  const zeros = {
    callback_attempts_total: { outcome: ['delivered', 'rejected', 'refused', 'unreachable'] },
    moderation_checks_total: { outcome: ['allowed', 'refused', 'error'] },
    payments_total: { outcome: ['granted', 'granted_late', 'not_granted', 'reversed', 'not_comparable', 'unknown'] },
    uncertain_creates_resolved_total: { outcome: ['none', 'refunded', 'answered', 'too_late'] },
    tasks_reconciled_total: { outcome: ['started', 'refunded'] },
    reconcile_findings_total: {
      finding: [
        'callback_owed',
        'workflow_left',
        'provider_job_left',
        'media_expired',
        'upload_expired',
        'ledger_violation',
        'failed',
      ],
    },
  };
  const labelled = Object.entries(zeros).flatMap(([name, labels]) =>
    Object.entries(labels).flatMap(([label, values]) => values.map((value) => `${name}{${label}="${value}"}`)),
  );
  const names = [...labelled, 'logged_requests_dropped_total', 'log_lines_dropped_total'];
  const found = Object.entries(await samplesOf(createMetrics())).filter(([name]) => name.includes('_total'));
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(names.map((name) => [name, 0])));
});

const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

test('histograms have the buckets that dashboards compare', () => {
  const buckets = eventMetrics.flatMap((metric) =>
    metric.type === 'histogram' ? [[metric.name, metric.buckets] as const] : [],
  );
  assert.deepEqual(Object.fromEntries(buckets), {
    videogen_http_request_duration_seconds: requestBuckets,
    videogen_moderation_check_duration_seconds: requestBuckets,
    videogen_callback_attempt_duration_seconds: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    videogen_task_stage_duration_seconds: [...requestBuckets, 60, 120, 300, 600, 1800, 3600, 7200],
    videogen_provider_job_duration_seconds: [5, 10, 20, 30, 60, 120, 180, 300, 600, 1200, 1800, 3600, 7200],
  });
});

test('each part of a process has its connections, read at each scrape', async () => {
  const metrics = createMetrics();
  let idle = 1;
  metrics.databases.set('api', () => ({ limit: 10, idle, busy: 2, waiting: 3 }));
  metrics.databases.set('worker', () => ({ limit: 20, idle: 4, busy: 5, waiting: 6 }));
  const expected = (apiIdle: number) => ({
    'database_connections{of="api",state="idle"}': apiIdle,
    'database_connections{of="api",state="busy"}': 2,
    'database_connections{of="worker",state="idle"}': 4,
    'database_connections{of="worker",state="busy"}': 5,
    'database_connections_limit{of="api"}': 10,
    'database_connections_limit{of="worker"}': 20,
    'database_callers_waiting{of="api"}': 3,
    'database_callers_waiting{of="worker"}': 6,
  });
  for (idle of [1, 7]) {
    const found = Object.entries(await samplesOf(metrics)).filter(([name]) => name.startsWith('database_'));
    assert.deepEqual(Object.fromEntries(found), expected(idle));
  }
});

test('a duration is counted in the buckets that it fits', async () => {
  const metrics = createMetrics();
  metrics.eventsOf(builtInCatalogue).emit({ kind: 'callback_attempted', status: 200, durationMs: 40 });
  const text = await metrics.registry.metrics();
  const inBucket = (le: string) => text.includes(`videogen_callback_attempt_duration_seconds_bucket{le="${le}"} 1\n`);
  assert.deepEqual([inBucket('0.025'), inBucket('0.05')], [false, true]);
});
