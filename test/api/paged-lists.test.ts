import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { endpoints } from '../../src/api/endpoints.ts';
import { createAccount } from '../../src/credits/open-account.ts';
import { rowsOfAccount, rowsOfInstallation } from '../support/database/listed-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { type HttpService, isRequired, startHttpService } from '../support/service/http-service.ts';
import { newPerson, type Person } from '../support/service/person.ts';

let database: TestDatabase;
let client: pg.Client;
let service: HttpService;
let person: Person;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  accountId = await createAccount(database.db, { name: 'own', credits: 0 });
  await client.query(rowsOfInstallation(10));
  // Half of them have a video, and a tenth a failed callback.
  await client.query(rowsOfAccount(accountId, { rows: 30 }));
  service = await startHttpService({ database });
  person = await newPerson(service, { roles: { [accountId]: 'owner' }, isOperator: true });
});
after(async () => {
  await service.close();
  await client.end();
  await database.close();
});

/** Every list with pages; one that is new is held to the same here. */
const lists = endpoints.filter(
  ({ method, scope, query }) => method === 'get' && scope !== 'none' && 'cursor' in (query?.shape ?? {}),
);
type List = (typeof lists)[number];
type Page = { readonly ids: readonly string[]; readonly next: unknown };

async function pageOf({ path, query }: List, limit: number, cursor: unknown): Promise<Page> {
  const fixed = { limit: String(limit), ...(isRequired(query, 'accountId') && { accountId }) };
  const wanted = new URLSearchParams({ ...fixed, ...(typeof cursor === 'string' && { cursor }) });
  const { status, json } = await person.ask('GET', `${path}?${wanted.toString()}`, { accountId });
  assert.equal(status, 200, json.msg);
  const items = Object.values(json.data).filter(Array.isArray).at(-1) as readonly object[]; // the list, behind what is no list of rows
  return { ids: items.map(idOf), next: json.data['nextCursor'] };
}

/** The ids that an item has, since its links change with the time. */
function idOf(item: object): string {
  const ids = Object.entries(item).filter(([name, value]) => name.endsWith('Id') && value !== null);
  assert.ok(ids.length > 0, JSON.stringify(item));
  return JSON.stringify(ids);
}

async function walk(list: List, limit: number): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = [];
  for (let cursor: unknown; cursor !== null;) {
    const { ids, next } = await pageOf(list, limit, cursor);
    assert.ok(ids.length <= limit, `${ids.length} items`);
    pages.push(ids);
    cursor = next;
  }
  return pages;
}

for (const list of lists) {
  test(`200 ${list.operationId} has every row once, in the same order, in pages of any size`, async () => {
    const whole = (await walk(list, 100)).flat();
    assert.equal(new Set(whole).size, whole.length);
    const pages = await walk(list, 2);
    assert.ok(pages.length > 1, 'more than a page');
    assert.deepEqual(pages.flat(), whole);
  });
}

test('200 rows of another account change no list of an account', async () => {
  const own = lists.filter(({ scope, query }) => scope !== 'operator' || isRequired(query, 'accountId'));
  const alone = await Promise.all(own.map((list) => walk(list, 100)));
  const other = await createAccount(database.db, { name: 'other', credits: 0 });
  await client.query(rowsOfAccount(other, { rows: 30 }));
  for (const [index, list] of own.entries()) assert.deepEqual(await walk(list, 100), alone[index], list.operationId);
  const tasks = lists.find(({ operationId }) => operationId === 'adminListTasks');
  assert.ok(tasks);
  assert.equal((await walk(tasks, 100)).flat().length, 60);
});

test('200 an export has every row once, however many pages of the database it takes', async () => {
  const long = await createAccount(database.db, { name: 'long', credits: 0 });
  await client.query(rowsOfAccount(long, { rows: 1_100 }));
  const owner = await newPerson(service, { roles: { [long]: 'owner' } });
  for (const [path, rows] of [
    ['/api/v1/jobs/exportTasks', 1_100],
    ['/api/v1/credits/export', 11_000],
  ] as const) {
    const answer = await owner.ask('GET', path, { accountId: long });
    assert.equal(answer.status, 200);
    const ids = answer.bytes
      .toString()
      .trim()
      .split('\r\n')
      .map((line) => line.split(',')[0]);
    assert.deepEqual([ids.length, new Set(ids).size], [rows + 1, rows + 1], path);
  }
});
