import type { CatalogueModel } from '../domain/catalogue/models.ts';
import type { DatabaseUsage } from '../stores/database.ts';
import type { CallbackBacklog, UnfinishedCount } from '../stores/installation.ts';
import { providerStates } from '../stores/provider-pools.ts';
import type { ProviderStatus } from '../stores/provider-status.ts';
import type { PartName, Sample } from './counters.ts';
import { removed } from './names.ts';

// Metrics that are read at a scrape. Adding one takes an entry in the table below, and a source where none has the value.

/** What a scrape reads; each process has some of the sources. */
export type Snapshot = {
  readonly databases: readonly (readonly [PartName, DatabaseUsage])[];
  readonly books: { readonly violations: number; readonly auditedAt: number };
  readonly stuck: { readonly tasks: number };
  readonly queues: Queues;
  readonly callbacks: CallbackBacklog;
  readonly providers: readonly ProviderStatus[];
};

type Queues = {
  readonly counts: readonly UnfinishedCount[];
  readonly models: ReadonlyMap<string, Pick<CatalogueModel, 'isRemote'>>;
};

export type Gauge = {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** The sources that it needs. Its samples stay as they were while one of them is unavailable. */
  readonly from: readonly (keyof Snapshot)[];
  readonly samples: (snapshot: Partial<Snapshot>) => readonly Sample[];
};

export const gauges: readonly Gauge[] = [
  {
    name: 'videogen_database_connections',
    help: 'Open connections of this process to the database',
    labels: ['of', 'state'],
    from: ['databases'],
    samples: ({ databases = [] }) =>
      databases.flatMap(([of, { idle, busy }]): readonly Sample[] => [
        [{ of, state: 'idle' }, idle],
        [{ of, state: 'busy' }, busy],
      ]),
  },
  {
    name: 'videogen_database_connections_limit',
    help: 'Connections that this process may open to the database',
    labels: ['of'],
    from: ['databases'],
    samples: ({ databases = [] }) => databases.map(([of, { limit }]) => [{ of }, limit]),
  },
  {
    name: 'videogen_database_callers_waiting',
    help: 'Statements of this process that wait for a connection',
    labels: ['of'],
    from: ['databases'],
    samples: ({ databases = [] }) => databases.map(([of, { waiting }]) => [{ of }, waiting]),
  },
  {
    name: 'videogen_ledger_audited_timestamp_seconds',
    help: 'When the books were last audited, in Unix seconds; 0 when never',
    from: ['books'],
    samples: ({ books }) => single(books && books.auditedAt / 1000),
  },
  {
    name: 'videogen_ledger_violations',
    help: 'Broken invariants of the books that are not corrected yet; anything but 0 is an alarm',
    from: ['books'],
    samples: ({ books }) => single(books?.violations),
  },
  {
    name: 'videogen_stuck_tasks',
    help: 'Unfinished tasks whose workflow code fails; roll back the release before they are refunded',
    from: ['stuck'],
    samples: ({ stuck }) => single(stuck?.tasks),
  },
  {
    name: 'videogen_tasks',
    help: 'Unfinished tasks',
    labels: ['state', 'model'],
    from: ['queues'],
    samples: ({ queues }) => ofTasks(queues).map(({ state, model, tasks }) => [{ state, model }, tasks]),
  },
  {
    name: 'videogen_queue_depth',
    help: 'Waiting for a worker: in the queue tasks for its workflow, in callbacks for an attempt that is due',
    labels: ['queue', 'model'],
    from: ['queues', 'callbacks'],
    samples: ({ queues, callbacks }) => [
      ...ofQueues(queues).map(({ labels, tasks }): Sample => [labels, tasks]),
      [{ queue: 'callbacks', model: '' }, callbacks?.due ?? 0],
    ],
  },
  {
    name: 'videogen_queue_oldest_age_seconds',
    help: 'How long the oldest of them has waited, since its task was accepted or its callback was due; 0 when none waits',
    labels: ['queue', 'model'],
    from: ['queues', 'callbacks'],
    samples: ({ queues, callbacks }) => [
      ...ofQueues(queues).map(({ labels, oldestMs }): Sample => [labels, oldestMs / 1000]),
      [{ queue: 'callbacks', model: '' }, (callbacks?.oldestDueMs ?? 0) / 1000],
    ],
  },
  {
    name: 'videogen_callbacks_pending',
    help: 'Callbacks that are still to be delivered, including those in a pause of the schedule',
    from: ['callbacks'],
    samples: ({ callbacks }) => single(callbacks?.pending),
  },
  {
    name: 'videogen_provider_places',
    help: 'Jobs that the catalogue allows at the same time',
    labels: ['provider', 'model'],
    from: ['providers'],
    samples: ofPools(({ limit }) => limit ?? 0),
  },
  {
    name: 'videogen_provider_places_taken',
    help: 'Jobs that run, or may run because their answer was lost',
    labels: ['provider', 'model'],
    from: ['providers'],
    samples: ofPools(({ occupying }) => occupying),
  },
  {
    name: 'videogen_provider_tasks_waiting',
    help: 'Tasks that wait for a place',
    labels: ['provider', 'model'],
    from: ['providers'],
    samples: ofPools(({ waiting }) => waiting),
  },
  {
    name: 'videogen_provider_longest_wait_seconds',
    help: 'How long the first of the tasks that wait for a place has waited',
    labels: ['provider', 'model'],
    from: ['providers'],
    samples: ofPools(({ oldestWaitMs }) => (oldestWaitMs ?? 0) / 1000),
  },
  {
    name: 'videogen_provider_cooldown_seconds',
    help: 'For how long it receives no task after its failures; 0 when it works',
    labels: ['provider', 'model'],
    from: ['providers'],
    samples: ofPools(({ coolingMs }) => (coolingMs ?? 0) / 1000),
  },
  {
    name: 'videogen_provider_switch',
    help: 'What the operator has set: 1 for the state in force, 0 for the others',
    labels: ['provider', 'state'],
    from: ['providers'],
    samples: ({ providers = [] }) =>
      providers
        .filter(isInCatalogue)
        .flatMap(({ provider, state }) =>
          providerStates.map((each): Sample => [{ provider, state: each }, each === state ? 1 : 0]),
        ),
  },
];

