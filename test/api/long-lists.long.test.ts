import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { Operation } from '../../src/api/core/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { createAccount } from '../../src/credits/open-account.ts';
import type { Database, Statement } from '../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { type HttpService, isRequired, startHttpService } from '../support/service/http-service.ts';
import { type Browser, newBrowser, newPerson } from '../support/service/person.ts';
import { createHttpClient } from '../support/service/http-client.ts';
import { madeUpMeasures } from '../support/tasks/tasks.ts';

// An account with 10,000 tasks and 100,000 entries in its ledger, and as many rows of everything else that is listed: each page of
// each list is read as the console does, and PostgreSQL is asked how many rows it went through for it.

let database: TestDatabase;
let client: pg.Client;
let service: HttpService;
let person: Browser;
let accountId: string;
let asked: { readonly statement: Statement; readonly values: readonly unknown[] }[] = [];
before(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  accountId = await createAccount(database.db, { name: 'busy', credits: 0 });
  await client.query(manyRows(accountId));
  await client.query('analyze');
  const db: Database = {
    ...database.db,
    run: (statement, values = []) => {
      asked.push({ statement, values });
      return database.db.run(statement, values);
    },
  };
  service = await startHttpService({ db, database });
  const someone = await newPerson(service, { roles: { [accountId]: 'owner' }, isOperator: true });
  // Thousands of answers, which other tests hold against their description.
  person = newBrowser({ send: createHttpClient(service.url) }, someone.cookie());
});
after(async () => {
  await service.close();
  await client.end();
  await database.close();
});

type Plan = {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Plan[];
};

/** Rows of tables that the statements of one answer looked at. */
async function rowsReadFor(statements: typeof asked): Promise<number> {
  let rows = 0;
  for (const { statement, values } of statements) {
    // Those of a page only read; the session's own one writes when it was used.
    if (!/^\s*(?:select|with)\b/.test(statement.text) || /\b(?:update|insert|delete)\b/.test(statement.text)) continue;
    const text = `explain (analyze, timing off, format json) ${statement.text}`;
    // The one row of one column that `explain (format json)` answers.
    const answer = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({ text, values: [...values] });
    const [row] = answer.rows;
    assert.ok(row);
    rows += rowsOf(row['QUERY PLAN'][0].Plan);
  }
  return rows;
}

function rowsOf(plan: Plan): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = plan;
  const own = plan['Relation Name'] === undefined ? 0 : plan['Actual Rows'] + filtered + rechecked;
  return own * plan['Actual Loops'] + (plan.Plans ?? []).map(rowsOf).reduce((sum, more) => sum + more, 0);
}

/** Every list with pages; one that is new is held to the same here. */
const lists = endpoints.filter(
  ({ method, scope, query }) => method === 'get' && scope !== 'none' && 'cursor' in shapeOf(query),
);

function shapeOf(query: Operation['query']): NonNullable<Operation['query']>['shape'] {
  return query?.shape ?? {};
}

const pageSize = 100;
/** Of tables, for each row of a page, and the next one that shows that there is another page: the row, and what is looked up for it. */
const rowsPerItem = 6;

for (const { operationId, path, query } of lists) {
  test(`${operationId} reads a number of rows that depends on the page, not on the list, from its first page to its last`, async () => {
    const fixed = { limit: String(pageSize), ...(isRequired(query, 'accountId') && { accountId }) };
    let [cursor, pages, items]: [string | null | undefined, number, number] = [undefined, 0, 0];
    while (cursor !== null) {
      asked = [];
      const page = new URLSearchParams({ ...fixed, ...(cursor !== undefined && { cursor }) });
      const { status, json } = await person.ask('GET', `${path}?${page.toString()}`, { accountId });
      assert.equal(status, 200, json.msg);
      const found = Object.values(json.data).map((value) => (Array.isArray(value) ? value.length : 0));
      items += Math.max(...found);
      pages += 1;
      const next = json.data['nextCursor'];
      cursor = typeof next === 'string' || typeof next === 'number' ? String(next) : null;
      // Of long lists some pages: the first ones, and ever fewer up to the last.
      if (cursor !== null && (pages & (pages - 1)) !== 0) continue;
      const rows = await rowsReadFor(asked);
      assert.ok(rows <= (pageSize + 1) * rowsPerItem, `page ${pages}: ${rows} rows`);
      assert.ok(pages > 1 || rows >= pageSize, 'what the statements read was seen');
    }
    assert.ok(items >= (path.endsWith('/credits') ? 100_000 : 1_000), `${items} items`);
  });
}

