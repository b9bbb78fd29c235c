import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { findLedgerViolationsByIds } from '../../../src/credits/ledger/audit-rules.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { countTasksByGroup, maxCountedTasks, type TaskCounts } from '../../../src/tasks/list/count-tasks.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import type { FailCode } from '../../../src/catalogue/tasks/fail-codes-and-outcomes.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { failedTasks } from '../../support/tasks/bulk-rows.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

// Counts, exports and bulk cancels take the tasks of one account, whatever another one has.

type Account = { readonly accountId: string; readonly key: string };

let service: HttpService;
let operator: TestOperator;
let [mine, theirs]: Account[] = [];
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
beforeEach(async () => {
  mine = await service.newAccount(10_000);
  theirs = await service.newAccount(10_000);
});
after(() => service.close());

const own = (): Account => mine ?? assert.fail();
const other = (): Account => theirs ?? assert.fail();
const newTask = ({ accountId }: Account, prompt = 'a boat') =>
  acceptTestTask(service.database.db, accountId, taskParam(prompt));
const auth = ({ key }: Account) => ({ headers: { authorization: `Bearer ${key}` } });

async function failed(account: Account, failCode: FailCode): Promise<string> {
  const taskId = await newTask(account);
  await failAndRefund(service.database.db, taskId, { failCode, failMsg: 'It ended.' });
  return taskId;
}

async function succeeded(account: Account): Promise<string> {
  const taskId = await newTask(account);
  await completeTask(service.database.db, taskId, madeUpResult);
  return taskId;
}

async function countsOf(account: Account, query = ''): Promise<Record<string, number>> {
  const { status, json } = await service.send('GET', `/api/v1/jobs/countTasks${query}`, auth(account));
  assert.equal(status, 200, json.msg);
  return countedIn(json.data['counts'] as TaskCounts);
}

/** The counts that are not zero. */
function countedIn(counts: TaskCounts): Record<string, number> {
  assert.ok(Object.values(counts).every(({ isExact }) => isExact));
  const tasks = Object.entries(counts).map(([group, count]) => [group, count.tasks] as const);
  return Object.fromEntries(tasks.filter(([, count]) => count > 0));
}

test('200 counts are those of the own account, by state and outcome, and follow each filter', async () => {
  const { db } = service.database;
  const [waiting, generating] = [await newTask(own(), 'a lighthouse'), await newTask(own())];
  await beginGenerationAttempt(db, generating);
  await succeeded(own());
  await failed(own(), 'cancelled');
  await failed(own(), 'content_rejected');
  const timedOut = await failed(own(), 'timeout');
  for (let n = 0; n < 3; n += 1) await failed(other(), 'timeout');
  const all = { waiting: 1, generating: 1, success: 1, cancelled: 1, rejected: 1, failed: 1 };
  assert.deepEqual(await countsOf(own()), all);
  assert.deepEqual(await countsOf(other()), { failed: 3 });
  assert.deepEqual(await countsOf(own(), '?search=lighthouse'), { waiting: 1 });
  assert.deepEqual(await countsOf(other(), '?search=lighthouse'), {});
  assert.deepEqual(await countsOf(own(), `?search=${timedOut.slice(-9)}`), { failed: 1 });
  assert.deepEqual(await countsOf(other(), `?search=${waiting}`), {});
  assert.deepEqual(await countsOf(own(), '?model=videogen-2.0'), {});
  assert.deepEqual(await countsOf(own(), `?createdBy=${randomUUID()}`), {});
  assert.deepEqual(await countsOf(own(), `?to=${Date.now() - 3_600_000}`), {});
  const query = { accountId: own().accountId };
  const seen = await dataOf(operator.ask('GET', '/api/admin/v1/tasks/counts', { query }));
  assert.deepEqual(countedIn((seen as { counts: TaskCounts }).counts), all);
});

