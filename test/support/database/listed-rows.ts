import { madeUpMeasures } from '../tasks/tasks.ts';

// SQL that inserts rows of everything that is listed in pages.

const param = `{"model":"videogen-2.0-fast","input":{"prompt":"a boat","resolution":"720p","duration":4,"ratio":"16:9","generateAudio":true,"imageUrls":[]}}`;
const file = 'results/00000000-0000-4000-8000-000000000000/';
const result = JSON.stringify({ ...madeUpMeasures, videoKey: `${file}video.mp4`, posterKey: `${file}poster.jpg` });

/** Accounts with an owner and prices, and one operator. */
export const rowsOfInstallation = (accounts: number) => `
insert into accounts (id, name) select gen_random_uuid(), 'account ' || n from generate_series(1, ${accounts}) n;
insert into operators (id, name, hash, hint) values (gen_random_uuid(), 'ada', sha256('a'), 'hint');
insert into prices (model, price_name, account_id, credits_per_second, credits_per_video, effective_from, created_at, who, reason)
select 'videogen-2.0', 'standard', id, 40, 0, now() - n * interval '1 hour', now() - interval '10 years', 'operator', 'a reason'
from accounts cross join generate_series(1, 2) n;
insert into users (id, email, is_operator) select gen_random_uuid(), 'guest-' || n || '@example.com', false
from generate_series(1, ${accounts}) n;
insert into memberships (account_id, user_id, role)
select a.id, u.id, 'owner' from (select id, row_number() over () as n from accounts) a
join (select id, row_number() over () as n from users) u using (n);`;

/** Ten entries in the ledger for each of the other rows. A tenth of the tasks is generating, a tenth failed. */
export const rowsOfAccount = (accountId: string, { rows }: { readonly rows: number }) => `
insert into tasks (id, account_id, model, price_name, param, state, credits_charged, credits_refunded, fail_code, fail_msg, result,
  request_sha256, deadline_ms, created_at, generation_started_at, completed_at, media_deleted_at, callback_url)
select gen_random_uuid(), '${accountId}', 'videogen-2.0-fast', 'standard', '${param}', s.state, 132,
  case s.state when 'fail' then 132 else 0 end, case s.state when 'fail' then 'internal' end,
  case s.state when 'fail' then 'It failed.' end, case s.state when 'success' then '${result}'::json end,
  sha256(n::text::bytea), 1800000, now() - n * interval '1 minute', now() - n * interval '1 minute',
  case when s.state <> 'generating' then now() - n * interval '1 minute' end,
  case when n > ${rows / 2} and s.state <> 'generating' then now() end, 'http://127.0.0.1/'
from generate_series(1, ${rows}) n
cross join lateral (select case n % 10 when 0 then 'generating' when 1 then 'fail' else 'success' end as state) s;
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, id, 'charge', -132, 0 from tasks where account_id = '${accountId}';
insert into ledger_entries (account_id, kind, amount, balance_after)
select '${accountId}', 'grant', 132, 132 from generate_series(1, ${rows * 9});
insert into callback_deliveries (id, task_id, account_id, url, state, finished_at)
select id, id, account_id, 'http://127.0.0.1/', case state when 'fail' then 'failed' else 'delivered' end, completed_at
from tasks where account_id = '${accountId}' and state <> 'generating';
insert into callback_attempts (delivery_id, attempt, started_at, duration_ms, status)
select id, n, now(), 5, 500 from callback_deliveries cross join generate_series(1, 3) n where account_id = '${accountId}';
insert into callback_deliveries (task_id, account_id, event, url, state, created_at, finished_at)
select id, account_id, case state when 'fail' then 'task.failed' else 'task.succeeded' end, 'http://127.0.0.1/', 'delivered', completed_at, completed_at
from tasks where account_id = '${accountId}' and state <> 'generating';
insert into api_requests (id, account_id, ended_at, duration_ms, method, endpoint, status)
select gen_random_uuid(), '${accountId}', now() - n * interval '1 second', 5, 'GET', '/api/v1/jobs/recordInfo', 200
from generate_series(1, ${rows}) n;
insert into top_ups (id, account_id, provider, is_test, package, credits, currency, minor_units, state)
select gen_random_uuid(), '${accountId}', 'stripe', true, 'starter', 1000, 'EUR', 999, 'expired' from generate_series(1, ${rows});
insert into operator_actions (operator_id, actor, action, account_id, details)
select id, name, 'credits.grant', '${accountId}', '{}' from operators cross join generate_series(1, ${rows});
insert into security_events (kind, user_id, account_id, details)
select 'signed_in', user_id, '${accountId}', '{}' from memberships cross join generate_series(1, 2) n;`;
