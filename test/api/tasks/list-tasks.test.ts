import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createCallerAndTaskFinder } from '../../../src/tasks/find-caller-and-task.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { newMember } from '../../support/service/person.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService({ progressOf: () => Promise.resolve(40) });
});
after(() => service.close());

type Page = { readonly ids: readonly string[]; readonly next: string | undefined };

function list(key: string, query = ''): Promise<Answer> {
  return service.send('GET', `/api/v1/jobs/listTasks${query}`, { headers: { authorization: `Bearer ${key}` } });
}

async function pageOf(key: string, query = ''): Promise<Page> {
  const answer = await list(key, query);
  assert.equal(answer.status, 200, answer.bytes.toString());
  // The service holds its answers against the schema of the endpoint.
  const { tasks, nextCursor } = answer.json.data as { tasks: { taskId: string }[]; nextCursor: string | null };
  return { ids: tasks.map(({ taskId }) => taskId), next: nextCursor ?? undefined };
}

async function newTask(key: string, model: string = plainRequest.model): Promise<string> {
  const { status, json } = await service.create(key, { ...plainRequest, model });
  assert.equal(status, 200);
  return String(json.data['taskId']);
}

async function newTasks(key: string, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push(await newTask(key));
  return ids;
}

/** Every page, in order; `between` runs before each next one. */
async function walk(key: string, query: string, between: () => Promise<unknown> = async () => {}) {
  const pages: Page[] = [];
  for (let next: string | undefined = ''; next !== undefined; next = pages.at(-1)?.next) {
    pages.push(await pageOf(key, `?${query}${next === '' ? '' : `&cursor=${next}`}`));
    await between();
  }
  return pages;
}

test('200 newest first, and each record is what recordInfo answers', async () => {
  const { key } = await service.newAccount(10_000);
  const ids = await newTasks(key, 3);
  await beginGenerationAttempt(service.database.db, String(ids[1]));
  assert.deepEqual(await pageOf(key), { ids: ids.toReversed(), next: undefined });
  const { tasks } = (await list(key)).json.data as { tasks: unknown[] };
  const record = (await service.recordInfo(key, String(ids[1]))).json.data;
  const { id } = await keyOf(key);
  const createdBy = { kind: 'key', id, name: 'test' };
  assert.deepEqual(tasks[1], { ...record, createdBy, posterUrl: null, contentDeleteTime: null });
});

async function keyOf(key: string): Promise<{ id: string }> {
  const found = await createCallerAndTaskFinder(service.database.db)(key);
  assert.ok(found?.caller.by.kind === 'key');
  return { id: found.caller.by.keyId };
}

