import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { defaultModels } from '../../src/domain/models.ts';
import type { Actor } from '../../src/domain/operator.ts';
import { taskStates } from '../../src/domain/task.ts';
import * as lists from '../../src/stores/account-list.ts';
import { acceptTask, acceptBatch } from '../../src/stores/accept-task.ts';
import {
  createAccountKey,
  createApiKey,
  createKeyAs,
  listApiKeys,
  revokeApiKey,
  revokeKeyAs,
  rotateAccountKey,
} from '../../src/stores/keys.ts';
import * as accounts from '../../src/stores/accounts.ts';
import { newApiKey } from '../../src/stores/key-format.ts';
import { createCallerFinder, touchKeys } from '../../src/stores/callers.ts';
import { auditNextPart, readAuditState } from '../../src/stores/ledger-audit.ts';
import * as secrets from '../../src/stores/callback-secrets.ts';
import type { Database, Statement } from '../../src/stores/database.ts';
import * as deliveries from '../../src/stores/deliveries.ts';
import {
  cancelTaskAs,
  completeTask,
  confirmCharge,
  findGeneration,
  findTask,
  listEndedAmong,
  pauseGeneration,
  refundTask,
  startGeneration,
  touchGenerations,
} from '../../src/stores/tasks.ts';
import {
  countStuckTasks,
  listDueTerminations,
  listExpiredMedia,
  listTasks,
  listUnfinishedTasks,
  markMediaDeleted,
  markStuck,
  removeTermination,
} from '../../src/stores/task-list.ts';
import { bookCreditsAs, bookCredits, listTaskEntries, readBooks } from '../../src/stores/credits.ts';
import { listActions } from '../../src/stores/operator-actions.ts';
import { listPrices, readPriceSchedules, setPriceAs, withdrawPriceAs } from '../../src/stores/prices.ts';
import * as operators from '../../src/stores/operators.ts';
import * as pools from '../../src/stores/provider-pools.ts';
import * as places from '../../src/stores/places.ts';
import { readMargin } from '../../src/stores/margin.ts';
import { keepTiers, readTiers } from '../../src/stores/task-tiers.ts';
import * as hints from '../../src/stores/hints.ts';
import * as lostCalls from '../../src/stores/lost-calls.ts';
import * as jobs from '../../src/stores/provider-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestAccount, type TestAccount } from '../support/service.ts';
import { acceptTestTask, listedPrices, madeUpResult, taskParam } from '../support/tasks.ts';

// The stores are used as the service uses them, on tables of some 10,000 rows, and PostgreSQL is asked how it would run every
// statement that comes along: once with the very values, and once for any values, as it does after five runs of one that is prepared.

/** Tables that grow with the number of tasks or of clients; the others hold one row, or faults of ours. */
const growing = ['accounts', 'api_keys', 'tasks', 'ledger_entries', 'provider_jobs', 'callback_secrets'].concat([
  'callback_deliveries',
  'callback_attempts',
  'operator_actions',
  'prices',
  'place_waits',
]);

/** Runs once in the life of an installation, on a table that is empty or about to be found not to be. */
const notPeriodic = ['create-first-account'];

type Asked = { readonly statement: Statement; readonly values: readonly unknown[] };

let database: TestDatabase;
let account: TestAccount;
let client: pg.Client;
let watched: Database;
const asked = new Map<string, Asked>();

before(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(manyRows);
  await client.query('analyze');
  account = await createTestAccount(database, 1_000_000);
  watched = watch(database.db);
});
after(async () => {
  await client.end();
  await database.close();
});

function watch(db: Database): Database {
  const note = (statement: Statement, values: readonly unknown[] = []) =>
    asked.set(statement.name, { statement, values });
  return {
    run: (statement, values) => {
      note(statement, values);
      return db.run(statement, values);
    },
    transaction: (work) =>
      db.transaction((inner) =>
        work((statement, values) => {
          note(statement, values);
          return inner(statement, values);
        }),
      ),
    close: () => db.close(),
  };
}

type Plan = { readonly 'Node Type': string; readonly 'Relation Name'?: string; readonly Plans?: readonly Plan[] };

/** A page of the audit is a tenth of these tables, and reading them whole is right then; of a table that has grown it is little. */
const smallPage = 100;

