import type { PartName } from '../../platform/process/process-part-type.ts';
import type { CatalogueModel } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { DatabaseUsage } from '../../platform/database/database.ts';
import type { CallbackBacklog, UnfinishedCount } from '../../library/operations/overview-counts.ts';
import type { LastChecksAndFindings } from '../../credits/last-checks-and-findings.ts';
import { providerSwitchPositions } from '../../tasks/jobs/provider-pools-and-switches.ts';
import type { ProviderStatus } from '../../tasks/jobs/list-providers-with-pools.ts';
import type { DescribedMetric, Sample } from './metric-declaration.ts';
import { removedLabel } from './model-and-provider-labels.ts';

// Metrics that are read at a scrape. To add one, add an entry to the table below. If no source has its value, add one to
// `ScrapeSnapshot`, and its read to `scrape-sources.ts`: a source that no process reads is not exported.

/** The values that a scrape reads; each process has some of the sources. */
export type ScrapeSnapshot = {
  readonly databases: readonly (readonly [PartName, DatabaseUsage])[];
  readonly maintenance: LastChecksAndFindings;
  readonly payments: { readonly reconciledAt: number };
  readonly stuck: { readonly tasks: number };
  readonly queues: Queues;
  readonly callbacks: CallbackBacklog;
  readonly providers: readonly ProviderStatus[];
};

type Queues = {
  readonly counts: readonly UnfinishedCount[];
  readonly models: ReadonlyMap<string, Pick<CatalogueModel, 'isRemote'>>;
};

export type ScrapedGauge = DescribedMetric & {
  /**
   * The sources that the samples need. There are no samples until each source
   * was read once; a source that becomes unavailable keeps its last value.
   */
  readonly from: readonly (keyof ScrapeSnapshot)[];
  readonly samples: (snapshot: Partial<ScrapeSnapshot>) => readonly Sample[];
};