const manyRows = (busy: string) => `
insert into accounts (id, name) select gen_random_uuid(), 'account ' || n from generate_series(1, 5000) n;
insert into tasks (id, account_id, model, price_name, param, state, credits_charged, credits_refunded, fail_code, fail_msg, result,
  request_sha256, deadline_ms, created_at, generation_started_at, completed_at, media_deleted_at, callback_url)
select gen_random_uuid(), '${busy}', 'videogen-2.0-fast', 'standard', '{"model":"videogen-2.0-fast","input":{"prompt":"a boat","resolution":"720p","duration":4,"ratio":"16:9","generateAudio":true,"imageUrls":[]}}', s.state, 132,
  case s.state when 'fail' then 132 else 0 end, case s.state when 'fail' then 'internal' end,
  case s.state when 'fail' then 'It failed.' end, case s.state when 'success' then '${JSON.stringify({ ...madeUpMeasures, videoKey: 'results/00000000-0000-4000-8000-000000000000/video.mp4', posterKey: 'results/00000000-0000-4000-8000-000000000000/poster.jpg' })}'::json end,
  sha256(n::text::bytea), 1800000, now() - n * interval '1 minute', now() - n * interval '1 minute',
  case when s.state <> 'generating' then now() - n * interval '1 minute' end,
  case when n > 5000 and s.state <> 'generating' then now() end, 'http://127.0.0.1/'
from generate_series(1, 10000) n
cross join lateral (select case n % 10 when 0 then 'generating' when 1 then 'fail' else 'success' end as state) s;
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, id, 'charge', -132, 0 from tasks;
insert into ledger_entries (account_id, kind, amount, balance_after)
select '${busy}', 'grant', 132, 132 from generate_series(1, 90000);
insert into callback_deliveries (id, task_id, account_id, url, state, finished_at)
select id, id, account_id, 'http://127.0.0.1/', case state when 'fail' then 'failed' else 'delivered' end, completed_at
from tasks where state <> 'generating';
insert into callback_attempts (delivery_id, attempt, started_at, duration_ms, status)
select id, n, now(), 5, 500 from callback_deliveries cross join generate_series(1, 3) n;
insert into callback_deliveries (task_id, account_id, event, url, state, created_at, finished_at)
select id, account_id, case state when 'fail' then 'task.failed' else 'task.succeeded' end, 'http://127.0.0.1/', 'delivered', completed_at, completed_at
from tasks where state <> 'generating';
insert into api_requests (id, account_id, ended_at, duration_ms, method, endpoint, status)
select gen_random_uuid(), '${busy}', now() - n * interval '1 second', 5, 'GET', '/api/v1/jobs/recordInfo', 200 from generate_series(1, 10000) n;
insert into top_ups (id, account_id, provider, is_test, package, credits, currency, minor_units, state)
select gen_random_uuid(), '${busy}', 'stripe', true, 'starter', 1000, 'EUR', 999, 'expired' from generate_series(1, 10000);
insert into operators (id, name, hash, hint) values (gen_random_uuid(), 'ada', sha256('a'), 'hint');
insert into operator_actions (operator_id, actor, action, account_id, details)
select id, name, 'credits.grant', '${busy}', '{}' from operators cross join generate_series(1, 10000);
insert into prices (model, price_name, account_id, credits_per_second, credits_per_video, effective_from, created_at, who, reason)
select 'videogen-2.0', 'standard', id, 40, 0, now() - n * interval '1 hour', now() - interval '10 years', 'operator', 'a reason'
from accounts cross join generate_series(1, 2) n;
insert into users (id, email, is_operator) select gen_random_uuid(), 'guest-' || n || '@example.com', false
from generate_series(1, 5000) n;
insert into memberships (account_id, user_id, role)
select a.id, u.id, 'owner' from (select id, row_number() over () as n from accounts) a
join (select id, row_number() over () as n from users) u using (n);
insert into security_events (kind, user_id, account_id, details)
select 'signed_in', user_id, '${busy}', '{}' from memberships cross join generate_series(1, 2) n;`;
