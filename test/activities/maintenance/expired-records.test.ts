import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createHousekeepingStepActivity } from '../../../activities/maintenance/housekeeping.ts';
import { pageSize } from '../../../activities/maintenance/process-rows-from-cursor.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { maxLoggedRequestsOfAccount } from '../../../src/library/operations/fixed-retention-periods.ts';
import type { HousekeepingStep } from '../../../src/temporal/schedules/housekeeping-steps.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { workerParts } from '../../support/service/worker-parts.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';

const [minuteMs, dayMs] = [60_000, 86_400_000];

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  await query(`insert into users (id, email, is_operator) values (gen_random_uuid(), 'ada@example.com', true)`);
});
after(() => database.close());
beforeEach(async () => {
  accountId = await createAccount(database.db, { name: 'old', credits: 0 });
});

function query(text: string, values: readonly unknown[] = []) {
  return database.db.run<{ rows: number }>({ name: 'test-query', text, plannedAnew: true }, values);
}
const count = async (what: string) => (await query(`select count(*)::int as rows from ${what}`))[0]?.rows;

/** All retentions differ, so that each step is seen to use its own. */
const retention = { mediaMs: 4 * dayMs, securityEventsMs: 5 * dayMs, usersMs: 6 * dayMs, promptsMs: 3 * dayMs };

async function run(step: HousekeepingStep, changes: Partial<{ promptsMs: number | undefined }> = {}): Promise<void> {
  const { settings: _settings, ...parts } = workerParts(database.db, '/tmp/unused', []);
  const deps = { ...parts, retention: { ...retention, ...changes } };
  await silentActivity({ workflowId: 'housekeeping' }, () => createHousekeepingStepActivity(deps)(step));
}

type Kind = {
  readonly step: HousekeepingStep;
  /** The table, with a condition on the rows that are left. */
  readonly left: string;
  readonly ageMs: number;
  /** SQL that inserts rows of the time `at`. */
  readonly insert: string;
  readonly promptsMs?: number | undefined;
};

const hash = `sha256(gen_random_uuid()::text::bytea)`;
const finishedTask = (columns: string, values: string) => `
insert into tasks (id, account_id, model, price_name, param, credits_charged, deadline_ms, request_sha256, created_at, completed_at, ${columns})
select gen_random_uuid(), account, 'm', 'standard', '{"input":{}}', 1, 1, sha256('a'), at, at, ${values} from new_rows`;
const notice = `
insert into callback_deliveries (account_id, event, url, details, state, finished_at)
select account, 'balance.low', 'http://events.test/', '{}', 'failed', at from new_rows`;
/** An attempt at the delivery of a task, whose id begins with the time of the task. */
const attempt = `
with ids as (
  select at, account, (overlay(gen_random_uuid()::text placing
    left(hex, 8) || '-' || right(hex, 4) from 1 for 13))::uuid as id
  from new_rows cross join lateral (
    select lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as hex) times
), made as (
  insert into tasks (id, account_id, model, price_name, param, credits_charged, deadline_ms, request_sha256, created_at)
  select id, account, 'm', 'standard', '{"input":{}}', 1, 1, sha256('a'), at from ids returning id
), deliveries as (
  insert into callback_deliveries (id, account_id, task_id, url) select id, account, id, 'http://receiver.test/' from ids returning id
)
insert into callback_attempts (delivery_id, attempt, started_at, duration_ms) select id, 1, at, 1 from ids`;