function single(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [[{}, value]];
}

/** Every model of the catalogue has its figures, also while it has no task; those of other models are added up. */
function ofTasks(queues: Queues | undefined) {
  if (queues === undefined) return [];
  const { counts, models } = queues;
  const labelOf = ({ model }: UnfinishedCount) => (models.has(model) ? model : removed);
  const known = [...models].map(([model, { isRemote }]) => ({ model, isRemote }));
  const hasRemoved = counts.some((count) => labelOf(count) === removed);
  return [...known, ...(hasRemoved ? [{ model: removed, isRemote: false }] : [])].flatMap(({ model, isRemote }) =>
    (['waiting', 'queuing', 'generating'] as const).map((state) => {
      const found = counts.filter((count) => labelOf(count) === model && count.state === state);
      const tasks = found.reduce((sum, count) => sum + count.tasks, 0);
      return { model, state, isRemote, tasks, oldestMs: Math.max(0, ...found.map(({ oldestMs }) => oldestMs)) };
    }),
  );
}

/** A task that is generated waits in no queue. */
function ofQueues(queues: Queues | undefined) {
  return ofTasks(queues)
    .filter(({ state }) => state !== 'generating')
    .map(({ state, isRemote, model, tasks, oldestMs }) => {
      const queue = state === 'waiting' ? 'tasks' : isRemote ? 'generation-remote' : 'generation';
      return { labels: { queue, model }, tasks, oldestMs };
    });
}

/** Providers and models that have left the catalogue are left out, which bounds the number of series. */
function ofPools(valueOf: (pool: ProviderStatus['pools'][number]) => number): Gauge['samples'] {
  return ({ providers = [] }) =>
    providers
      .filter(isInCatalogue)
      .flatMap(({ provider, pools }) =>
        pools
          .filter(({ limit }) => limit !== null)
          .map((pool): Sample => [{ provider, model: pool.pool.slice(provider.length + 1) }, valueOf(pool)]),
      );
}

/** The preview has no origin, and no pools. */
function isInCatalogue({ origin }: ProviderStatus): boolean {
  return origin !== null;
}
