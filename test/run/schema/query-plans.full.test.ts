import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { taskStates } from '../../../src/catalogue/tasks/task.ts';
import { findTaskToAnswerAttempt } from '../../../src/tasks/accept/answer-repeated-creates.ts';
import { acceptBatch } from '../../../src/tasks/accept/accept-statement.ts';
import { acceptTaskAlone } from '../../../src/tasks/accept/accept-one-task.ts';
import { createCallerAndTaskFinder } from '../../../src/tasks/find-caller-and-task.ts';
import { deleteExpiredContent, listOwedDeletions } from '../../../src/tasks/end/content-deletion-rows.ts';
import { readBalanceAndEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { findLedgerViolationsByIds } from '../../../src/credits/ledger/audit-rules.ts';
import { readCreditsOutsideTasks } from '../../../src/credits/reports/margin-and-paid-money.ts';
import { monthOf, readStatement } from '../../../src/credits/reports/account-statement.ts';
import type { Database, NamedStatement } from '../../../src/platform/database/database.ts';
import { findEventEndpoint, requestEventRedelivery } from '../../../src/tasks/callbacks/event-endpoint.ts';
import { listOwnEvents, makeFailedEventsPending } from '../../../src/tasks/callbacks/own-deliveries-and-redelivery.ts';
import { listOverdueDeliveries } from '../../../src/tasks/callbacks/deliveries.ts';
import { intendOwnMachineJob } from '../../../src/tasks/jobs/job-creates.ts';
import { listLeftoverJobs } from '../../../src/tasks/jobs/job-ends.ts';
import { reserveSlot, sweepSlots } from '../../../src/tasks/jobs/slots.ts';
import { listModelTroubles } from '../../../src/tasks/jobs/model-trouble.ts';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { countTasksByGroup } from '../../../src/tasks/list/count-tasks.ts';
import { listExpiredMedia } from '../../../src/tasks/end/expired-media-rows.ts';
import { listTasks } from '../../../src/tasks/list/task-list.ts';
import { listUnfinishedTasks } from '../../../src/tasks/list/unfinished-and-stuck-tasks.ts';
import { listDueTerminations } from '../../../src/tasks/list/workflow-terminations.ts';
import { taskEventIdSql } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import * as tasks from '../../../src/tasks/task-rows.ts';
import { listExpiredUploads } from '../../../src/media/references/upload-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { createTestAccount, type TestAccount } from '../../support/service/test-service.ts';
import { acceptTestTask, listedTerms, madeUpResult, taskParam, requestOf } from '../../support/tasks/tasks.ts';

// PostgreSQL explains the hot statements, on tables with tens of thousands of rows: once for the given values, and once for any values,
// which is what it does after five runs of a prepared statement.

/** Tables that grow with the number of tasks or clients. */
const growing = new Set(
  'accounts api_keys tasks ledger_entries provider_jobs callback_deliveries prices slot_waits uploads'.split(' '),
);

type Issued = { readonly statement: NamedStatement; readonly values: readonly unknown[] };
type Case = { readonly account: TestAccount; readonly taskId: string; readonly watched: Database };

let database: TestDatabase;
let client: pg.Client;
let hot: Case;
const issued = new Map<string, Issued>();

before(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(manyRows);
  await client.query('analyze');
  const account = await createTestAccount(database, 1_000_000);
  hot = { account, taskId: await newTask(account.accountId), watched: watch(database.db) };
});
after(async () => {
  await client.end();
  await database.close();
});