/** Growing tables that a statement reads from end to end. */
async function readWhole({ statement, values }: Asked): Promise<readonly string[]> {
  const few = values.map((value) => (Array.isArray(value) ? value.slice(0, smallPage) : value));
  const plans = [await planOf({ text: `explain (format json) ${statement.text}`, values: few })];
  if (!statement.plannedAnew && (await knowsGenericPlans()))
    plans.push(await planOf(`explain (generic_plan, format json) ${statement.text}`));
  return plans.flatMap(wholeTablesIn);
}

async function planOf(query: string | { text: string; values: unknown[] }): Promise<Plan> {
  // The one row of one column that `explain (format json)` answers.
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(query as pg.QueryConfig);
  const [row] = rows;
  assert.ok(row);
  return row['QUERY PLAN'][0].Plan;
}

async function knowsGenericPlans(): Promise<boolean> {
  const { rows } = await client.query<{ known: boolean }>(
    `select current_setting('server_version_num')::int >= 160000 as known`,
  );
  return rows[0]?.known === true;
}

function wholeTablesIn(plan: Plan): readonly string[] {
  const table = plan['Relation Name'] ?? '';
  const own = plan['Node Type'] === 'Seq Scan' && growing.includes(table) ? [table] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(wholeTablesIn)];
}

async function assertPlans(): Promise<void> {
  const whole: Record<string, readonly string[]> = {};
  for (const [name, one] of asked) {
    const tables = await readWhole(one);
    if (tables.length > 0) whole[name] = [...new Set(tables)];
  }
  assert.deepEqual(whole, {});
}

test('no statement of a request reads a growing table from end to end', async () => {
  const { accountId, key } = account;
  const taskId = await acceptTestTask(watched, accountId, taskParam('a'));
  const again = { taskId, accountId, param: taskParam('another'), listedPrices };
  await acceptTask(watched, again);
  for (const waits of [false, true]) await acceptBatch(watched, [again], { waits });
  await createCallerFinder(watched)(key, taskId);
  await findTask(watched, taskId);
  await listEndedAmong(watched, [taskId]);
  for (const state of [undefined, ...taskStates]) {
    await listTasks(watched, { accountId, state, after: taskId, limit: 50 });
    await assertPlans();
  }
  await listTasks(watched, { accountId, model: 'videogen-2.0', limit: 50 });
  await readBooks(watched, { accountId, before: undefined, limit: 50 });
  await listTaskEntries(watched, taskId);
  await accounts.findAccount(watched, accountId);
  await readPriceSchedules(watched, accountId, defaultModels);
  await readPriceSchedules(watched, undefined, defaultModels);
  await assertPlans();
});

test('a create finds its price as the first row of an index, however many prices there have been', async () => {
  const lookUps = (plan: Plan, above: string): readonly string[] => {
    const own = plan['Relation Name'] === 'prices' ? [`${plan['Node Type']} below ${above}`] : [];
    return [...own, ...(plan.Plans ?? []).flatMap((below) => lookUps(below, plan['Node Type']))];
  };
  for (const name of ['explain-task', 'accept-tasks', 'accept-tasks-of-one-account']) {
    const accept = asked.get(name);
    assert.ok(accept);
    const { text, values } = { text: `explain (format json) ${accept.statement.text}`, values: [...accept.values] };
    assert.deepEqual(lookUps(await planOf({ text, values }), ''), ['Index Scan below Limit', 'Index Scan below Limit']);
  }
});

test('no statement about keys, secrets and accounts does', async () => {
  const { accountId } = account;
  const made = await createApiKey(watched, { accountId, name: 'a', scopes: ['tasks:read'] });
  const own = await createAccountKey(watched, { accountId, name: 'a', scopes: [], expiresAt: undefined });
  assert.ok(made !== undefined && own.kind === 'made');
  await rotateAccountKey(watched, { accountId, keyId: own.apiKey.keyId, within: [], overlapSeconds: 60 });
  await revokeApiKey(watched, own.apiKey.keyId, accountId);
  await assertPlans();
  await touchKeys(watched, [made.keyId]);
  await listApiKeys(watched, accountId);
  await revokeApiKey(watched, made.keyId);
  await createCallerFinder(watched)(newApiKey());
  await secrets.createFirstCallbackSecret(watched, accountId, 'sealed');
  await secrets.listCallbackSecrets(watched, accountId);
  await secrets.showCallbackSecret(watched, accountId);
  await secrets.rotateCallbackSecret(watched, { accountId, sealed: 'sealed', overlapSeconds: 60 });
  await accounts.createAccount(watched, { name: 'new', credits: 1 });
  await accounts.setAccountLimits(watched, accountId, { maxUnfinishedTasks: 1_000, createRate: undefined });
  await bookCredits(watched, { accountId, kind: 'grant', amount: 1, reason: 'a gift' });
  await assertPlans();
});