test('200 only tasks of one key, of one fail code or outcome, or with ids that begin so', async () => {
  const { accountId, key } = await service.newAccount(10_000);
  const other = await createKeyUnchecked(service.database.db, { accountId, name: 'other', scopes: ['tasks:write'] });
  assert.ok(other);
  const [first = ''] = await newTasks(key, 2);
  const theirs = await newTask(other.key);
  assert.deepEqual(await pageOf(key, `?createdBy=${other.keyId}`), { ids: [theirs], next: undefined });
  assert.deepEqual(await pageOf(key, `?createdBy=${randomUUID()}`), { ids: [], next: undefined });
  await failAndRefund(service.database.db, first, { failCode: 'timeout', failMsg: 'It took too long.' });
  assert.deepEqual(await pageOf(key, '?failCode=timeout'), { ids: [first], next: undefined });
  assert.deepEqual(await pageOf(key, '?failCode=internal'), { ids: [], next: undefined });
  await failAndRefund(service.database.db, theirs, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  assert.deepEqual((await pageOf(key, '?state=fail')).ids, [theirs, first]);
  assert.deepEqual((await pageOf(key, '?outcome=failed')).ids, [first]);
  assert.deepEqual((await pageOf(key, '?outcome=cancelled')).ids, [theirs]);
  assert.deepEqual((await pageOf(key, '?outcome=failed&failCode=cancelled')).ids, []);
  assert.deepEqual(await pageOf(key, `?search=${first}`), { ids: [first], next: undefined });
  const stranger = await service.newAccount(0);
  assert.deepEqual(await pageOf(stranger.key, `?search=${first}`), { ids: [], next: undefined });
});

test('200 a search finds any part of an id, and words of the prompt in any order and case, within the account', async () => {
  const { key } = await service.newAccount(10_000);
  const create = async (prompt: string, of = key) =>
    String((await service.create(of, { ...plainRequest, input: { prompt } })).json.data['taskId']);
  const [fog, storm] = [await create('A lighthouse in the fog'), await create("A STORM: lighthouse-keeper's café")];
  const found = async (text: string, of = key) => (await pageOf(of, `?search=${encodeURIComponent(text)}`)).ids;
  for (const part of [fog.slice(-8), fog.slice(0, 36), fog.slice(5, 30), fog.slice(-12).toUpperCase()])
    assert.ok((await found(part)).includes(fog), part);
  assert.deepEqual(await found(fog), [fog]);
  assert.deepEqual(await found('lighthouse'), [storm, fog]);
  assert.deepEqual(await found('LIGHT'), [storm, fog], 'the last word may be unfinished');
  assert.deepEqual(await found('fog lighthouse'), [fog]);
  assert.deepEqual(await found('café'), [storm]);
  assert.deepEqual(await found('light fog'), [], 'other words may not');
  for (const text of ['nothing', '!', "' | zz:*", '& !', '%', '_']) assert.deepEqual(await found(text), [], text);
  const stranger = await service.newAccount(10_000);
  for (const text of [fog, fog.slice(-8), 'lighthouse', 'fog']) assert.deepEqual(await found(text, stranger.key), []);
});

test('200 where the search of prompts is disabled, words find nothing, and ids are found', async (t) => {
  const closed = await startHttpService({ database: service.database, searchesPrompts: false });
  t.after(() => closed.close());
  const { key } = await service.newAccount(10_000);
  const taskId = await newTask(key);
  const headers = { authorization: `Bearer ${key}` };
  const idsOf = async (text: string) => {
    const { json } = await closed.send('GET', `/api/v1/jobs/listTasks?search=${text}`, { headers });
    return (json.data as { tasks: { taskId: string }[] }).tasks.map((task) => task.taskId);
  };
  assert.deepEqual([await idsOf('lighthouse'), await idsOf(taskId.slice(-8))], [[], [taskId]]);
});

test('200 a task that a person made at the console has their address', async () => {
  const { accountId, person } = await newMember(service);
  const made = await person.ask('POST', '/api/v1/jobs/createTask', { accountId, body: plainRequest });
  assert.equal(made.status, 200, made.bytes.toString());
  const query = `createdBy=${person.userId}`;
  const { json } = await person.ask('GET', `/api/v1/jobs/listTasks?${query}`, { accountId });
  const { tasks } = json.data as { tasks: { createdBy: unknown }[] };
  assert.deepEqual(
    tasks.map(({ createdBy }) => createdBy),
    [{ kind: 'person', id: person.userId, name: person.email }],
  );
});

for (const query of ['failCode=none', 'outcome=success', 'createdBy=me', 'search=', `search=${'a'.repeat(201)}`]) {
  test(`422 ${query}`, async () => {
    const { key } = await service.newAccount(0);
    const { status, json } = await list(key, `?${query}`);
    assert.deepEqual([status, json.error], [422, 'invalid_request']);
  });
}

test('200 an account without tasks has an empty list', async () => {
  const { key } = await service.newAccount(0);
  assert.deepEqual(await pageOf(key), { ids: [], next: undefined });
});

test("200 nobody sees another account's tasks, nor learns anything by using one as a cursor", async () => {
  const [mine, other] = [await service.newAccount(1000), await service.newAccount(1000)];
  const own = await newTask(mine.key);
  const theirs = await newTask(other.key);
  assert.deepEqual(await pageOf(mine.key), { ids: [own], next: undefined });
  assert.deepEqual(await pageOf(mine.key, `?cursor=${theirs}`), { ids: [], next: undefined });
  assert.deepEqual(await pageOf(mine.key, `?cursor=${randomUUID()}`), { ids: [], next: undefined });
});

test('200 while tasks are created, a walk through the pages meets every earlier one exactly once', async () => {
  const { key } = await service.newAccount(100_000);
  const ids = await newTasks(key, 11);
  const pages = await walk(key, 'limit=4', () => Promise.all([newTask(key), newTask(key)]));
  assert.deepEqual(
    pages.flatMap((page) => page.ids),
    ids.toReversed(),
  );
  assert.deepEqual(
    pages.map((page) => page.ids.length),
    [4, 4, 3],
  );
});

test('200 tasks of one and the same instant are neither skipped nor repeated', async () => {
  const { accountId, key } = await service.newAccount(100_000);
  const ids = await newTasks(key, 5);
  const text = 'update tasks set created_at = now() where account_id = $1';
  await service.database.db.run({ name: 'test-same-instant', text }, [accountId]);
  const pages = await walk(key, 'limit=2');
  assert.deepEqual(
    pages.flatMap((page) => page.ids),
    ids.toReversed(),
  );
});

test('200 a full last page has no next one', async () => {
  const { key } = await service.newAccount(10_000);
  await newTasks(key, 2);
  const pages = await walk(key, 'limit=2');
  assert.equal(pages.length, 1);
});

test('200 filters by state, each of them, and by model', async () => {
  const { key } = await service.newAccount(10_000);
  const [waiting = '', generating = '', failed = ''] = await newTasks(key, 3);
  const standard = await newTask(key, 'videogen-2.0');
  await beginGenerationAttempt(service.database.db, generating);
  await failAndRefund(service.database.db, failed, { failCode: 'timeout', failMsg: 'It took too long.' });
  for (const [query, expected] of [
    ['state=waiting', [standard, waiting]],
    ['state=queuing', []],
    ['state=generating', [generating]],
    ['state=success', []],
    ['state=fail', [failed]],
    ['model=videogen-2.0', [standard]],
    ['model=videogen-2.0&state=fail', []],
    ['model=none', []],
  ] as const) {
    assert.deepEqual([query, (await pageOf(key, `?${query}`)).ids], [query, expected]);
  }
});

test('200 the time range has its first millisecond and not its last', async () => {
  const { key } = await service.newAccount(10_000);
  const [first = '', second = ''] = await newTasks(key, 2);
  const text = `update tasks set created_at = to_timestamp($2::float8 / 1000) where id = $1`;
  for (const [id, ms] of [
    [first, 1_000],
    [second, 2_000],
  ] as const) {
    await service.database.db.run({ name: 'test-created-at', text }, [id, ms]);
  }
  for (const [query, expected] of [
    ['from=1000&to=2000', [first]],
    ['from=1001&to=2001', [second]],
    ['from=2001', []],
    ['to=1000', []],
    ['from=0', [second, first]],
  ] as const) {
    assert.deepEqual([query, (await pageOf(key, `?${query}`)).ids], [query, expected]);
  }
});

test('200 a page holds 20 tasks unless another number is asked for', async () => {
  const { key } = await service.newAccount(10_000);
  await newTasks(key, 21);
  const page = await pageOf(key);
  assert.equal(page.ids.length, 20);
  assert.equal(page.next, page.ids.at(-1));
  assert.equal((await pageOf(key, '?limit=100')).ids.length, 21);
});

for (const [query, path] of [
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['limit=x', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['state=failed', 'state'],
  ['state=fail&state=success', 'state'],
  ['from=yesterday', 'from'],
  ['from=-1', 'from'],
  ['to=99999999999999', 'to'],
  ['cursor=x', 'cursor'],
  ['cursor=', 'cursor'],
  ['model=a&model=b', 'model'],
  [`model=${'a'.repeat(101)}`, 'model'],
  ['status=fail', ''],
] as const) {
  test(`422 ?${query.slice(0, 30)}`, async () => {
    const { key } = await service.newAccount(0);
    const answer = await list(key, `?${query}`);
    assert.equal(answer.status, 422, answer.bytes.toString());
    const { errors } = answer.json.data as { errors: { path: string }[] };
    assert.deepEqual(
      errors.map((error) => error.path),
      [path],
    );
  });
}

test('422 a misspelt parameter is named, with those there are', async () => {
  const { key } = await service.newAccount(0);
  const message =
    'unknown parameter `status`; allowed: `state`, `failCode`, `outcome`, `model`, `createdBy`, `search`, `from`, `to`, `cursor`, `limit`';
  assertRefused(await list(key, '?status=fail'), 422, /^unknown parameter `status`/, {
    errors: [{ path: '', message }],
  });
});

test('401 without a key, 403 with a key that may not read tasks', async () => {
  assertRefused(await service.send('GET', '/api/v1/jobs/listTasks'), 401, /valid API key/);
  const { key } = await service.newAccount(0, ['tasks:write', 'credits:read']);
  assertRefused(await list(key), 403, /tasks:read/);
});