const cases: Record<string, (hot: Case) => Promise<unknown>> = {
  'create a task': async ({ watched, taskId, account: { accountId } }) => {
    const task = { taskId, accountId, ...requestOf(taskParam('another')), ...listedTerms };
    await acceptTaskAlone(watched, task);
    for (const waits of [false, true]) await acceptBatch(watched, [task], { waits });
    for (const attempt of ['merged', 'running', 1] as const)
      await findTaskToAnswerAttempt(watched, { ...task, attempt });
  },
  poll: async ({ watched, taskId, account: { key } }) => {
    await createCallerAndTaskFinder(watched)(key, taskId);
    await tasks.findTask(watched, taskId);
    await tasks.listEndedAmong(watched, [taskId]);
  },
  'run a task': async ({ watched, account: { accountId } }) => {
    const [taskId, failing] = [await newTask(accountId), await newTask(accountId)];
    await tasks.recordQueuing(watched, taskId);
    await intendOwnMachineJob(watched, { taskId, ordinal: 1, provider: 'preview' });
    await tasks.beginGenerationAttempt(watched, taskId);
    await tasks.touchGenerations(watched, [taskId]);
    await completeTask(watched, taskId, madeUpResult);
    await failAndRefund(watched, failing, { failCode: 'internal', failMsg: 'It failed.' });
  },
  events: async ({ watched, account: { accountId } }) => {
    const filter = { accountId, limit: 50, nowMs: Date.now() };
    await listOwnEvents(watched, filter);
    await listOwnEvents(watched, { ...filter, state: 'failed' });
    await listOwnEvents(watched, { ...filter, type: 'balance.low' });
    await findEventEndpoint(watched, accountId);
    await requestEventRedelivery(watched, accountId, accountId);
    await makeFailedEventsPending(watched, { accountId, sinceMs: 0, nowMs: Date.now() });
  },
  'request a slot': async ({ watched, taskId, account: { accountId } }) => {
    const request = { taskId, accountId, ordinal: 1, pool: 'busy/model', provider: 'busy', limit: 3 };
    assert.equal((await reserveSlot(watched, request)).kind, 'full');
  },
  'find troubles of models': ({ watched }) => listModelTroubles(watched, builtInCatalogue()),
  reconcile: async ({ watched, taskId }) => {
    const job = { taskId, ordinal: 1, provider: 'preview', jobId: undefined, isOld: false };
    const delivery = { taskId, deliveryId: taskId, dueAtUs: 1 };
    await listUnfinishedTasks(watched, { minAgeMs: 60_000, after: taskId, limit: 200 });
    await listOverdueDeliveries(watched, { minAgeMs: 60_000, after: delivery, limit: 200 });
    await listLeftoverJobs(watched, { minAgeMs: 60_000, after: job, limit: 200 });
    await listDueTerminations(watched, { after: { ...delivery, reason: 'a test' }, limit: 200 });
  },
  'read a statement': async ({ watched, account: { accountId } }) => {
    for (const month of ['2026-01', new Date().toISOString().slice(0, 7)])
      await readStatement(watched, { accountId, ...(monthOf(month) ?? assert.fail()) });
  },
  'read booked credits': ({ watched }) =>
    readCreditsOutsideTasks(watched, { fromMs: Date.now() - 1e9, toMs: Date.now() }),
  'audit codes and caps': ({ watched, account: { accountId } }) =>
    findLedgerViolationsByIds(watched, { accounts: [accountId], capped: [accountId] }),
  housekeeping: async ({ watched, taskId }) => {
    const task = { taskId, accountId: taskId, uploadIds: [], isLast: false, dueAtUs: 1 };
    await listExpiredMedia(watched, { retentionMs: 1e9, failedTaskMediaMs: 1e8, after: { taskId }, limit: 200 });
    await listExpiredUploads(watched, { after: { uploadId: taskId, expiresAtUs: 1 }, limit: 200 });
    await listOwedDeletions(watched, { after: task, limit: 200 });
    await deleteExpiredContent(watched, 0, 500);
    await sweepSlots(watched, 200);
  },
};

// A list is planned anew for each filter.
for (const state of [undefined, ...taskStates]) {
  for (const isFirst of [true, false]) {
    cases[`list ${state ?? 'all'} tasks, ${isFirst ? 'first' : 'next'} page`] = async ({
      watched,
      taskId,
      account,
    }) => {
      const page = { state, after: isFirst ? undefined : taskId, limit: 50 };
      await listTasks(watched, { ...page, accountId: account.accountId });
      await assertPlans();
      await listTasks(watched, page);
    };
  }
}
for (const [name, filter] of Object.entries({
  model: { model: 'videogen-2.0' },
  failure: { failCodes: ['timeout'] },
  words: { search: { taskId: undefined, idPart: undefined, words: 'boat:*' } },
  'part of an id': { search: { taskId: undefined, idPart: '4a5b', words: undefined } },
  'a whole id': { search: { taskId: uuidv7(), idPart: undefined, words: undefined } },
} as const)) {
  cases[`list tasks by ${name}`] = ({ watched, account: { accountId } }) =>
    listTasks(watched, { accountId, ...filter, limit: 50 });
  cases[`count tasks by ${name}`] = ({ watched, account: { accountId } }) =>
    countTasksByGroup(watched, { accountId, ...filter });
}
cases['count tasks'] = async ({ watched, account: { accountId } }) => {
  await countTasksByGroup(watched, { accountId });
  await assertPlans();
  await countTasksByGroup(watched, {});
};
for (const kind of [undefined, 'charge', 'refund', 'grant'] as const)
  cases[`list ${kind ?? 'all'} entries`] = ({ watched, account: { accountId } }) =>
    readBalanceAndEntries(watched, { accountId, kind, before: 1_000, limit: 50 });

