import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { warnOfRemovedProvidersOrModels } from '../../../src/catalogue/file/reload-warnings.ts';
import { recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { freeSlotAndRecordCost } from '../../../src/tasks/jobs/job-ends.ts';
import { poolStage, provider } from '../../tasks/jobs/pool-stage.ts';

type Names = Parameters<typeof warnOfRemovedProvidersOrModels>[1];
/** Only the names count. */
const named = (providers: readonly string[], models: readonly string[]) =>
  ({
    providers: new Map(providers.map((name) => [name, undefined])),
    models: new Map(models.map((name) => [name, undefined])),
  }) as unknown as Names;

const stage = poolStage();
const model = 'videogen-2.0-fast';
const warnings: object[] = [];
const log = { warn: (fields: object) => void warnings.push(fields) };
const reload = (before: Names, after: Names) => warnOfRemovedProvidersOrModels({ db: stage.db, log }, before, after);

beforeEach(async () => {
  // What the test before has left is no longer in use.
  await stage.run(`update tasks set created_at = created_at - interval '2 days'`);
  await stage.run('update provider_jobs set upstream_ended_at = now() where upstream_ended_at is null');
  warnings.length = 0;
});

/** A task whose job runs upstream. */
async function runningJob() {
  const task = await stage.newTask(await stage.newAccount());
  await stage.reserve(task, 10);
  await stage.intend(task);
  await recordCreatedJob(stage.db, { taskId: task.taskId, ordinal: 1, jobId: task.taskId });
  return { taskId: task.taskId, ordinal: 1 };
}

test('a reload warns of a dropped provider with the number of its jobs that run', async () => {
  await runningJob();
  const ended = await runningJob();
  await runningJob();
  await freeSlotAndRecordCost(stage.db, ended);
  await stage.reserve(await stage.newTask(await stage.newAccount()), 10);
  await reload(named(['other', provider], []), named(['other'], []));
  assert.deepEqual(warnings, [{ provider, jobs: 2 }]);
});

test('a reload warns of a dropped model with the number of its tasks of the last day', async () => {
  await stage.newTask(await stage.newAccount());
  const { taskId } = await stage.newTask(await stage.newAccount());
  await stage.run(`update tasks set created_at = now() - interval '25 hours' where id = $1`, [taskId]);
  await reload(named([], [model, 'other']), named([], ['other']));
  assert.deepEqual(warnings, [{ model, tasks: 1 }]);
});

test('a reload that keeps what is in use, or drops what is not, warns of nothing', async () => {
  await runningJob();
  await reload(named([provider, 'other'], [model, 'another']), named([provider], [model]));
  assert.deepEqual(warnings, []);
});

test('a reload warns of every dropped provider and every dropped model in use', async () => {
  await runningJob();
  const { taskId } = await runningJob();
  await stage.run(`update provider_jobs set provider = 'another' where task_id = $1`, [taskId]);
  await stage.run(`update tasks set model = 'videogen-2.0' where id = $1`, [taskId]);
  await reload(named([provider, 'another'], [model, 'videogen-2.0']), named([], []));
  assert.deepEqual(warnings, [
    { provider: 'another', jobs: 1 },
    { provider, jobs: 1 },
    { model: 'videogen-2.0', tasks: 1 },
    { model, tasks: 1 },
  ]);
});
