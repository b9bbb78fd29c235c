import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import { wireActivities, type WorkerParts } from '../../../src/run/main/wire-activities.ts';
import type { WorkflowDescription } from '../../../src/catalogue/tasks/workflow-engine.ts';
import type { FailCode } from '../../../src/catalogue/tasks/task.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { intendReservedJob, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { endProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { recordQueuing, findTask } from '../../../src/tasks/task-rows.ts';
import { jobRequest } from '../../providers/contract/job-request.ts';
import { recordEvents } from '../../support/service/metric-event-sinks.ts';
import { workerParts } from '../../support/service/worker-parts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { createFakeUpstream, type FakeUpstream } from '../../support/tasks/fake-upstream.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

// `reconcile` with a real database and a fake Temporal and upstream.

export let database: TestDatabase;
export let folder: string;
export let accountId: string;
export let upstream: FakeUpstream;
/** Calls to Temporal in the current test. */
export const calls: string[] = [];
/** What was counted in the current test. */
export const events = recordEvents(
  'task_reconciled',
  'reconcile_finding',
  'task_ended',
  'job_ended',
  'provider_lookup',
);
/** The responses of Temporal; the workflow of any other task runs. */
export const workflows = new Map<string, WorkflowDescription | Error>();

/** Called at the top of a file. Hooks at the top of this module would be those of the first file of a process alone. */
export function prepareReconciles(): void {
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'videogen-reconcile-'));
    accountId = await createAccount(database.db, { name: 'reconcile', credits: 10_000_000 });
  });
  beforeEach(async () => {
    await execute(`update accounts set max_unfinished_tasks = 100000`);
    const unfinished = await execute(`select id from tasks where state not in ('success', 'fail')`);
    for (const row of unfinished) await failAndRefund(database.db, String(row['id']), failure('internal'));
    await execute(`update provider_jobs set settled_at = now() where settled_at is null`);
    upstream = createFakeUpstream({ instant: false });
    calls.length = 0;
    events.seen.length = 0;
    workflows.clear();
  });
  after(async () => {
    const violations = await auditLedger(database.db);
    await rm(folder, { recursive: true });
    await database.close();
    assert.deepEqual(violations, []);
  });
}

export const running: WorkflowDescription = {
  status: 'running',
  codeFailure: undefined,
  pendingActivities: ['generateVideo'],
};
export const terminated: WorkflowDescription = { status: 'terminated', codeFailure: undefined, pendingActivities: [] };

/** Its code failed first, and was last retried, so many minutes ago. */
export function failing(sinceMinutes: number, retriedMinutes: number | undefined): WorkflowDescription {
  const ago = (minutes: number) => Date.now() - minutes * 60_000;
  const retriedAt = retriedMinutes === undefined ? undefined : ago(retriedMinutes);
  return { ...running, codeFailure: { since: ago(sinceMinutes), retriedAt, message: 'x is not a function' } };
}

export const failure = (failCode: FailCode) => ({ failCode, failMsg: 'A test.' });

export function worldOf(): WorkerParts {
  return {
    ...workerParts(database.db, folder, [upstream]),
    events,
    engine: {
      startTask: async ({ taskId }) => {
        calls.push(`start ${taskId}`);
        return !workflows.has(taskId);
      },
      describeTask: async (taskId) => {
        const workflow = workflows.get(taskId) ?? running;
        if (workflow instanceof Error) throw workflow;
        return workflow;
      },
      cancelWorkflow: async (taskId) => calls.push(`cancel ${taskId}`) > 0,
      terminateTask: async (taskId) => void calls.push(`terminate ${taskId}`),
      deleteTaskHistories: async (taskId) => calls.push(`forget ${taskId}`) > 0,
      startClosing: async (closing) => void calls.push(`close ${closing}`),
      startDelivery: async ({ deliveryId }) => void calls.push(`deliver ${deliveryId}`),
      wakeDelivery: async ({ deliveryId }) => void calls.push(`wake ${deliveryId}`),
    },
  };
}

export const activities = (world = worldOf()) => wireActivities(world).main;
export const run = <T>(work: () => Promise<T>) => silentActivity({ workflowId: 'reconcile' }, work);

/** Accepts a task that is old enough to be reconciled, with this workflow if one is given. */
export async function accepted(workflow?: WorkflowDescription | Error, callBackUrl?: string): Promise<string> {
  const taskId = await acceptTestTask(database.db, accountId, taskParam('reconciled', {}, callBackUrl));
  await execute(`update tasks set created_at = created_at - interval '11 s' where id = '${taskId}'`);
  if (workflow === undefined) return taskId;
  workflows.set(taskId, workflow);
  await recordQueuing(database.db, taskId);
  return taskId;
}

export async function failCodeOf(taskId: string): Promise<FailCode | undefined> {
  return (await findTask(database.db, taskId))?.failure?.failCode;
}

export function execute(text: string): Promise<readonly Record<string, unknown>[]> {
  return database.db.run({ name: 'test-execute', text, plannedAnew: true });
}

/** Creates a task that failed a while ago, whose job has no known end. */
export async function failedWithJob({ hasResponse = true } = {}): Promise<string> {
  const taskId = await accepted(terminated);
  const job = { taskId, ordinal: 1 };
  const provider = upstream.provider.name;
  const slot = { ...job, accountId, provider, pool: `${provider}/model` };
  await reserveSlot(database.db, { ...slot, limit: 100 });
  await intendReservedJob(database.db, { ...slot, configHash: 'a'.repeat(64), config: '{}' });
  const submitted = await upstream.provider.submit(
    jobRequest({ taskId, jobKey: taskId }),
    new AbortController().signal,
  );
  assert.ok(submitted.kind === 'accepted');
  if (hasResponse) await recordCreatedJob(database.db, { ...job, jobId: submitted.id });
  await failAndRefund(database.db, taskId, failure('terminated'));
  assert.deepEqual(await run(activities().settleProviderJobs), { stopped: 0, late: 0 });
  await execute(`alter table tasks disable trigger final_tasks_never_change`);
  await execute(`update tasks set completed_at = now() - interval '31 s' where id = '${taskId}'`);
  await execute(`alter table tasks enable trigger final_tasks_never_change`);
  await endProviderJob(database.db, { ...job, outcome: 'abandoned', failure: failure('timeout') });
  return taskId;
}

/** Makes the intent older, by default than a create can be on its way. */
export async function agedIntent(taskId: string, seconds = 61): Promise<void> {
  const text = `update provider_jobs set intended_at = intended_at - interval '${seconds} s' where task_id = '${taskId}'`;
  await execute(text);
}