export const scrapedGauges: readonly ScrapedGauge[] = [
  {
    name: 'videogen_database_connections',
    help: 'Open connections of this process to the database',
    labels: ['of', 'state'],
    process: 'both',
    actWhen: '`busy` stays at the limit',
    from: ['databases'],
    samples: ({ databases = [] }) =>
      databases.flatMap(([of, usage]) =>
        (['idle', 'busy'] as const).map((state): Sample => [{ of, state }, usage[state]]),
      ),
  },
  {
    name: 'videogen_database_connections_limit',
    help: 'Connections that this process may open to the database',
    labels: ['of'],
    process: 'both',
    actWhen: 'the sum over all processes nears `max_connections` of PostgreSQL',
    from: ['databases'],
    samples: ({ databases = [] }) => databases.map(([of, { limit }]) => [{ of }, limit]),
  },
  {
    name: 'videogen_database_callers_waiting',
    help: 'Statements of this process that wait for a connection',
    labels: ['of'],
    process: 'both',
    actWhen: 'above 0 for 5 minutes ([runbook](runbooks.md#videogendatabaseconnectionsshort))',
    from: ['databases'],
    samples: ({ databases = [] }) => databases.map(([of, { waiting }]) => [{ of }, waiting]),
  },
  {
    name: 'videogen_ledger_audited_timestamp_seconds',
    help: 'When the last completed audit of the ledger started, in Unix seconds; 0 when never',
    labels: ['kind'],
    process: 'API',
    actWhen:
      '`recent` more than 3 hours ago, `full` more than 30 hours ago ([runbook](runbooks.md#videogenauditstale))',
    from: ['maintenance'],
    samples: ({ maintenance }) => [
      [{ kind: 'recent' }, (maintenance?.auditedAt ?? 0) / 1000],
      [{ kind: 'full' }, (maintenance?.fullyAuditedAt ?? 0) / 1000],
    ],
  },
  {
    name: 'videogen_reconciled_timestamp_seconds',
    help: 'When reconcile last completed a pass over all unfinished tasks, in Unix seconds; 0 when never',
    process: 'API',
    actWhen: 'more than 10 minutes ago ([runbook](runbooks.md#videogenreconcilestale))',
    from: ['maintenance'],
    samples: ({ maintenance }) => [[{}, (maintenance?.reconciledAt ?? 0) / 1000]],
  },
  {
    name: 'videogen_payments_reconciled_timestamp_seconds',
    help: 'When payments were last compared with the records of the provider, in Unix seconds; 0 when never; none without Stripe',
    process: 'API',
    actWhen: 'more than 3 hours ago ([runbook](runbooks.md#videogenpaymentsnotreconciled))',
    from: ['payments'],
    samples: ({ payments }) => [[{}, (payments?.reconciledAt ?? 0) / 1000]],
  },
  {
    name: 'videogen_ungranted_payments',
    help: 'Payments for credits that were not granted; alert unless 0',
    process: 'API',
    actWhen: 'above 0 ([runbook](runbooks.md#videogenpaymentnotgranted))',
    from: ['maintenance'],
    samples: ({ maintenance }) => [[{}, maintenance?.ungrantedPayments ?? 0]],
  },
  {
    name: 'videogen_ledger_violations',
    help: 'Violations of ledger rules that are not corrected; alert unless 0',
    process: 'API',
    actWhen: 'above 0 ([runbook](runbooks.md#videogenledgerviolation))',
    from: ['maintenance'],
    samples: ({ maintenance }) => [[{}, maintenance?.violations ?? 0]],
  },
  {
    name: 'videogen_stuck_tasks',
    help: 'Unfinished tasks whose workflow code fails; roll back the release before they are refunded',
    process: 'API',
    actWhen: 'above 0: roll back ([runbook](runbooks.md#videogenstucktasks))',
    from: ['stuck'],
    samples: ({ stuck }) => [[{}, stuck?.tasks ?? 0]],
  },
  {
    name: 'videogen_tasks',
    help: 'Unfinished tasks',
    labels: ['state', 'model'],
    process: 'API',
    from: ['queues'],
    samples: ({ queues }) => ofTasks(queues).map(({ state, model, tasks }) => [{ state, model }, tasks]),
  },
  ofQueues(
    'videogen_queue_depth',
    'Waiting for a worker: in the queue tasks for its workflow, in callbacks for an attempt that is due',
    'grows for hours: there are too few workers or slots',
    { ofTasks: ({ tasks }) => tasks, ofCallbacks: ({ due }) => due },
  ),
  ofQueues(
    'videogen_queue_oldest_age_seconds',
    'How long the oldest of them has waited, since its task was accepted or its callback was due; 0 when none waits',
    'above 900 ([runbook](runbooks.md#videogenqueueold)); for `callbacks`, above 300 ([runbook](runbooks.md#videogencallbackslate))',
    { ofTasks: ({ oldestMs }) => oldestMs / 1000, ofCallbacks: ({ oldestDueMs }) => oldestDueMs / 1000 },
  ),
  {
    name: 'videogen_callbacks_pending',
    help: 'Callbacks that are still to be delivered, including those in a pause of the schedule',
    process: 'API',
    actWhen: 'grows for hours: receivers fail, or there are too few workers',
    from: ['callbacks'],
    samples: ({ callbacks }) => [[{}, callbacks?.pending ?? 0]],
  },
  ofPools(
    'videogen_provider_slots',
    'Jobs that the catalogue allows at the same time',
    'tasks wait, and your contract with the provider allows more',
    ({ limit }) => limit ?? 0,
  ),
  ofPools(
    'videogen_provider_slots_taken',
    'Jobs that run, or may run because their response was lost',
    'equals the slots while tasks wait',
    ({ occupying }) => occupying,
  ),
  ofPools(
    'videogen_provider_tasks_waiting',
    'Tasks that wait for a slot',
    'grows while the longest wait grows',
    ({ waiting }) => waiting,
  ),
  ofPools(
    'videogen_provider_longest_wait_seconds',
    'Seconds that the oldest task without a slot has waited',
    'above 900 for 5 minutes ([runbook](runbooks.md#videogenproviderfull))',
    ({ oldestWaitMs }) => (oldestWaitMs ?? 0) / 1000,
  ),
  ofPools(
    'videogen_provider_cooldown_seconds',
    'Seconds until it receives tasks again after failures',
    'above 0 for 15 of 30 minutes ([runbook](runbooks.md#videogenprovidercooling))',
    ({ coolingMs }) => (coolingMs ?? 0) / 1000,
  ),
  {
    name: 'videogen_provider_switch',
    help: '1 for the state that the operator set, 0 for the others',
    labels: ['provider', 'state'],
    process: 'API',
    actWhen: '`draining` or `off` is 1 for a day ([runbook](runbooks.md#videogenproviderswitchedoff))',
    from: ['providers'],
    samples: ({ providers = [] }) =>
      providers
        .filter(isInCatalogue)
        .flatMap(({ provider, state }) =>
          providerSwitchPositions.map((each): Sample => [{ provider, state: each }, each === state ? 1 : 0]),
        ),
  },
];