for (const [name, run] of Object.entries(cases))
  test(`no growing table is scanned: ${name}`, async () => {
    await run(hot);
    await assertPlans();
  });

test('a create finds its price as the first row of an index, however many prices there have been', async () => {
  const lookUps = (plan: Plan, above: string): readonly string[] => {
    const own = plan['Relation Name'] === 'prices' ? [`${plan['Node Type']} below ${above}`] : [];
    return [...own, ...(plan.Plans ?? []).flatMap((below) => lookUps(below, plan['Node Type']))];
  };
  for (const name of ['explain-task', 'accept-tasks', 'accept-tasks-of-one-account']) {
    const accept = issued.get(name);
    assert.ok(accept);
    const { text, values } = { text: `explain (format json) ${accept.statement.text}`, values: [...accept.values] };
    assert.deepEqual(lookUps(await planOf({ text, values }), ''), ['Index Scan below Limit', 'Index Scan below Limit']);
  }
});

test('a request for a slot reads at most sixty waiting tasks for each slot of its pool, of 10,000 that wait', async () => {
  const admit = issued.get('admit-to-pool');
  assert.ok(admit);
  const values = admit.values.map((value) => pg.escapeLiteral(String(value))).join();
  for (const mode of ['force_generic_plan', 'force_custom_plan']) {
    await client.query(`begin; set local plan_cache_mode = ${mode}; prepare admit as ${admit.statement.text}`);
    const plan = await planOf(`explain (analyze, format json) execute admit(${values})`);
    await client.query('rollback; deallocate admit');
    const reads = readsOf(plan);
    assert.ok(reads.length > 0);
    assert.ok(Math.max(...reads) <= 60 * 3, reads.join());
  }
});

test('a missing index is noticed', async () => {
  await client.query('drop index provider_jobs_unsettled, provider_jobs_in_pool');
  await assert.rejects(assertPlans(), /admit-to-pool/);
});

function newTask(accountId: string): Promise<string> {
  return acceptTestTask(database.db, accountId, taskParam(uuidv7(), {}, 'http://127.0.0.1/'));
}

function watch(db: Database): Database {
  const watched = (run: Database['run']): Database['run'] => {
    return (statement, values = []) => {
      issued.set(statement.name, { statement, values });
      return run(statement, values);
    };
  };
  return { ...db, run: watched(db.run), transaction: (work) => db.transaction((run) => work(watched(run))) };
}

type Plan = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
};

async function planOf(query: string | { text: string; values: unknown[] }): Promise<Plan> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(query as pg.QueryConfig);
  const [row] = rows;
  assert.ok(row);
  return row['QUERY PLAN'][0].Plan;
}

/** Fails if a statement that was issued so far scans a growing table. */
async function assertPlans(): Promise<void> {
  const { rows } = await client.query<{ known: boolean }>(
    `select current_setting('server_version_num')::int >= 160000 as known`,
  );
  const scanned: Record<string, readonly string[]> = {};
  for (const [name, { statement, values }] of issued) {
    const plans = [await planOf({ text: `explain (format json) ${statement.text}`, values: [...values] })];
    if (statement.plannedAnew !== true && rows[0]?.known === true)
      plans.push(await planOf(`explain (generic_plan, format json) ${statement.text}`));
    const tables = plans.flatMap(scannedTables);
    if (tables.length > 0) scanned[name] = tables;
  }
  assert.deepEqual(scanned, {});
}

function scannedTables(plan: Plan): readonly string[] {
  const table = plan['Relation Name'] ?? '';
  const own = plan['Node Type'] === 'Seq Scan' && growing.has(table) ? [table] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(scannedTables)];
}