test('a count that its limit cut is not exact, and old unfinished tasks are counted all the same', async () => {
  const { accountId } = own();
  await newTask(own());
  const text = `
insert into tasks (id, account_id, model, price_name, param, state, credits_charged, result, request_sha256, deadline_ms, created_at, completed_at)
select gen_random_uuid(), $1, 'videogen-2.0', 'standard', '{"input":{"prompt":"a boat"}}', 'success', 1, '{}', sha256('a'), 60000,
  now() + n * interval '1 second', now()
from generate_series(1, ${maxCountedTasks + 1}) n`;
  let counts: Partial<TaskCounts> = {};
  const rolledBack = service.database.db.transaction(async (run) => {
    await run({ name: 'test-many-tasks', text }, [accountId]);
    counts = await countTasksByGroup({ run }, { accountId });
    throw new Error('not kept');
  });
  await assert.rejects(rolledBack, /not kept/);
  const { success, waiting, failed: failures } = counts;
  assert.deepEqual(success, { tasks: maxCountedTasks + 1, isExact: false });
  assert.deepEqual(
    [waiting, failures],
    [
      { tasks: 1, isExact: true },
      { tasks: 0, isExact: true },
    ],
  );
});

test('422 a count takes no state, because it counts each, and no page', async () => {
  for (const query of ['state=waiting', 'outcome=failed', 'limit=1', 'createdBy=me']) {
    const { status, json } = await service.send('GET', `/api/v1/jobs/countTasks?${query}`, auth(own()));
    assert.deepEqual([status, json.error], [422, 'invalid_request'], query);
  }
});

test('200 parts of ids have at least four characters, from any place; fewer are words', async () => {
  const taskId = await newTask(own(), 'ab initio');
  const found = async (search: string) => {
    const { json } = await service.send('GET', `/api/v1/jobs/listTasks?search=${search}`, auth(own()));
    return (json.data['tasks'] as { taskId: string }[]).map((task) => task.taskId);
  };
  for (const part of [taskId.slice(0, 4), taskId.slice(14, 18), taskId.slice(-4), taskId])
    assert.deepEqual(await found(part), [taskId], part);
  assert.deepEqual(await found(taskId.slice(0, 3)), []);
  assert.deepEqual(await found('ab'), [taskId], 'a word of the prompt');
});

const csvLines = ({ bytes }: Answer) => bytes.toString().split('\r\n');

test('200 an export has one line for each task of the account that matches, and no formula', async () => {
  const { accountId } = own();
  const made = await createKeyUnchecked(service.database.db, {
    accountId,
    name: '=HYPERLINK("x")',
    scopes: ['tasks:write'],
  });
  assert.ok(made);
  const { json } = await service.create(made.key, { ...plainRequest, input: { prompt: '=1+1, "quoted"' } });
  const first = String(json.data['taskId']);
  const second = await failed(own(), 'timeout');
  const foreign = await newTask(other(), 'tamarisk');
  const all = await service.send('GET', '/api/v1/jobs/exportTasks', auth(own()));
  assert.equal(all.status, 200, all.bytes.toString());
  assert.match(String(all.headers['content-type']), /^text\/csv/);
  assert.equal(all.headers['content-disposition'], 'attachment; filename="tasks.csv"');
  const [head, newest, oldest, end, ...others] = csvLines(all);
  const ofInput = 'model,prompt,duration,resolution,ratio';
  const ofMoney = 'priceName,creditsCharged,creditsRefunded';
  const ofMaker = 'createdByKind,createdById,createdBy';
  assert.equal(head, `taskId,createTime,completeTime,state,failCode,${ofInput},${ofMoney},${ofMaker}`);
  assert.match(
    newest ?? '',
    new RegExp(`^${second},.*,fail,timeout,videogen-2.0-fast,a boat,4,720p,16:9,standard,132,132,,,$`),
  );
  assert.ok(oldest !== undefined && oldest.startsWith(`${first},`));
  assert.ok(oldest.includes(`,"'=1+1, ""quoted""",`), oldest);
  assert.ok(oldest.endsWith(`,165,0,key,${made.keyId},"'=HYPERLINK(""x"")"`), oldest);
  assert.deepEqual([end, others], ['', []]);
  assert.ok(!all.bytes.toString().includes(foreign));
  const failures = await service.send('GET', '/api/v1/jobs/exportTasks?outcome=failed', auth(own()));
  assert.deepEqual(csvLines(failures).slice(1), [newest, '']);
  const none = await service.send('GET', `/api/v1/jobs/exportTasks?search=${first}`, auth(other()));
  assert.deepEqual(csvLines(none).slice(1), ['']);
});

