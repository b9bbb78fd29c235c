import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import type { CatalogueModel } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import type { EndedJob } from '../../../src/tasks/jobs/job-ends.ts';
import { listProviderJobs, type ProviderJob } from '../../../src/tasks/jobs/provider-jobs.ts';
import type { TaskInput } from '../../../src/catalogue/input/task-input.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { recordLog } from '../../support/log-lines.ts';
import { recordEvents, silentEvents } from '../../support/service/metric-event-sinks.ts';
import { catalogueAt, workerParts } from '../../support/service/worker-parts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { type FakeTerms, heldProvider, modelsAt, providersOf } from '../../support/tasks/fake-providers.ts';
import { createFakeUpstream, type FakeOptions, type FakeUpstream } from '../../support/tasks/fake-upstream.ts';
import { recordTransitions, unknownTransitions } from '../../support/tasks/job-transitions.ts';
import { type PlayedTask, playTask } from '../../support/tasks/play-task.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import type { RunProvider } from '../../../src/providers/provider-contract.ts';

// Generations at fake upstreams with a real database. Each test has its own providers.

export let database: TestDatabase;
export let folder: string;
export let accountId: string;
let tests = 0;
/** Called at the top of a file. Hooks at the top of this module would be those of the first file of a process alone. */
export function prepareGenerations(): void {
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'videogen-routing-'));
    accountId = await createAccount(database.db, { name: 'routed', credits: 1_000_000 });
    await recordTransitions(database.db);
  });
  beforeEach(renameProviders);
  after(async () => {
    const violations = await auditLedger(database.db);
    const unknown = await unknownTransitions(database.db);
    await rm(folder, { recursive: true });
    await database.close();
    assert.deepEqual(violations, []);
    assert.deepEqual(unknown, [], 'jobs change as job-states.ts declares');
  });
}

/** Gives the next upstreams new names, because cooldowns belong to names. */
export function renameProviders(): void {
  tests += 1;
}

export const upstreamOf = (name: string, options: FakeOptions = {}) =>
  createFakeUpstream({ name: `${name}-${tests}`, ...options });

/** A provider whose jobs live in a connection. */
export const connectedProvider = (run: RunProvider['run']): RunProvider => ({
  ...heldProvider({ onRun: () => {} }),
  name: `held-${tests}`,
  runs: 'held',
  run,
});

export type Story = {
  readonly upstreams: readonly FakeUpstream[];
  readonly terms?: FakeTerms;
  readonly limit?: number;
  readonly input?: Partial<TaskInput>;
  readonly change?: (parts: WorkerParts) => WorkerParts;
  readonly betweenAttempts?: PlayedTask['betweenAttempts'];
  readonly attempts?: number;
};

export function worldOf(
  { upstreams, terms, limit = 100, change = (parts) => parts }: Story,
  events = silentEvents,
): WorkerParts {
  const providers = providersOf(
    upstreams.map(({ provider }) => provider),
    () => terms,
  );
  const models = modelsAt(
    upstreams.map(({ provider }) => provider.name),
    { limit },
  );
  return change({ ...workerParts(database.db, folder, upstreams), providers, catalogue: catalogueAt(models), events });
}

/**
 * Runs a task to its end at these upstreams, each a tier of its own; returns the end, the outcomes of its jobs, what was counted of
 * requests, and the lines of the log. Each job must have been counted once, with its outcome and its cost.
 */
export async function played(story: Story) {
  const taskId = await acceptTestTask(database.db, accountId, taskParam('routed', story.input));
  const events = recordEvents('provider_call', 'provider_lookup', 'provider_resubmission', 'job_ended');
  const { log, lines } = recordLog();
  const world = { ...worldOf(story, events), log };
  const { betweenAttempts = noop, attempts } = story;
  await playTask({ next: () => world }, { taskId, betweenAttempts, attempts });
  const task = await findTask(database.db, taskId);
  const rows = await listProviderJobs(database.db, taskId);
  const calls = rows.map(({ provider, outcome }) => `${provider.split('-')[0]} ${outcome}`);
  const ended = ({ provider, pool, outcome, costMicros }: EndedJob | ProviderJob) => ({
    provider,
    pool,
    outcome,
    costMicros,
  });
  const counted = events.seen.flatMap((event) => (event.kind === 'job_ended' ? ended(event.job) : []));
  assert.deepEqual(counted, rows.map(ended), 'each job is counted once');
  const requests = events.seen.flatMap((event) => {
    if (event.kind === 'job_ended') return [];
    const outcome = event.kind === 'provider_resubmission' ? '' : ` ${event.outcome}`;
    return `${event.kind.replace('provider_', '')} ${event.provider.split('-')[0]}${outcome}`;
  });
  return { taskId, end: task?.failure?.failCode ?? task?.state, calls, rows, requests, lines };
}

export async function noop(): Promise<void> {}

/** Ends cooldowns, and makes lost creates old enough to be decided. */
export async function passTime(): Promise<void> {
  const run = (text: string) => database.db.run({ name: 'test-time', text, plannedAnew: true });
  await run(`update provider_pools set cooling_until = now() - interval '1 ms' where cooling_until is not null`);
  await run(`update provider_jobs set intended_at = intended_at - interval '61 s' where job_id is null`);
}

/** Gives this cost to the entries of all models. */
export function priced(cost: CatalogueModel['tiers'][number][number]['cost']) {
  return (parts: WorkerParts): WorkerParts => {
    const models = [...parts.catalogue.models().values()].map((model) => ({
      ...model,
      tiers: model.tiers.map((tier) => tier.map((entry) => ({ ...entry, ...(cost && { cost }) }))),
    }));
    return { ...parts, catalogue: catalogueAt(new Map(models.map((model) => [model.model, model]))) };
  };
}