type TaskGroup = ReturnType<typeof ofTasks>[number];

/** Makes a gauge of what waits in each queue. Tasks that are being generated do not wait. */
function ofQueues(
  name: string,
  help: string,
  actWhen: string,
  valueOf: {
    readonly ofTasks: (group: TaskGroup) => number;
    readonly ofCallbacks: (backlog: CallbackBacklog) => number;
  },
): ScrapedGauge {
  const queueOf = ({ state, isRemote }: TaskGroup) =>
    state === 'waiting' ? 'tasks' : isRemote ? 'generation-remote' : 'generation';
  const samples: ScrapedGauge['samples'] = ({ queues, callbacks }) => [
    ...ofTasks(queues)
      .filter(({ state }) => state !== 'generating')
      .map((group): Sample => [{ queue: queueOf(group), model: group.model }, valueOf.ofTasks(group)]),
    [{ queue: 'callbacks', model: '' }, callbacks === undefined ? 0 : valueOf.ofCallbacks(callbacks)],
  ];
  return { name, help, labels: ['queue', 'model'], process: 'API', actWhen, from: ['queues', 'callbacks'], samples };
}

/** Every model of the catalogue has samples, even without tasks; other models are added up. */
function ofTasks(queues: Queues | undefined) {
  if (queues === undefined) return [];
  const { counts, models } = queues;
  const labelOf = ({ model }: UnfinishedCount) => (models.has(model) ? model : removedLabel);
  const known = [...models].map(([model, { isRemote }]) => ({ model, isRemote }));
  const hasRemoved = counts.some((count) => labelOf(count) === removedLabel);
  return [...known, ...(hasRemoved ? [{ model: removedLabel, isRemote: false }] : [])].flatMap(({ model, isRemote }) =>
    (['waiting', 'queuing', 'generating'] as const).map((state) => {
      const found = counts.filter((count) => labelOf(count) === model && count.state === state);
      const tasks = found.reduce((sum, count) => sum + count.tasks, 0);
      return { model, state, isRemote, tasks, oldestMs: Math.max(0, ...found.map(({ oldestMs }) => oldestMs)) };
    }),
  );
}

/** Omits providers and models that have left the catalogue, which bounds the number of series. */
function ofPools(
  name: string,
  help: string,
  actWhen: string,
  valueOf: (pool: ProviderStatus['pools'][number]) => number,
): ScrapedGauge {
  const samples: ScrapedGauge['samples'] = ({ providers = [] }) =>
    providers
      .filter(isInCatalogue)
      .flatMap(({ provider, pools }) =>
        pools
          .filter(({ limit }) => limit !== null)
          .map((pool): Sample => [{ provider, model: pool.pool.slice(provider.length + 1) }, valueOf(pool)]),
      );
  return { name, help, labels: ['provider', 'model'], process: 'API', actWhen, from: ['providers'], samples };
}

/** The preview has no origin, and no pools. */
function isInCatalogue({ origin }: ProviderStatus): boolean {
  return origin !== null;
}