test('no statement on the way of a task does', async () => {
  const { accountId } = account;
  const [taskId, failing] = [await newTask(accountId), await newTask(accountId)];
  await confirmCharge(watched, taskId);
  await confirmCharge(watched, taskId);
  await startGeneration(watched, taskId);
  await startGeneration(watched, taskId);
  await touchGenerations(watched, [taskId]);
  await jobs.intendProviderJob(watched, { taskId, ordinal: 1, provider: 'preview' });
  await jobs.recordProviderJob(watched, { taskId, ordinal: 1, jobId: 'job' });
  await jobs.listProviderJobs(watched, taskId);
  await jobs.endProviderJob(watched, { taskId, ordinal: 1, outcome: 'abandoned' });
  await jobs.succeedProviderJob(watched, taskId);
  await jobs.recordLateSuccess(watched, taskId);
  await jobs.settleProviderJob(watched, { taskId, ordinal: 1, outcome: 'abandoned' });
  await completeTask(watched, taskId, madeUpResult);
  await refundTask(watched, failing, { failCode: 'internal', failMsg: 'It failed.' }, { terminatesAfterMs: 0 });
  const delivery = await deliveries.findDelivery(watched, taskId);
  assert.ok(delivery);
  const attempt = { startedAt: 0, durationMs: 1, status: 500, error: undefined, responseHead: undefined };
  const verdict = { state: 'pending', dueAt: 0 } as const;
  await deliveries.recordDeliveryAttempt(watched, { delivery, attempt, verdict });
  await deliveries.listDeliveryAttempts(watched, taskId);
  await deliveries.askForRedelivery(watched, taskId);
  await assertPlans();
});

test('no statement on the way of a task to an upstream does, with thousands of tasks that wait for it', async () => {
  const { accountId } = account;
  const taskId = await newTask(accountId);
  const provider = 'busy';
  const place = { taskId, accountId, ordinal: 1, pool: 'busy/model', provider, limit: 100 };
  assert.equal((await places.reservePlace(watched, place)).kind, 'full');
  const free = { ...place, pool: 'free/model', provider: 'free' };
  const job = { ...free, jobId: 'job', configHash: 'a'.repeat(64), config: '{}' };
  const strike = { reason: 'busy', baseMs: 0, maxMs: 0, isOfProvider: false } as const;
  assert.equal((await places.reservePlace(watched, free)).kind, 'granted');
  await pools.strikePool(watched, { ...free, ...strike });
  assert.equal((await places.reservePlace(watched, free)).kind, 'granted');
  assert.ok(await jobs.intendReservedJob(watched, job));
  await pools.clearStrikes(watched, free.pool);
  await pools.holdPool(watched, { ...free, holdMs: 0 });
  await lostCalls.countRivals(watched, { ...job, intendedAt: Date.now() });
  await lostCalls.listClaimedJobs(watched, 'free', ['job']);
  await hints.recordHint(watched, { taskId, ordinal: 1 });
  assert.deepEqual(await hints.takeHints(watched, [taskId]), [{ taskId, ordinal: 1 }]);
  await jobs.recordUpstreamEnd(watched, { taskId, ordinal: 1 });
  await keepTiers(watched, taskId, []);
  await readTiers(watched, ['sha256:none']);
  await findGeneration(watched, taskId);
  await startGeneration(watched, taskId);
  await touchGenerations(watched, [taskId]);
  await pauseGeneration(watched, taskId);
  await assertPlans();
});

