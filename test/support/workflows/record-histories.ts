import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  callbackWorkflowId,
  closingWorkflowId,
} from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { startCallbackReceiver } from '../servers/callback-receiver.ts';
import { connectEngine, createInstallation } from '../service/test-installation.ts';
import { createTestAccount, startTestWorker } from '../service/test-service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../tasks/tasks.ts';
import { waitFor } from '../wait-for.ts';

// `npm run record-histories -- NAME`: records one history of each shape that today's workflows have, as
// test/workflows/histories/NAME-<shape>.json. From the first release on, recorded files stay for as long as such a workflow may be
// running somewhere, because the replay test runs today's code against every one of them, and a change of workflow code gets a new
// NAME. Before that, a change replaces them.

const folder = 'test/workflows/histories';

const [name] = process.argv.slice(2).filter((argument) => !argument.endsWith('.js'));
if (name === undefined || !/^[\w-]+$/.test(name))
  throw new Error('say under which name: npm run record-histories -- NAME');
if ((await readdir(folder)).some((file) => file.startsWith(`${name}-`)))
  throw new Error(`${name} has been recorded already`);

const worker = await startTestWorker();
const { db } = worker.database;
const { accountId } = await createTestAccount(worker.database);
const temporal = connectEngine(worker);
const { engine } = temporal;
// A callback becomes a workflow when the task's own attempt fails.
let refusals = 0;
const receiver = await startCallbackReceiver({
  answer: ({ path }) => (path === '/later' && (refusals += 1) === 1 ? 503 : 204),
});

async function start(prompt: string, callBackUrl?: string): Promise<string> {
  const taskId = await acceptTestTask(db, accountId, taskParam(prompt, {}, callBackUrl));
  await engine.startTask({ taskId, accountId, model: 'videogen-2.0-fast' });
  return taskId;
}

async function save(shape: string, workflowId: string): Promise<void> {
  const handle = temporal.client.workflow.getHandle(workflowId);
  await handle.result();
  const file = join(folder, `${name}-${shape}.json`);
  // The paths of this machine are private, and replay does not read them.
  const json = historyToJSON(await handle.fetchHistory()).replaceAll(
    /"stackTrace": "(?:[^"\\]|\\.)*"/g,
    '"stackTrace": ""',
  );
  await writeFile(file, `${json}\n`);
  process.stdout.write(`${file}\n`);
}

async function generating(taskId: string): Promise<void> {
  await waitFor('generation', async () => ((await findTask(db, taskId))?.state === 'generating' ? true : undefined));
}

async function failGeneration(workflowId: string): Promise<void> {
  const { raw } = await temporal.client.workflow.getHandle(workflowId).describe();
  const [activityId] = raw.pendingActivities?.flatMap((activity) => activity.activityId ?? []) ?? [];
  await temporal.client.workflowService.respondActivityTaskFailedById({
    namespace: worker.settings.temporal.namespace,
    workflowId,
    activityId: activityId ?? '',
    failure: {
      message: 'broken off',
      applicationFailureInfo: { type: 'internal' },
    },
  });
}

const succeeded = await start('[[instant]] recorded', `${receiver.url}/success`);
await waitForEnd(db, succeeded);
await save('success-with-callback', succeeded);

const calledBackLater = await start('[[instant]] recorded', `${receiver.url}/later`);
await waitForEnd(db, calledBackLater);
await save('success-with-late-callback', calledBackLater);
await save('callback', callbackWorkflowId(calledBackLater));

const quiet = await start('[[instant]] recorded without callback');
await waitForEnd(db, quiet);
await save('success', quiet);

const rejected = await start('[[reject]]', `${receiver.url}/failure`);
await waitForEnd(db, rejected);
await save('fail-with-callback', rejected);

// A worker that shuts down during a generation does the same.
const brokenOff = await start('[[instant]] [[slow 5s]]');
await generating(brokenOff);
await failGeneration(brokenOff);
await waitForEnd(db, brokenOff);
await save('success-after-a-repeat', brokenOff);

const cancelled = await start('[[hang]]');
await generating(cancelled);
await temporal.client.workflow.getHandle(cancelled).cancel();
await waitForEnd(db, cancelled);
await save('cancelled', cancelled);

await closeAccountAs(db, { kind: 'command_line', name: 'recorder' }, { accountId, reason: 'recorded' });
await engine.startClosing(accountId);
await save('close-account', closingWorkflowId(accountId));

for (const [type, shape] of [
  ['reconcile', 'reconcile'],
  ['housekeeping', 'housekeeping'],
  ['audit', 'audit'],
  ['reconcilePayments', 'reconcile-payments'],
] as const) {
  const runs = temporal.client.workflow.list({
    query: `WorkflowType = '${type}' and TaskQueue = '${worker.settings.taskQueue}' and ExecutionStatus = 'Completed'`,
  });
  for await (const { workflowId } of runs) {
    await save(shape, workflowId);
    break;
  }
}

await worker.close();

// An upstream that takes one job at a time.
const remote = await createInstallation();
await remote.startWorker({ catalogue: { limit: 1 } });
const first = await remote.startGenerating();
const second = await remote.start();
const waits = { name: 'waits', text: 'select from slot_waits' };
await waitFor('it to wait', async () => ((await remote.db.run(waits)).length > 0 ? true : undefined));
await remote.upstream.whileFinishing(async () => {
  for (const taskId of [first, second]) await waitForEnd(remote.db, taskId);
});
await save('success-remote', first);
await save('waited-for-a-place', second);

await receiver.close();
await remote.close();
await temporal.close();
process.exit(0);