/** The numbers of waiting tasks that the parts of a plan have read. */
function readsOf(plan: Plan): readonly number[] {
  const rows = ((plan['Actual Rows'] ?? 0) + (plan['Rows Removed by Filter'] ?? 0)) * (plan['Actual Loops'] ?? 1);
  return [...(plan['Relation Name'] === 'slot_waits' ? [rows] : []), ...(plan.Plans ?? []).flatMap(readsOf)];
}

const manyRows = `
insert into accounts (id, name) select gen_random_uuid(), 'account ' || n from generate_series(1, 5000) n;
insert into api_keys (id, account_id, name, hash, hint, scopes)
select gen_random_uuid(), id, 'key', sha256(id::text::bytea), 'hint', '{}' from accounts;
insert into tasks (id, account_id, model, price_name, param, state, credits_charged, credits_refunded, fail_code, fail_msg, result,
  request_sha256, deadline_ms, created_at, generation_started_at, completed_at, media_deleted_at, callback_url)
select gen_random_uuid(), a.id, 'videogen-2.0-fast', 'standard', '{"model":"videogen-2.0-fast","input":{"prompt":"a boat"}}', s.state, 132,
  case s.state when 'fail' then 132 else 0 end, case s.state when 'fail' then 'internal' end,
  case s.state when 'fail' then 'It failed.' end, case s.state when 'success' then '{"videoKey":"v"}'::json end,
  sha256(n::text::bytea), 1800000, now() - n * interval '1 minute', now() - n * interval '1 minute',
  case when s.state <> 'generating' then now() - n * interval '1 minute' end,
  case when n > 100 and s.state <> 'generating' then now() end, 'http://127.0.0.1/'
from (select id, row_number() over () as k from accounts) a
join generate_series(1, 20000) n on a.k = 1 + n % 5000
cross join lateral (select case n % 200 when 0 then 'generating' when 1 then 'fail' else 'success' end as state) s;
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, id, 'charge', -132, 0 from tasks;
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, id, 'refund', 132, 132 from tasks where state = 'fail';
insert into provider_jobs (task_id, ordinal, provider, intended_at, job_id, outcome)
select id, 1, 'preview', now(), 'job', case state when 'success' then 'success' when 'fail' then 'fail' end from tasks;
insert into provider_pools (pool, provider) values ('busy/model', 'busy');
insert into provider_jobs (task_id, ordinal, provider, pool, account_id, job_id, reserved_at, intended_at, submitted_at)
select id, 2, 'busy', 'busy/model', account_id, 'job', now(), now(), now() from tasks where state = 'generating';
insert into slot_waits (task_id, pool, account_id, ticket, due_at)
select id, 'busy/model', account_id, row_number() over (), now() + interval '1 minute' from tasks where state <> 'generating' limit 10000;
insert into slot_waits (task_id, pool, account_id, ticket, due_at)
select id, 'other/' || n % 100, account_id, n, now() + interval '1 minute' from (select *, row_number() over () as n from tasks) t;
insert into callback_deliveries (id, task_id, account_id, url, state, finished_at)
select id, id, account_id, 'http://127.0.0.1/', 'delivered', now() from tasks where state = 'success';
insert into callback_deliveries (id, task_id, account_id, url) select id, id, account_id, 'http://127.0.0.1/' from tasks where state = 'fail';
insert into callback_deliveries (id, task_id, account_id, event, url, state, finished_at)
select ${taskEventIdSql('id')}, id, account_id, 'task.succeeded', 'http://127.0.0.1/', 'delivered', now() from tasks where state = 'success';
insert into uploads (id, account_id, file_name, bytes, expires_at)
select gen_random_uuid(), id, 'image.jpg', 1, now() + n * interval '1 hour' from accounts cross join generate_series(1, 4) n;
insert into prices (model, price_name, account_id, credits_per_second, credits_per_video, effective_from, created_at, who, reason)
select model, 'standard', id, 40, 0, now() - n * interval '1 hour', now() - interval '10 years', 'operator', 'a reason'
from accounts cross join generate_series(1, 2) n cross join unnest('{videogen-2.0,videogen-2.0-fast}'::text[]) model;
insert into prices (model, price_name, credits_per_second, credits_per_video, effective_from, created_at, who, reason)
select model, 'standard', 33, 0, now() + n * interval '1 hour', now() - interval '10 years', 'operator', 'a reason'
from generate_series(-500, 500) n cross join unnest('{videogen-2.0,videogen-2.0-fast}'::text[]) model`;
