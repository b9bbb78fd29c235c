import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runAndRecordAudit } from '../../../src/credits/ledger/ledger-audit.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { runAsSuperuser } from '../../support/processes/run-as-superuser.ts';
import { assertSince } from '../../support/assert-since.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { askWith, dataOf } from '../../support/service/operator-key.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const overviewOf = (key: string) => dataOf(askWith(service, key)('GET', '/api/v1/overview'));

test('200 an account that has done nothing', async () => {
  const { key } = await service.newAccount(0);
  assert.deepEqual(await overviewOf(key), {
    balance: 0,
    days: [],
    tasksByState: { waiting: 0, queuing: 0, generating: 0, success: 0, fail: 0 },
    steps: { hasKey: true, hasTask: false, hasCallback: false },
    books: { auditedTime: null, violations: 0 },
  });
});

test('200 tasks by state, the use of the week, and that the books were checked', async () => {
  await awayFromMidnight();
  const { db } = service.database;
  const { key } = await service.newAccount(1_000);
  const { json } = await service.create(key, { ...plainRequest, callBackUrl: 'http://127.0.0.1/' });
  await service.create(key, plainRequest);
  await service.create((await service.newAccount(1_000)).key, plainRequest);
  await failAndRefund(db, String(json.data['taskId']), { failCode: 'timeout', failMsg: 'It took too long.' });
  const sinceMs = Date.now();
  await runAndRecordAudit(db, 'recent');
  const { days, books, ...others } = await overviewOf(key);
  assert.deepEqual(others, {
    balance: 835,
    tasksByState: { waiting: 1, queuing: 0, generating: 0, success: 0, fail: 1 },
    steps: { hasKey: true, hasTask: true, hasCallback: true },
  });
  const sums = (days as { charged: number; refunded: number; granted: number }[]).map((day) => [
    day.charged,
    day.refunded,
    day.granted,
  ]);
  assert.deepEqual(sums, [
    [330, 165, 0],
    [0, 0, 1_000],
  ]);
  const state = await dataOf(askWith(service, key)('GET', '/api/v1/overview', { query: { days: 'false' } }));
  assert.deepEqual(state, { ...others, days: [], books }, 'the sums are left out on request');
  const { auditedTime, violations } = books as { auditedTime: number; violations: number };
  assertSince(sinceMs, auditedTime);
  assert.equal(violations, 0);
});

test('200 each state has a count of its own; ended tasks count for seven days, and today is the last of seven', async () => {
  await awayFromMidnight();
  const { accountId, key } = await service.newAccount(0);
  const stranger = await service.newAccount(0);
  const insert = (of: string, state: string, tasks: number, createdAt = 'now()', credits = 1) => `
    insert into tasks (id, account_id, model, price_name, param, state, credits_charged, credits_refunded, result, fail_code, fail_msg,
      request_sha256, deadline_ms, created_at, completed_at)
    select gen_random_uuid(), '${of}', 'm', 'standard', '{}', '${state}', ${credits}, case when '${state}' = 'fail' then ${credits} else 0 end,
      case when '${state}' = 'success' then '{}'::json end, code, code, sha256(''), 1000, ${createdAt},
      case when '${state}' in ('success', 'fail') then ${createdAt} end
    from generate_series(1, ${tasks}), lateral (select case when '${state}' = 'fail' then 'timeout' end as code) failure`;
  const states = ['waiting', 'queuing', 'generating', 'success', 'fail'];
  const weekAgo = (seconds: number) => `now() - interval '7 days' + ${seconds} * interval '1 second'`;
  const startOfDay = (daysAgo: number) => `date_trunc('day', now(), 'UTC') - interval '${daysAgo} days'`;
  await runAsSuperuser(
    service.database,
    ...states.map((state, index) => insert(accountId, state, index + 1)),
    ...states.map((state) => insert(stranger.accountId, state, 1)),
    ...['success', 'fail'].map((state) => insert(accountId, state, 7, weekAgo(-60))),
    insert(accountId, 'success', 1, startOfDay(6), 50),
    insert(accountId, 'success', 1, `${startOfDay(6)} - interval '1 second'`, 900),
    `insert into callback_deliveries (id, account_id, event, details, url)
     values (gen_random_uuid(), '${accountId}', 'balance.low', '{}', 'http://127.0.0.1/')`,
  );
  const { tasksByState, days, steps } = await overviewOf(key);
  assert.deepEqual(tasksByState, { waiting: 1, queuing: 2, generating: 3, success: 6, fail: 5 });
  assert.deepEqual(
    (days as { charged: number; tasks: number }[]).map(({ charged, tasks }) => [charged, tasks]),
    [
      [50, 1],
      [15, 15],
    ],
  );
  assert.deepEqual(steps, { hasKey: true, hasTask: true, hasCallback: false }, 'an event is no callback');
});

test('200 violations are counted for the account that they concern', async () => {
  const { db } = service.database;
  const [mine, other] = [await service.newAccount(7), await service.newAccount(7)];
  const text = `update accounts set balance = balance + 1 where id = $1`;
  await db.run({ name: 'test-break-books', text }, [mine.accountId]);
  await runAndRecordAudit(db, 'recent');
  const violationsOf = async (key: string) => ((await overviewOf(key))['books'] as { violations: number }).violations;
  assert.ok((await violationsOf(mine.key)) > 0);
  assert.equal(await violationsOf(other.key), 0);
});

test('403 without the scope', async () => {
  const { key } = await service.newAccount(0, ['tasks:read']);
  const { status, json } = await askWith(service, key)('GET', '/api/v1/overview');
  assert.deepEqual([status, json.error], [403, 'scope_missing']);
});