test('no statement of an operator does', async () => {
  const { accountId } = account;
  const { operatorId, key } = await operators.createOperator(watched, { name: 'ada' });
  const actor: Actor = { kind: 'operator', operatorId, name: 'ada', requestId: 'r' };
  await operators.findOperator(watched, key);
  await accounts.openAccountAs(watched, actor, { name: 'new', credits: 1 });
  await accounts.suspendAccountAs(watched, actor, { accountId, suspended: true, reason: 'a' });
  await accounts.suspendAccountAs(watched, actor, { accountId, suspended: false, reason: 'a' });
  await accounts.limitAccountAs(watched, actor, { accountId, maxUnfinishedTasks: 1_001 });
  await bookCreditsAs(watched, actor, { accountId, kind: 'grant', amount: 1, reason: 'a', idempotencyKey: 'a' });
  const wanted = { accountId, name: 'a', scopes: [], expiresAt: undefined };
  const made = await createKeyAs(watched, actor, wanted);
  assert.ok(made?.kind === 'made');
  await revokeKeyAs(watched, actor, made.apiKey.keyId);
  const taskId = await newTask(accountId);
  await cancelTaskAs(watched, actor, { taskId, reason: 'a' });
  await deliveries.redeliverAs(watched, actor, taskId);
  const wantedPrice = { model: 'videogen-2.0', accountId, creditsPerSecond: 40, fromMs: Date.now() + 1e6, reason: 'a' };
  const setting = await setPriceAs(watched, actor, wantedPrice);
  assert.ok(setting.kind === 'set');
  await withdrawPriceAs(watched, actor, { priceId: setting.price.priceId, reason: 'a' });
  await lists.countOfAccount(watched, accountId);
  await operators.listOperators(watched);
  await operators.revokeOperator(watched, operatorId);
  await pools.setProviderSwitchAs(watched, actor, { provider: 'busy', state: 'enabled', reason: 'a' });
  await pools.listProviderSwitches(watched);
  await pools.listPools(watched);
  await readMargin(watched, { fromMs: Date.now() - 3_600_000, toMs: Date.now(), currency: 'USD' });
  await assertPlans();
});

test('no list over all accounts does', async () => {
  const { accountId } = account;
  const taskId = await newTask(accountId);
  for (const last of [undefined, taskId]) {
    for (const state of [undefined, ...taskStates]) {
      await listTasks(watched, { state, after: last, limit: 50 });
      await assertPlans();
    }
    const cursor = last === undefined ? undefined : { finishedAtUs: 1, taskId: last };
    await deliveries.listFailedDeliveries(watched, { after: cursor, limit: 50 });
    await assertPlans();
  }
  for (const last of [undefined, accountId]) {
    for (const suspended of [undefined, true, false]) {
      await lists.listAccounts(watched, { prefix: 'account 49', suspended, after: last, limit: 50 });
      await assertPlans();
    }
  }
  for (const priceId of [undefined, 1_000]) {
    await listPrices(watched, { before: priceId, limit: 50 });
    await listPrices(watched, { accountId, model: 'videogen-2.0', before: priceId, limit: 50 });
    await assertPlans();
  }
  const operatorId = uuidv7();
  for (const filter of [{}, { accountId }, { operatorId }, { accountId, operatorId, before: 1_000 }]) {
    await listActions(watched, { ...filter, limit: 50 });
    await assertPlans();
  }
});

test('no statement of the rounds that run every minute does', async () => {
  const taskId = await newTask(account.accountId);
  const job = { taskId, ordinal: 1, provider: 'preview', jobId: undefined, isOld: false };
  for (const last of [undefined, taskId]) {
    await listUnfinishedTasks(watched, { minAgeMs: 60_000, after: last, limit: 200 });
    await deliveries.listPendingDeliveries(watched, { minAgeMs: 60_000, after: last, limit: 200 });
    await jobs.listUnsettledJobs(watched, { minAgeMs: 60_000, after: last === undefined ? last : job, limit: 200 });
    await assertPlans();
  }
  await listExpiredMedia(watched, { retentionMs: 1e9, leftoverMs: 1e8, limit: 200 });
  await markMediaDeleted(watched, taskId);
  await markStuck(watched, taskId, Date.now());
  await countStuckTasks(watched);
  await listDueTerminations(watched, 200);
  await removeTermination(watched, taskId);
  await places.sweepPlaces(watched, 200);
  await auditNextPart(watched);
  await readAuditState(watched);
  await assertPlans();
});

test('every statement of the stores has been looked at', () => {
  const sources = readdirSync('src/stores').filter((name) => name.endsWith('.ts'));
  const names = sources.flatMap((name) =>
    [...readFileSync(`src/stores/${name}`, 'utf8').matchAll(/\bname: '([a-z-]+)'/g)].map(([, statement]) => statement),
  );
  assert.ok(names.length > 40);
  assert.deepEqual(
    names.filter((name) => name !== undefined && !asked.has(name) && !notPeriodic.includes(name)),
    [],
  );
});

