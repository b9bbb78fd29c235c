import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { listActions } from '../../src/operators/operator-actions.ts';
import { auditLedger } from '../../src/credits/ledger-audit.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { videogen } from '../support/videogen.ts';

let environment: TestEnvironment;
let accountId: string;
let taskId: string;
before(async () => {
  environment = await createTestEnvironment();
  const { db } = environment.database;
  accountId = await createAccount(db, { name: 'Studio', credits: 1000 });
  await createAccount(db, { name: 'other', credits: 7 });
  taskId = await acceptTestTask(db, accountId, taskParam('a paper boat'));
});
after(async () => {
  assert.deepEqual(await auditLedger(environment.database.db), []);
  await environment.close();
});

async function json(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await videogen({ ...environment.environment }, ...args, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function text(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await videogen({ ...environment.environment }, ...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

test('an operator who lost a key finds the account, and creates another key', async () => {
  const { accounts } = await json('account', 'list');
  const names = (accounts as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(names, ['other', 'Studio']);
  assert.match(
    await text('account', 'list', '--prefix', 'stu'),
    new RegExp(`^ACCOUNT +STATE +CREDITS +UNFINISHED +NAME\n${accountId}  active +\\d+ +1 +Studio\n$`),
  );
  const { key } = await json('key', 'create', '--account', 'Studio');
  assert.match(String(key), /^vg_/);
});

test('tasks are listed by account and state, cancelled with their refund, and the balance shows it', async () => {
  const { tasks } = await json('task', 'list', '--account', accountId, '--state', 'waiting');
  assert.deepEqual(
    (tasks as { taskId: string }[]).map((task) => task.taskId),
    [taskId],
  );
  const listed = await text('task', 'list');
  assert.match(listed, /^TASK +CREATED +STATE +MODEL +COST +ACCOUNT +PROMPT\n/);
  assert.match(listed, new RegExp(`\n${taskId}  .*  waiting  .*  132   ${accountId}  a paper boat\n$`));
  const cancelled = await json('task', 'cancel', taskId, '--reason', 'a slip');
  assert.deepEqual([cancelled['changed'], cancelled['state'], cancelled['failCode']], [true, 'fail', 'cancelled']);
  assert.match(await text('task', 'list'), new RegExp(`Z  cancelled  .*  0     ${accountId}  a paper boat\n$`));
  const job = {
    name: 'insert-declined-job',
    text: `insert into provider_jobs (task_id, ordinal, provider, intended_at, ended_at, outcome, detail)
values ($1, 1, 'gpu', now(), now(), 'not_created', 'HTTP 503: no GPU is free')`,
  };
  await environment.database.db.run(job, [taskId]);
  const shown = await text('task', 'show', taskId);
  assert.match(shown, /^Job 1: HTTP 503: no GPU is free$/m);
  assert.match(shown, /^Cost     0 credits \(132 charged, 132 refunded\)$/m);
  assert.match(shown, /^#\d+ +refund +132 +1000 /m);
  assert.deepEqual(await json('balance', accountId), { accountId, name: 'Studio', balance: 1000 });
  assert.match(await text('balance'), /^ACCOUNT +CREDITS +NAME\n.* 7 +other\n.* 1000 +Studio\n$/);
  const again = await json('task', 'cancel', taskId);
  assert.deepEqual(
    [again['changed'], again['failCode'], again['creditsRefunded']],
    [false, 'cancelled', cancelled['creditsRefunded']],
  );
  const [action] = await listActions(environment.database.db, { accountId, limit: 1 });
  assert.deepEqual([action?.action, action?.details['reason']], ['tasks.cancel', 'a slip']);
  const unknown = await videogen({ ...environment.environment }, 'task', 'cancel', accountId);
  assert.deepEqual([unknown.code, unknown.stderr], [1, `task not found: ${accountId}\n`]);
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  assert.equal(await text('--version'), `${version}\n`);
});