test('200 an export continues behind its first page, and an operator exports all accounts with their names', async () => {
  const tasks = await failedTasks(service.database.db, own().accountId, 1_001);
  const exported = csvLines(await service.send('GET', '/api/v1/jobs/exportTasks', auth(own())));
  assert.deepEqual(
    exported.slice(1, -1).map((line) => line.slice(0, 36)),
    tasks,
  );
  const foreign = await newTask(other());
  const query = { accountId: other().accountId };
  const answer = await operator.ask('GET', '/api/admin/v1/tasks/export', { query });
  const [head, line, ...rest] = csvLines(answer);
  assert.ok(head?.endsWith(',accountId,accountName'));
  assert.ok(line?.startsWith(foreign) && line.endsWith(`,${other().accountId},test`), line);
  assert.deepEqual(rest, ['']);
});

const cancelTasks = (account: Account, taskIds: unknown) =>
  service.send('POST', '/api/v1/jobs/cancelTasks', {
    headers: { ...auth(account).headers, 'content-type': 'application/json' },
    body: JSON.stringify({ taskIds }),
  });

test('200 a bulk cancel refunds each unfinished task once, leaves the others, and counts ids of nobody', async () => {
  const { db } = service.database;
  const [waiting, generating, done] = [await newTask(own()), await newTask(own()), await succeeded(own())];
  await beginGenerationAttempt(db, generating);
  const late = await failed(own(), 'timeout');
  const foreign = await newTask(other());
  const ids = [waiting, generating, done, late, foreign, randomUUID(), waiting];
  const { status, json } = await cancelTasks(own(), ids);
  assert.equal(status, 200, json.msg);
  const ended = { cancelled: true, state: 'fail', failCode: 'cancelled', creditsRefunded: 132 };
  assert.deepEqual(json.data, {
    tasks: [
      { taskId: waiting, ...ended },
      { taskId: generating, ...ended },
      { taskId: done, cancelled: false, state: 'success', failCode: null, creditsRefunded: 0 },
      { taskId: late, cancelled: false, state: 'fail', failCode: 'timeout', creditsRefunded: 132 },
    ],
    notFound: 2,
  });
  assert.equal((await findAccount(db, own().accountId))?.balance, 10_000 - 132);
  assert.equal((await findAccount(db, other().accountId))?.balance, 10_000 - 132);
  const stopped = () => service.stopped.map(({ taskId }) => taskId).filter((taskId) => ids.includes(taskId));
  assert.deepEqual(stopped(), [waiting, generating]);
  assert.deepEqual((await cancelTasks(own(), ids)).json.data, json.data, 'repeated');
  assert.deepEqual(stopped(), [waiting, generating]);
  const accounts = [own().accountId, other().accountId];
  assert.deepEqual(await findLedgerViolationsByIds(db, { accounts, tasks: ids }), []);
});

test('422 a bulk cancel of no tasks, of more than a hundred, or of what is no id', async () => {
  for (const taskIds of [[], Array.from({ length: 101 }, () => randomUUID()), ['x'], 'x', undefined])
    assert.equal((await cancelTasks(own(), taskIds)).status, 422);
});

test('200 operators cancel tasks of several accounts with one reason', async () => {
  const ids = [await newTask(own()), await newTask(other())];
  const body = { taskIds: [...ids, randomUUID()], reason: 'an incident' };
  const { tasks, notFound } = (await dataOf(operator.ask('POST', '/api/admin/v1/tasks/cancel-many', { body }))) as {
    tasks: { taskId: string; cancelled: boolean }[];
    notFound: number;
  };
  assert.deepEqual(
    tasks.map(({ taskId, cancelled }) => [taskId, cancelled]),
    ids.map((taskId) => [taskId, true]),
  );
  assert.equal(notFound, 1);
  const actions = await listOperatorActions(service.database.db, { limit: 2 });
  assert.deepEqual(
    actions.map(({ action, taskId, details }) => [action, taskId, details['reason']]).toReversed(),
    ids.map((taskId) => ['tasks.cancel', taskId, 'an incident']),
  );
});