test('a missing index would be noticed', async () => {
  await client.query('drop index provider_jobs_unsettled, provider_jobs_in_pool');
  await assert.rejects(assertPlans(), /admit-to-pool/);
});

async function newTask(accountId: string): Promise<string> {
  return acceptTestTask(watched, accountId, taskParam(uuidv7(), {}, 'http://127.0.0.1/'));
}

const manyRows = `
insert into accounts (id, name) select gen_random_uuid(), 'account ' || n from generate_series(1, 5000) n;
insert into api_keys (id, account_id, name, hash, hint, scopes)
select gen_random_uuid(), id, 'key', sha256(id::text::bytea), 'hint', '{}' from accounts;
insert into callback_secrets (account_id, sealed) select id, 'sealed' from accounts;
insert into tasks (id, account_id, model, param, state, credits_charged, credits_refunded, fail_code, fail_msg, result,
  request_sha256, created_at, generation_started_at, completed_at, media_deleted_at, callback_url)
select gen_random_uuid(), a.id, 'videogen-2.0-fast', '{"model":"videogen-2.0-fast","input":{"prompt":"a boat"}}', s.state, 132,
  case s.state when 'fail' then 132 else 0 end, case s.state when 'fail' then 'internal' end,
  case s.state when 'fail' then 'It failed.' end, case s.state when 'success' then '{"videoKey":"v"}'::json end,
  sha256(n::text::bytea), now() - n * interval '1 minute', now() - n * interval '1 minute',
  case when s.state <> 'generating' then now() - n * interval '1 minute' end,
  case when n > 100 and s.state <> 'generating' then now() end, 'http://127.0.0.1/'
from (select id, row_number() over () as k from accounts) a
join generate_series(1, 20000) n on a.k = 1 + n % 5000
cross join lateral (select case n % 200 when 0 then 'generating' when 1 then 'fail' else 'success' end as state) s;
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, id, 'charge', -132, 0 from tasks;
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, id, 'refund', 132, 132 from tasks where state = 'fail';
insert into provider_jobs (task_id, ordinal, provider, job_id, outcome)
select id, 1, 'preview', 'job', case state when 'success' then 'success' when 'fail' then 'fail' end from tasks;
insert into provider_pools (pool, provider) values ('busy/model', 'busy');
insert into provider_jobs (task_id, ordinal, provider, pool, account_id, job_id, reserved_at, intended_at, submitted_at)
select id, 2, 'busy', 'busy/model', account_id, 'job', now(), now(), now() from tasks where state = 'generating';
insert into place_waits (task_id, pool, account_id, due_at)
select id, 'busy/model', account_id, now() + interval '1 minute' from tasks where state = 'fail';
insert into place_waits (task_id, pool, account_id, due_at)
select id, 'other/' || n % 100, account_id, now() + interval '1 minute' from (select *, row_number() over () as n from tasks) t;
insert into callback_deliveries (task_id, account_id, url, state, finished_at)
select id, account_id, 'http://127.0.0.1/', 'delivered', now() from tasks where state = 'success';
insert into callback_deliveries (task_id, account_id, url) select id, account_id, 'http://127.0.0.1/' from tasks where state = 'fail';
insert into callback_attempts (task_id, attempt, started_at, duration_ms, status)
select task_id, 1, now(), 5, 204 from callback_deliveries;
insert into operators (id, name, hash, hint) select gen_random_uuid(), 'operator ' || n, sha256(n::text::bytea), 'hint'
from generate_series(1, 20) n;
insert into operator_actions (operator_id, actor, action, account_id, details)
select o.id, o.name, 'credits.grant', a.id, '{}' from operators o cross join accounts a where a.id < '80000000-0000-0000-0000-000000000000';
insert into prices (model, account_id, credits_per_second, effective_from, created_at, who, reason)
select model, id, 40, now() - n * interval '1 hour', now() - interval '10 years', 'operator', 'a reason'
from accounts cross join generate_series(1, 2) n cross join unnest('{videogen-2.0,videogen-2.0-fast}'::text[]) model;
insert into prices (model, credits_per_second, effective_from, created_at, who, reason)
select model, 33, now() + n * interval '1 hour', now() - interval '10 years', 'operator', 'a reason'
from generate_series(-500, 500) n cross join unnest('{videogen-2.0,videogen-2.0-fast}'::text[]) model`;
