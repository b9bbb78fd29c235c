import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { Operation } from '../../src/api/core/endpoint-spec.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { createAccount } from '../../src/credits/open-account.ts';
import type { Database, NamedStatement } from '../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { type HttpService, isRequired, startHttpService } from '../support/service/http-service.ts';
import { type Browser, newBrowser, newPerson } from '../support/service/person.ts';
import { createHttpClient } from '../support/service/http-client.ts';
import { rowsOfAccount, rowsOfInstallation } from '../support/database/listed-rows.ts';

// An account with 10,000 tasks and 100,000 entries in its ledger, and as many rows of everything else that is listed: each page of
// each list is read as the console does, and PostgreSQL is asked how many rows it went through for it.

const accounts = 5_000;

let database: TestDatabase;
let client: pg.Client;
let service: HttpService;
let person: Browser;
let accountId: string;
let asked: { readonly statement: NamedStatement; readonly values: readonly unknown[] }[] = [];
before(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  accountId = await createAccount(database.db, { name: 'busy', credits: 0 });
  await client.query(rowsOfInstallation(accounts));
  await client.query(rowsOfAccount(accountId, { rows: 10_000 }));
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