const kinds: Readonly<Record<string, Kind>> = {
  'one-time links, a week after their expiry': {
    step: 'deleteExpiredLinks',
    left: 'one_time_links',
    ageMs: 7 * dayMs,
    insert: `insert into one_time_links (id, hash, purpose, email, expires_at)
      select gen_random_uuid(), ${hash}, 'reset', 'a@b.test', at from new_rows`,
  },
  'links to videos, at their expiry': {
    step: 'deleteExpiredLinks',
    left: 'share_links',
    ageMs: 0,
    insert: `
with made as (${finishedTask('state, result', `'success', '{}'`)} returning id, completed_at, account_id)
insert into share_links (id, task_id, account_id, hash, shows_account, expires_at)
select gen_random_uuid(), id, account_id, ${hash}, true, completed_at from made`,
  },
  'sessions, at their expiry': {
    step: 'deleteExpiredSessions',
    left: 'sessions',
    ageMs: 0,
    insert: `insert into sessions (id, hash, user_id, address, user_agent, expires_at)
      select gen_random_uuid(), ${hash}, (select id from users limit 1), '10.0.0.1', 'a', at from new_rows`,
  },
  'pending proofs, at their expiry': {
    step: 'deleteExpiredProofs',
    left: 'pending_proofs',
    ageMs: 0,
    insert: `insert into pending_proofs (hash, kind, details, expires_at) select ${hash}, 'oidc', '{}', at from new_rows`,
  },
  'attempts to sign in, after an hour': {
    step: 'deleteExpiredSignInTries',
    left: 'sign_in_tries',
    ageMs: 60 * minuteMs,
    insert: `insert into sign_in_tries (email_hash, address, created_at) select ${hash}, '10.0.0.1', at from new_rows`,
  },
  'attempts at creates, after a week': {
    step: 'deleteExpiredCreateAttempts',
    left: 'create_attempts',
    ageMs: 7 * dayMs,
    insert: `insert into create_attempts (attempt_id, task_id, created_at)
      select gen_random_uuid(), gen_random_uuid(), at from new_rows`,
  },
  'security events, after the retention of their setting': {
    step: 'deleteExpiredSecurityEvents',
    left: 'security_events',
    ageMs: retention.securityEventsMs,
    insert: `insert into security_events (kind, email, details, created_at)
      select 'sign_in_failed', 'a@b.test', '{}', at from new_rows`,
  },
  'events of an account, after the retention of prompts': {
    step: 'deleteExpiredAccountEvents',
    left: 'callback_deliveries where task_id is null',
    ageMs: retention.promptsMs,
    insert: notice,
  },
  'events of an account, after 90 days where prompts are stored longer': {
    step: 'deleteExpiredAccountEvents',
    left: 'callback_deliveries where task_id is null',
    ageMs: 90 * dayMs,
    insert: notice,
    promptsMs: 91 * dayMs,
  },
  'events of an account, after 90 days where prompts are stored for good': {
    step: 'deleteExpiredAccountEvents',
    left: 'callback_deliveries where task_id is null',
    ageMs: 90 * dayMs,
    insert: notice,
    promptsMs: undefined,
  },
  'attempts at callbacks, after the retention of prompts': {
    step: 'deleteExpiredAccountEvents',
    left: 'callback_attempts',
    ageMs: retention.promptsMs,
    insert: attempt,
  },
  'requests in the log, after a week': {
    step: 'deleteExpiredRequests',
    left: 'api_requests',
    ageMs: 7 * dayMs,
    insert: `insert into api_requests (id, account_id, ended_at, duration_ms, method, endpoint)
      select gen_random_uuid(), account, at, 1, 'GET', '/' from new_rows`,
  },
  'the content of tasks, after the retention of prompts': {
    step: 'deleteExpiredContent',
    left: `tasks where state = 'fail' and content_deleted_at is null`,
    ageMs: retention.promptsMs,
    insert: finishedTask('state, fail_code, fail_msg, credits_refunded', `'fail', 'internal', 'It failed.', 1`),
  },
};

for (const [records, { step, left, ageMs, insert, ...settings }] of Object.entries(kinds)) {
  test(`housekeeping deletes all pages of ${records}, and no younger ones`, async () => {
    const add = (rows: number, age: number) =>
      query(
        `with new_rows as (
          select now() - $1::float8 * interval '1 millisecond' as at, $2::uuid as account from generate_series(1, $3)
        ) ${insert.trimStart().replace(/^with /, ', ')}`,
        [age, accountId, rows],
      );
    const earlier = (await count(left)) ?? 0;
    await add(2 * pageSize + 1, ageMs + 10 * minuteMs);
    await add(2, ageMs - 10 * minuteMs);
    assert.equal(await count(left), earlier + 2 * pageSize + 3);
    await run(step, settings);
    assert.equal(await count(left), earlier + 2);
  });
}

test('the content of tasks is left where prompts are stored for good', async () => {
  await query(
    `with new_rows as (select now() - interval '10 years' as at, $1::uuid as account)
    ${finishedTask('state, fail_code, fail_msg, credits_refunded', `'fail', 'internal', 'It failed.', 1`)}`,
    [accountId],
  );
  await run('deleteExpiredContent', { promptsMs: undefined });
  assert.equal(await count(`tasks where account_id = '${accountId}' and content_deleted_at is null`), 1);
});

test('the log of an account is trimmed to its newest requests, and that of another one stays', async () => {
  const other = await createAccount(database.db, { name: 'quiet', credits: 0 });
  const text = `
insert into api_requests (id, account_id, ended_at, duration_ms, method, endpoint)
select gen_random_uuid(), $1, date_trunc('milliseconds', now()) - n * interval '1 second', n, 'GET', '/' from generate_series(1, $2) n`;
  await query(text, [accountId, maxLoggedRequestsOfAccount + pageSize + 1]);
  await query(text, [other, 3]);
  await run('deleteExpiredRequests');
  const [longest] = await query('select max(duration_ms) as rows from api_requests where account_id = $1', [accountId]);
  assert.equal(longest?.rows, maxLoggedRequestsOfAccount);
  assert.equal(await count(`api_requests where account_id = '${accountId}'`), maxLoggedRequestsOfAccount);
  assert.equal(await count(`api_requests where account_id = '${other}'`), 3);
});

test('all pages of tasks that have ended are counted as usage, each once', async () => {
  const tasks = 2_001;
  await query(
    `with new_rows as (select now() - interval '1 hour' as at, $1::uuid as account from generate_series(1, $2))
    ${finishedTask('state, result', `'success', '{}'`)}`,
    [accountId, tasks],
  );
  for (let times = 0; times < 2; times += 1) {
    await run('countUsage');
    const [sum] = await query('select sum(tasks)::int as rows from usage_days where account_id = $1', [accountId]);
    assert.equal(sum?.rows, tasks);
  }
});
